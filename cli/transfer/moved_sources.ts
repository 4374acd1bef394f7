/**
 * The sources of a move. One is taken away only when what it went to is durable, and only if it is still what was moved.
 */

import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { equalBytes } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { runInFlight } from "../../base/in_flight.ts";
import type { BranchWriter, ObjectStats, Store } from "../../drivers/store.ts";
import { ExistingObjects } from "../folders/existing.ts";
import type { Failures } from "../folders/failures.ts";
import { isSettled, type LookAtFile, sameState } from "../../base/file_state.ts";
import { compareKeys } from "../../base/key_order.ts";
import { contentHash, localError, openRegular } from "../folders/local_files.ts";
import type { Slot } from "../folders/put_index.ts";
import { flushFolder } from "../folders/target.ts";

const BATCH = 10_000;
/** Those that are deleted at the same time share what makes them durable. */
const DELETED_AT_ONCE = 256;

/** Gathers sources, so that much can be made durable at once, with memory for one batch. */
export class MovedSources<T> {
  readonly #durable: () => Promise<void>;
  readonly #remove: (sources: readonly T[]) => Promise<void>;
  #batch: T[] = [];
  #running: Promise<void> = Promise.resolve();

  /** `durable` makes durable whatever was added before it is called. */
  constructor(durable: () => Promise<void>, remove: (sources: readonly T[]) => Promise<void>) {
    this.#durable = durable;
    this.#remove = remove;
  }

  /** Takes a source that was moved. Returns a promise only where the caller has to wait. */
  add(source: T): Promise<void> | undefined {
    this.#batch.push(source);
    return this.#batch.length < BATCH ? undefined : this.#take();
  }

  /** Takes away what is left. */
  async finish(): Promise<void> {
    await this.#take();
  }

  #take(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#running = this.#running.then(async () => {
      if (batch.length === 0) return;
      await this.#durable();
      await this.#remove(batch);
    });
    return this.#running;
  }
}

export interface BranchPlace {
  readonly store: Store;
  readonly repository: string;
  readonly branch: string;
  /** What the keys of the sources begin with. */
  readonly prefix: string;
}

/**
 * Deletes objects of a branch, each if the branch still shows what was moved: that is looked at first, for all at little cost, and
 * again as each deletion is staged.
 */
export async function deleteMovedObjects(
  { store, repository, branch, prefix }: BranchPlace,
  moved: readonly ObjectStats[],
  failures: Failures,
): Promise<void> {
  const ordered = [...moved].sort((a, b) => compareKeys(a.path, b.path));
  const objects = new ExistingObjects(store, { repository, ref: branch, prefix });
  const writer = await store.writer(repository, branch);
  const leave = (path: string) => failures.leaveOut(path, "source_changed", "it changed while it was moved");
  async function* unchanged(): AsyncGenerator<ObjectStats> {
    for (const stats of ordered) {
      const now = await objects.find(stats.path);
      if (now?.physicalAddress === stats.physicalAddress) yield stats;
      else if (now) leave(stats.path);
    }
  }
  await runInFlight(unchanged(), async ({ path, checksum }) => {
    if (!await deleteIfSame(writer, path, checksum)) leave(path);
  }, DELETED_AT_ONCE);
  await writer.close();
}

/** Returns whether the object is gone, by this or by somebody else. */
async function deleteIfSame(writer: BranchWriter, path: string, checksum: string): Promise<boolean> {
  try {
    await writer.delete(path, { ifMatch: [checksum] });
    return true;
  } catch (error) {
    if (!isCoded(error, "object_changed")) throw error;
    return error.details["is_missing"] === true;
  }
}

/** A local file whose bytes are on a branch. */
export interface MovedFile {
  readonly slot: Slot;
  /** Needed where a write since may not show in the file's state. */
  readonly sha256: Uint8Array | undefined;
}

/** Returns what has to be kept of a file until it is taken away. */
export function movedFile(slot: Slot, hash: () => Uint8Array): MovedFile {
  const shows = slot.state !== undefined && isSettled(slot.state, slot.lookedAtMs);
  return { slot, sha256: shows ? undefined : hash() };
}

/** Deletes local files, each if it still holds what was moved. */
export async function deleteMovedFiles(
  files: readonly MovedFile[],
  { look, failures }: { look: LookAtFile; failures: Failures },
): Promise<void> {
  for (const { slot, sha256 } of files) {
    const { key, path, state } = slot;
    try {
      const now = look(path);
      const isSame = state !== undefined && now !== undefined && sameState(now, state) &&
        (sha256 === undefined || equalBytes(await hashOf(path), sha256));
      if (isSame) fs.unlinkSync(path);
      else failures.leaveOut(key, "source_changed", "it changed while it was moved");
    } catch (error) {
      failures.take(key, localError(error, `Cannot remove "${path}"`));
    }
  }
}

async function hashOf(path: string): Promise<Uint8Array> {
  const open = openRegular(path);
  try {
    return await contentHash(open);
  } finally {
    fs.closeSync(open.descriptor);
  }
}

/** Removes a folder with the folders in it, as far as they are empty and nothing says that they are to be left out. */
export function removeEmptyFolders(folder: string, isLeftOut: (folder: string) => boolean): void {
  if (isLeftOut(folder)) return;
  try {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name), isLeftOut);
    }
    fs.rmdirSync(folder);
  } catch {
    // It holds something that was not moved.
  }
}

/** Makes it last that a file is gone. */
export function flushRemoval(path: string): void {
  flushFolder(dirname(path));
}
