/**
 * The KV store in an LMDB database: embedded, one folder, any number of processes at once.
 *
 * Writes: a transaction that is committed synchronously, so that its pages and its meta page are on disk when the call is
 * answered (docs/decisions/0002-lmdb-durability.md). `setIf` compares inside the transaction that writes, and LMDB lets
 * one writer in at a time over all processes.
 *
 * LMDB's own locks do not do, as its open has a hole (`writer_lock.ts`): a lock of ours is held by whoever opens, writes or
 * closes.
 *
 * Reads: each call takes the newest snapshot and gives it back before it returns, so that no snapshot stays pinned
 * and what any process has committed is seen at once.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { afterKey, equalBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { PAGE_BYTES, type ScanRange, scanRange } from "../scan_range.ts";
import type { KvEntry, KvValue, ListedKvStore, Predicate, ScanOptions } from "../store.ts";
import { byteCodec, type KeyForm } from "./codec.ts";
import { CommitQueue } from "./commit_queue.ts";
import { kvClosed, kvError, predicateFailed } from "./errors.ts";
import { DatabaseFile } from "./database_file.ts";
import { checkOpenable } from "./file_check.ts";
import { afterPartition, encodeKey, encodeRange, partitionOf } from "./keys.ts";
import type { NativeFolders } from "./native.ts";
import { refuseNetwork } from "./network.ts";
import { isReadOnly } from "./read_only.ts";
import { Records } from "./records.ts";
import { takeRoomToOpen } from "./room.ts";
import { type LmdbDatabase, type LmdbModule, type LmdbReadTransaction, loadLmdb } from "./vendor.ts";
import { openWriterLock, type WriterLock } from "./writer_lock.ts";

/**
 * Address space, not disk. Large enough that the map need not grow in normal use, small enough for a process whose address
 * space is narrow: where the map does not fit, lmdb-js 3.5.6 crashes. Growing further works, with other processes in it too.
 */
const MAP_BYTES = 16 * 1024 ** 3;
const MAX_READERS = 1024;

export interface LmdbOptions {
  /** Opens an existing store for reading alone; writes fail with `kv_read_only`. */
  readonly readOnly?: boolean;
  /** The greatest size of the database, and how many processes may have it open: for tests. */
  readonly mapBytes?: number;
  readonly maxReaders?: number;
  /** Opens also what lies on a network file system (`network.ts`). */
  readonly allowNetwork?: boolean;
  /** Where the compiled executable may put LMDB's native part. */
  readonly native?: NativeFolders;
  /** Called before the first write, which may put the database into the newest version of its layout (`format.ts`). */
  readonly beforeWriting?: () => void;
}

/**
 * Opens the store in `folder` with LMDB, making both if they are missing.
 *
 * Fails with `kv_missing` (read-only and there is none), `kv_corrupt`, `kv_forbidden`, `kv_read_only`, `kv_full`,
 * `kv_readers_full`, `kv_unavailable`, `native_unavailable`, `kv_network_file_system`.
 */
export async function openWithLmdb(folder: string, options: LmdbOptions = {}): Promise<ListedKvStore> {
  if (!options.allowNetwork) refuseNetwork(folder);
  const action = `Cannot open the key-value store in "${folder}"`;
  const file = join(folder, "data.mdb");
  const isNew = !existsSync(file);
  if (isNew && options.readOnly) {
    throw new CodedError("not_found", "kv_missing", `${action}: there is none`);
  }
  const lmdb = await loadLmdb(options.native);
  const readOnly = (options.readOnly ?? false) || isReadOnly(file);
  let database: LmdbDatabase | undefined;
  const keyForm: KeyForm = { isWhole: false };
  try {
    const made = readOnly ? undefined : mkdirSync(folder, { recursive: true, mode: 0o700 });
    await checkOpenable(folder, readOnly);
    const lock = await openWriterLock(folder, readOnly);
    database = lock.holding(() => openDatabase(lmdb, folder, { ...options, readOnly, keyForm }));
    if (isNew) flushFolders(folder, made);
    const locksReads = readOnly && isReadOnly(join(folder, "lock.mdb"));
    return new LmdbKvStore(lmdb, {
      database,
      file: new DatabaseFile(file),
      records: new Records(database, { folder, lock, keyForm, beforeWriting: options.beforeWriting }),
      lock,
      keyForm,
      readOnly,
      locksReads,
    });
  } catch (error) {
    await database?.close();
    throw kvError(action, error);
  }
}

function openDatabase(
  lmdb: LmdbModule,
  folder: string,
  options: LmdbOptions & { readonly keyForm: KeyForm },
): LmdbDatabase {
  const { readOnly = false, maxReaders = MAX_READERS } = options;
  if (!readOnly) takeRoomToOpen(folder, { maxReaders });
  const database = lmdb.open(folder, {
    noSubdir: false,
    readOnly,
    mapSize: options.mapBytes ?? MAP_BYTES,
    maxReaders,
    maxDbs: 1,
    permissionsMode: 0o600,
    // Without it the package encodes keys and values, and orders keys otherwise than by their bytes.
    ...byteCodec(options.keyForm),
    // With it commits are visible, and may be answered, before they are on disk.
    overlappingSync: false,
    // Otherwise an environment variable could choose an older state of the database.
    safeRestore: false,
  });
  // Processes that were killed leave their places in the reader table behind.
  database.readerCheck();
  return database;
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

interface LmdbPredicate extends Predicate {
  /** The value's bytes, as LMDB has no cheaper word for "unchanged". */
  readonly kvPredicate: Uint8Array;
}

class LmdbKvStore implements ListedKvStore {
  readonly #database: LmdbDatabase;
  readonly #file: DatabaseFile;
  readonly #records: Records;
  readonly #lock: WriterLock;
  readonly #readOnly: boolean;
  readonly #locksReads: boolean;
  readonly #keyForm: KeyForm;
  readonly #queue: CommitQueue;
  /** Ours alone, and reset except inside {@link #reading}. */
  readonly #snapshot: LmdbReadTransaction;
  readonly #resetSnapshot: () => void;
  #closed = false;

  constructor(
    lmdb: LmdbModule,
    { database, file, records, lock, readOnly, locksReads, keyForm }: {
      readonly database: LmdbDatabase;
      readonly file: DatabaseFile;
      readonly records: Records;
      readonly lock: WriterLock;
      readonly readOnly: boolean;
      /** Whether LMDB has no lock file of its own here (`read_only.ts`). */
      readonly locksReads: boolean;
      readonly keyForm: KeyForm;
    },
  ) {
    this.#database = database;
    this.#file = file;
    this.#records = records;
    this.#lock = lock;
    this.#readOnly = readOnly;
    this.#locksReads = locksReads;
    this.#keyForm = keyForm;
    const snapshot = database.useReadTransaction();
    this.#snapshot = snapshot;
    this.#resetSnapshot = () => lmdb.nativeAddon.resetTxn(snapshot.address);
    this.#resetSnapshot();
    // Takes the transaction out of the package's own use, which would keep it open until a timer fires.
    database.resetReadTxn();
    this.#queue = new CommitQueue((body) => this.#writing(body));
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const encoded = encodeKey(partition, key);
    const stored = this.#reading(() => this.#records.get(encoded, this.#snapshot));
    if (!stored) return undefined;
    const predicate: LmdbPredicate = { kvPredicate: stored };
    return { value: stored.slice(), predicate };
  }

  set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    const encoded = encodeKey(partition, key);
    return this.#commit(() => this.#put(encoded, value));
  }

  setMany(partition: Uint8Array, entries: readonly KvEntry[]): Promise<void> {
    return this.#commit(() => {
      for (const { key, value } of entries) this.#put(encodeKey(partition, key), value);
    });
  }

  setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
  ): Promise<void> {
    const encoded = encodeKey(partition, key);
    const expected = (predicate as LmdbPredicate | undefined)?.kvPredicate;
    return this.#commit(() => {
      const stored = this.#records.get(encoded);
      const holds = expected ? stored !== undefined && equalBytes(stored, expected) : stored === undefined;
      if (!holds) return predicateFailed();
      this.#put(encoded, value);
    });
  }

  delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    return this.deleteMany(partition, [key]);
  }

  deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    return this.#commit(() => {
      for (const key of keys) this.#records.remove(encodeKey(partition, key));
    });
  }

  async *scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    for (let range = scanRange(options); range;) {
      const { page, rest } = this.#page(partition, range);
      if (page.length > 0) yield page;
      range = rest;
    }
  }

  /** Leaps from each partition to the next. */
  async *partitions(): AsyncIterable<Uint8Array> {
    for (let from: Uint8Array | undefined = Uint8Array.of(1); from;) {
      const partition = this.#firstPartition(from);
      if (!partition) return;
      yield partition.slice();
      from = afterPartition(partition);
    }
  }

  async facts(): Promise<Readonly<Record<string, number>>> {
    this.#requireOpen();
    const { pageSize, lastPageNumber, mapSize, maxReaders, lastTxnId } = this.#database.getStats();
    const readers = this.#database.readerList().split("\n").filter((line) => /^\s*\d/.test(line)).length;
    this.#database.resetReadTxn();
    return {
      size_bytes: (lastPageNumber + 1) * pageSize,
      map_bytes: mapSize,
      readers,
      max_readers: maxReaders,
      transaction: lastTxnId,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#queue.flush();
    this.#closed = true;
    // Nothing is pending, so the package closes before it returns its promise.
    await this.#lock.holding(() => this.#database.close());
    this.#lock.close();
    this.#records.close();
  }

  #firstPartition(start: Uint8Array): Uint8Array | undefined {
    return this.#reading(() => {
      this.#keyForm.isWhole = true;
      try {
        const range = { start, end: undefined, limit: 1, transaction: this.#snapshot };
        for (const { key } of this.#records.range(range, 0)) return partitionOf(key);
        return undefined;
      } finally {
        this.#keyForm.isWhole = false;
      }
    });
  }

  #page(partition: Uint8Array, range: ScanRange): { page: KvEntry[]; rest: ScanRange | undefined } {
    const page: KvEntry[] = [];
    let bytes = 0;
    const encoded = {
      ...encodeRange(partition, range),
      limit: range.pageEntries,
      transaction: this.#snapshot,
    };
    this.#reading(() => {
      for (const { key, value: stored } of this.#records.range(encoded, PAGE_BYTES)) {
        const value = this.#records.opened(encodeKey(partition, key), stored);
        page.push({ key, value });
        bytes += key.length + value.length;
        if (bytes >= PAGE_BYTES) break;
      }
    });
    const isLast = page.length < range.pageEntries && bytes < PAGE_BYTES;
    return { page, rest: isLast ? undefined : { ...range, first: afterKey(page.at(-1)!.key) } };
  }

  /** LMDB copies the value before this returns. */
  #put(encoded: Uint8Array, value: Uint8Array): undefined {
    this.#records.put(encoded, value);
  }

  async #commit(write: () => CodedError | undefined | void): Promise<void> {
    this.#requireOpen();
    if (this.#readOnly) {
      throw new CodedError(
        "forbidden",
        "kv_read_only",
        "Cannot write to the key-value store: it is open for reading only",
      );
    }
    await this.#queue.commit(() => write() ?? undefined);
  }

  #writing(body: () => void): void {
    try {
      // A body must not return what `put` returns, a promise: the transaction would stay open until it settles.
      this.#lock.holding(() =>
        this.#file.writing(() => this.#database.transactionSync(() => this.#records.writing(body)))
      );
      this.#records.ended(true);
    } catch (error) {
      this.#records.ended(false);
      throw kvError("Cannot write to the key-value store", error);
    }
  }

  #reading<T>(body: () => T): T {
    this.#requireOpen();
    try {
      return this.#locksReads ? this.#lock.holding(() => this.#inSnapshot(body)) : this.#inSnapshot(body);
    } catch (error) {
      throw kvError("Cannot read from the key-value store", error);
    }
  }

  #inSnapshot<T>(body: () => T): T {
    try {
      return body();
    } finally {
      this.#resetSnapshot();
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw kvClosed();
  }
}
