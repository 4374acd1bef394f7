/** Locking names to what they stand for, telling what has moved since, and fetching exactly what was locked. */

import { CodedError } from "../base/errors.ts";
import { compareKeys } from "../base/key_order.ts";
import type { CallOptions } from "../drivers/catalog_store.ts";
import type { Catalog } from "./catalog.ts";
import { hashedFiles } from "./hashing.ts";
import type { LockedFile, LockedUri } from "./lock_file.ts";
import type { Target } from "./targets.ts";

/** Pins a URI, fetches it, and returns what it is now, file by file. */
export async function lockUri(catalog: Catalog, uri: string, options?: CallOptions): Promise<LockedUri> {
  const pinned = await catalog.calls.pin(await catalog.calls.target(uri), options);
  const files = await catalog.fetchAnd(pinned, async (path) => {
    const files: LockedFile[] = [];
    for await (const file of hashedFiles(path, "lock")) files.push(file);
    return files;
  }, options);
  return { uri: pinned.asked, pinned: pinned.physical, files };
}

/** What has become of a locked URI; `changed` is of stores that fix no version: the same place has other content. */
export type LockState = "same" | "moved" | "changed" | "gone";

export interface CheckedLock {
  readonly uri: string;
  readonly pinned: string;
  /** What it would be pinned to now; absent when it is gone. */
  readonly now?: string;
  readonly state: LockState;
}

/** Tells whether a URI stands for something else than when it was locked. */
export async function checkLocked(
  catalog: Catalog,
  { uri, pinned, files }: LockedUri,
  options?: CallOptions,
): Promise<CheckedLock> {
  try {
    const target = await catalog.calls.pin(await catalog.calls.target(uri), options);
    const now = target.physical;
    if (now !== pinned) return { uri, pinned, now, state: "moved" };
    if (catalog.fixesVersions(now)) return { uri, pinned, now, state: "same" };
    const differences = await catalog.fetchAnd(target, (path) => differencesOf(path, files), options);
    return { uri, pinned, now, state: differences.count === 0 ? "same" : "changed" };
  } catch (error) {
    if (error instanceof CodedError && error.kind === "not_found") return { uri, pinned, state: "gone" };
    throw error;
  }
}

/**
 * Fetches what was locked and checks every byte; returns its local path.
 *
 * Fails with `lock_mismatch` if a file differs, is missing, or is not in the lock, and with `lock_stale` if the configuration
 * leads somewhere else by now.
 */
export async function fetchLocked(
  catalog: Catalog,
  locked: LockedUri,
  options?: CallOptions,
): Promise<string> {
  const target = await catalog.calls.target(locked.uri);
  // A lock file may come with anybody's code: it may say which version, and not which thing.
  if (!catalog.isSameThing(target.physical, locked.pinned)) throw stale(locked, target);
  return await catalog.fetchAnd({ ...target, physical: locked.pinned }, async (path) => {
    const { count, first } = await differencesOf(path, locked.files);
    if (count === 0) return path;
    throw new CodedError(
      "corrupt",
      "lock_mismatch",
      `Cannot use "${locked.uri}": it is not what was locked: ${first.join(", ")}${
        count > first.length ? `, and ${count - first.length} more` : ""
      }`,
      { details: { uri: locked.uri, pinned: locked.pinned, count, files: first } },
    );
  }, options);
}

const MOST_NAMED = 10;

interface Differences {
  readonly count: number;
  /** The first ones, in words. */
  readonly first: readonly string[];
}

/** Compares the files that are there with those that were locked; both come sorted. */
async function differencesOf(path: string, locked: readonly LockedFile[]): Promise<Differences> {
  const first: string[] = [];
  let count = 0, at = 0;
  const note = ({ path }: LockedFile, what: string) => {
    if (count++ < MOST_NAMED) first.push(`${path === "" ? "it" : `"${path}"`} ${what}`);
  };
  for await (const file of hashedFiles(path, "check")) {
    for (; at < locked.length && compareKeys(locked[at]!.path, file.path) < 0; at++) {
      note(locked[at]!, "is missing");
    }
    const expected = locked[at];
    if (expected?.path !== file.path) note(file, "is not in the lock");
    else {
      at++;
      if (expected.sizeBytes !== file.sizeBytes) {
        note(file, `has ${file.sizeBytes} bytes and not ${expected.sizeBytes}`);
      } else if (expected.sha256 !== file.sha256) note(file, "has other bytes");
    }
  }
  for (; at < locked.length; at++) note(locked[at]!, "is missing");
  return { count, first };
}

function stale({ uri, pinned }: LockedUri, { physical }: Target): CodedError {
  return new CodedError(
    "conflict",
    "lock_stale",
    `Cannot use "${uri}": it leads to "${physical}" now, and was locked to "${pinned}"`,
    { details: { uri, pinned, now: physical } },
  );
}
