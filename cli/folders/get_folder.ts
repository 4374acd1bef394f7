/**
 * All objects under a prefix into a local folder, in two passes over the listing: one that checks every name, and one
 * that writes. Neither keeps the listing; what is remembered are the names in the folders of the current path.
 */

import { CodedError } from "../../base/errors.ts";
import type { ObjectStats, Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { FileProgress, type Total } from "../render/progress.ts";
import { type Failure, Failures } from "./failures.ts";
import { runInFlight } from "../../base/in_flight.ts";
import { OWN_STORAGE, type OwnFolders } from "../../base/own_folders.ts";
import { PlacementCheck } from "../../base/placement.ts";
import { OwnBelow } from "./own_below.ts";
import { TargetFolder } from "./target.ts";

export interface FolderToGet {
  readonly store: Store;
  readonly repository: string;
  readonly ref: string;
  /** Empty, or ending in `/`; what follows it is the path below `folder`. */
  readonly prefix: string;
  readonly folder: string;
  /** Leave out what is refused, instead of all. */
  readonly skipUnplaceable: boolean;
  /** Where nothing is written to. */
  readonly own: OwnFolders;
  /** What the user asked for, for messages. */
  readonly uri: string;
}

export interface FolderGot {
  readonly got: number;
  /** How many files held the bytes of their objects already, and were left as they are. */
  readonly unchanged: number;
  readonly failed: number;
  /** Of those that were got. */
  readonly sizeBytes: number;
  readonly failures: readonly Failure[];
}

/** Told of each object that is in its file; durable after the next flush of the folder. */
export type Got = (stats: ObjectStats, target: TargetFolder) => void | Promise<void>;

/** Gets all objects. Fails with `unplaceable_key` and `own_storage` before anything is written, and with `object_not_found`. */
export async function getFolder({ messages }: Context, what: FolderToGet, told?: Got): Promise<FolderGot> {
  const total = await checkAll(what);
  if (total.files === 0) {
    throw new CodedError(
      "not_found",
      "object_not_found",
      `Cannot get "${what.uri}": there is nothing under it`,
    );
  }
  const target = new TargetFolder(what.folder, what.own);
  const failures = new Failures(messages, "get");
  const progress = new FileProgress(messages, "Getting", total);
  let got = 0, unchanged = 0, sizeBytes = 0;
  await runInFlight(placeable(what, failures), async (listed) => {
    const { path } = listed;
    const key = path.slice(what.prefix.length);
    let stats: ObjectStats | undefined;
    try {
      if (await target.holds(key, listed)) {
        stats = listed;
        unchanged++;
        progress.addBytes(listed.sizeBytes);
      } else {
        const object = await what.store.read(what.repository, what.ref, path);
        const size = await target.write(key, progress.watch(object.body));
        stats = object.stats;
        got++;
        sizeBytes += size;
      }
    } catch (error) {
      failures.take(path, error);
    }
    progress.addFile();
    if (stats) await told?.(stats, target);
  });
  await target.flush();
  return { got, unchanged, failed: failures.count, sizeBytes, failures: failures.kept };
}

interface Refusal {
  readonly code: "unplaceable_key" | "own_storage";
  readonly why: string;
}

/** Says of keys, in byte order, why a file of theirs may not be written. */
class KeyCheck {
  readonly #prefix: string;
  readonly #placement = new PlacementCheck();
  readonly #own: OwnBelow;

  constructor({ prefix, own, folder }: FolderToGet) {
    this.#prefix = prefix;
    this.#own = new OwnBelow(own, folder);
  }

  refusal(path: string): Refusal | undefined {
    const key = path.slice(this.#prefix.length);
    const why = this.#placement.refusal(key);
    if (why !== undefined) return { code: "unplaceable_key", why };
    return this.#own.leadsIn(key) ? { code: "own_storage", why: OWN_STORAGE } : undefined;
  }
}

async function checkAll(what: FolderToGet): Promise<Total> {
  const check = new KeyCheck(what);
  let files = 0, bytes = 0;
  for await (const page of objects(what)) {
    for (const { path, sizeBytes } of page) {
      const refusal = check.refusal(path);
      if (refusal && !what.skipUnplaceable) throw refused(path, refusal);
      files++;
      bytes += sizeBytes;
    }
  }
  return { files, bytes };
}

/** Lists again what can be placed: a branch may have changed since the first pass, so each name is checked again. */
async function* placeable(what: FolderToGet, failures: Failures): AsyncGenerator<ObjectStats> {
  const check = new KeyCheck(what);
  for await (const page of objects(what)) {
    for (const stats of page) {
      const refusal = check.refusal(stats.path);
      if (!refusal) yield stats;
      else if (what.skipUnplaceable) failures.leaveOut(stats.path, refusal.code, refusal.why);
      else throw refused(stats.path, refusal);
    }
  }
}

async function* objects(
  { store, repository, ref, prefix }: FolderToGet,
): AsyncGenerator<readonly ObjectStats[]> {
  for await (const page of store.list(repository, ref, { prefix })) {
    yield page.flatMap((item) => item.kind === "object" ? [item.stats] : []);
  }
}

function refused(key: string, { code, why }: Refusal): CodedError {
  return new CodedError("invalid", code, `Cannot place "${key}" in a folder: ${why}`, { details: { key } });
}
