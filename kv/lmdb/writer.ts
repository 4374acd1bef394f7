/**
 * LMDB, which writes the database that we read ourselves (`page_reader.ts`).
 *
 * A transaction is committed synchronously, so that its pages and its meta page are on disk when the call is answered
 * (docs/decisions/0002-lmdb-durability.md), and LMDB lets one writer in at a time over all processes. Its own locks do not do, as
 * its open has a hole (`writer_lock.ts`): a lock of ours is held by whoever opens, writes or closes.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import type { CodedError } from "../../base/errors.ts";
import { byteCodec } from "./codec.ts";
import { CommitQueue } from "./commit_queue.ts";
import type { DatabaseFile } from "./database_file.ts";
import { kvError } from "./errors.ts";
import { checkOpenable } from "./file_check.ts";
import type { NativeFolders } from "./native.ts";
import { Records } from "./records.ts";
import { growthError, takeRoomToOpen } from "./room.ts";
import { type LmdbDatabase, type LmdbModule, loadLmdb } from "./vendor.ts";
import { openWriterLock, type WriterLock } from "./writer_lock.ts";

/**
 * Address space, not disk. Large enough that the map need not grow in normal use, small enough for a process whose address
 * space is narrow: where the map does not fit, lmdb-js 3.5.6 crashes. Growing further works, with other processes in it too.
 */
const MAP_BYTES = 16 * 1024 ** 3;
/** Nobody here takes a reader's place; LMDB's own tools do, and versions of tarn that read by LMDB. */
const MAX_READERS = 1024;

export interface WriterOptions {
  /** How large the map is at first: for tests. */
  readonly mapBytes?: number;
  /** Where the compiled executable may put LMDB's native part. */
  readonly native?: NativeFolders;
  /** Called before the first write, which may put the database into the newest version of its layout (`format.ts`). */
  readonly beforeWriting?: () => void;
}

/** Makes the database in `folder`, if there is none: the folder with mode 0700, its files with 0600. Fails as {@link openWriter}. */
export async function makeDatabase(folder: string, options: WriterOptions): Promise<void> {
  const lmdb = await loadLmdb(options.native);
  const isNew = !existsSync(join(folder, "data.mdb"));
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { database, lock } = await open(lmdb, folder, options);
  if (isNew) flushFolders(folder, made);
  await close(database, lock);
}

/**
 * Opens the database that `file` watches, to write to it.
 *
 * Fails with `kv_moved`, `kv_corrupt`, `kv_forbidden`, `kv_read_only`, `kv_full`, `kv_unavailable`, `native_unavailable`.
 */
export async function openWriter(
  folder: string,
  { file, ...options }: WriterOptions & { readonly file: DatabaseFile },
): Promise<LmdbWriter> {
  const lmdb = await loadLmdb(options.native);
  // Otherwise one would be made where it was.
  file.requireInPlace();
  const { database, lock } = await open(lmdb, folder, options);
  const records = new Records(database, { folder, lock, beforeWriting: options.beforeWriting });
  return new LmdbWriter(database, { file, records, lock, path: join(folder, "data.mdb") });
}

async function open(
  lmdb: LmdbModule,
  folder: string,
  { mapBytes = MAP_BYTES }: WriterOptions,
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

/** Nothing is pending, so the package closes before it returns its promise. */
async function close(database: LmdbDatabase, lock: WriterLock): Promise<void> {
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

/** Writes to the database: what is asked for in one turn shares a transaction (`commit_queue.ts`). */
export class LmdbWriter {
  readonly #database: LmdbDatabase;
  readonly #file: DatabaseFile;
  readonly #path: string;
  readonly #records: Records;
  readonly #lock: WriterLock;
  readonly #queue: CommitQueue;

  constructor(
    database: LmdbDatabase,
    { file, records, lock, path }: {
      readonly file: DatabaseFile;
      readonly records: Records;
      readonly lock: WriterLock;
      readonly path: string;
    },
  ) {
    this.#database = database;
    this.#file = file;
    this.#path = path;
    this.#records = records;
    this.#lock = lock;
    this.#queue = new CommitQueue((body) => this.#transaction(body));
  }

  /** Carries out a write, which may return its refusal, having written nothing; durable when it returns. */
  async commit(write: (records: Records) => CodedError | void): Promise<void> {
    await this.#queue.commit(() => write(this.#records) ?? undefined);
  }

  get mapBytes(): number {
    const { mapSize } = this.#database.getStats();
    this.#database.resetReadTxn();
    return mapSize;
  }

  async close(): Promise<void> {
    this.#queue.flush();
    this.#records.close();
    await close(this.#database, this.#lock);
  }

  #transaction(body: () => void): void {
    try {
      this.#lock.holding(() => this.#file.inPlace(() => this.#run(body)));
      this.#records.ended(true);
    } catch (error) {
      this.#records.ended(false);
      throw kvError("Cannot write to the key-value store", error);
    }
  }

  #run(body: () => void): void {
    try {
      // A body must not return what `put` returns, a promise: the transaction would stay open until it settles.
      this.#database.transactionSync(() => this.#records.writing(body));
    } catch (error) {
      throw growthError(error, this.#path);
    }
  }
}
