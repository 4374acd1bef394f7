/** Opening, making and closing a database by LMDB, under the lock of writers: its own locks do not do (`writer_lock.ts`). */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { makeFolderWithin } from "../../base/folders.ts";
import { byteCodec } from "./codec.ts";
import { checkOpenable } from "./file_check.ts";
import type { NativeFolders } from "./native.ts";
import { takeRoomToOpen } from "./room.ts";
import { type LmdbDatabase, type LmdbModule, loadLmdb } from "./vendor.ts";
import { openWriterLock, type WriterLock } from "./writer_lock.ts";

/**
 * Address space, not disk. Large enough that the map need not grow in normal use, small enough for a process whose address
 * space is narrow: where the map does not fit, lmdb-js 3.5.6 crashes. Growing further works, with other processes in it too.
 */
const MAP_BYTES = 16 * 1024 ** 3;
/** Nobody here takes a reader's place; LMDB's own tools do, and versions of tarn that read by LMDB. */
const MAX_READERS = 1024;

export interface OpeningOptions {
  /** How large the map is at first: for tests. */
  readonly mapBytes?: number;
  /** A folder above, which must be there: nothing is made where it is not. */
  readonly within?: string;
  /** Where the compiled executable may put LMDB's native part. */
  readonly native?: NativeFolders;
}

/** Makes the database in `folder`, if there is none: the folder with mode 0700, its files with 0600. */
export async function makeDatabase(folder: string, options: OpeningOptions): Promise<void> {
  const lmdb = await loadLmdb(options.native);
  const isNew = !existsSync(join(folder, "data.mdb"));
  const { within } = options;
  const made = within === undefined
    ? mkdirSync(folder, { recursive: true, mode: 0o700 })
    : makeFolderWithin({ folder, within });
  const { database, lock } = await openLocked(lmdb, folder, options);
  if (isNew) flushFolders(folder, made);
  await closeLocked(database, lock);
}

/**
 * Opens a database, and the lock of writers. Fails with `kv_corrupt`, or with what LMDB and the system say.
 */
export async function openLocked(
  lmdb: LmdbModule,
  folder: string,
  { mapBytes = MAP_BYTES }: OpeningOptions,
): Promise<{ database: LmdbDatabase; lock: WriterLock }> {
  await checkOpenable(folder, false);
  const lock = await openWriterLock(folder, false);
  try {
    const database = lock.holding(() => {
      takeRoomToOpen(folder, { maxReaders: MAX_READERS });
      return openDatabase(lmdb, folder, mapBytes);
    });
    return { database, lock };
  } catch (error) {
    lock.close();
    throw error;
  }
}

function openDatabase(lmdb: LmdbModule, folder: string, mapSize: number): LmdbDatabase {
  const database = lmdb.open(folder, {
    noSubdir: false,
    mapSize,
    maxReaders: MAX_READERS,
    maxDbs: 1,
    permissionsMode: 0o600,
    // Without it the package encodes keys and values, and orders keys otherwise than by their bytes.
    ...byteCodec(),
    // With it commits are visible, and may be answered, before they are on disk.
    overlappingSync: false,
    // Otherwise an environment variable could choose an older state of the database.
    safeRestore: false,
  });
  // The places of readers that were killed keep pages from being used again.
  database.readerCheck();
  return database;
}

/** Closes both. Nothing is pending, so the package closes before it returns its promise. */
export async function closeLocked(database: LmdbDatabase, lock: WriterLock): Promise<void> {
  await lock.holding(() => database.close());
  lock.close();
}

/** Makes the names of a new database survive power loss: its folder's entries, and those of folders made for it. */
function flushFolders(folder: string, firstMade: string | undefined): void {
  if (process.platform === "win32") return;
  const last = firstMade === undefined ? resolve(folder) : dirname(resolve(firstMade));
  for (let at = resolve(folder);; at = dirname(at)) {
    const handle = openSync(at, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (at === last || at === dirname(at)) return;
  }
}
