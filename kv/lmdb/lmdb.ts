/**
 * The KV store in an LMDB database: embedded, one folder, any number of processes at once. LMDB writes it (`writer.ts`), and is
 * loaded by the first write; we read its file ourselves (`page_reader.ts`).
 *
 * What a transaction has committed is in the file when its call is answered, so each call sees the newest state, whoever
 * wrote it. `setIf` compares inside the transaction that writes.
 */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterKey, equalBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { PAGE_BYTES, scanRange } from "../scan_range.ts";
import type {
  Around,
  KvEntry,
  KvValue,
  ListedKvStore,
  Predicate,
  ScanOptions,
  WriteOptions,
} from "../store.ts";
import { DatabaseFile } from "./database_file.ts";
import { kvError, predicateFailed } from "./errors.ts";
import { checkOpenable } from "./file_check.ts";
import { afterPartition, encodeKey, encodeRange, partitionOf } from "./keys.ts";
import { Journal } from "./journal.ts";
import { refuseNetwork } from "./network.ts";
import { BUSY, PageReader, type PageState, UNDISTURBED_ATTEMPTS } from "./page_reader.ts";
import { isReadOnly } from "./read_only.ts";
import type { LmdbWriter, WriterOptions } from "./writer.ts";
import { openWriterLock } from "./writer_lock.ts";

/** How often a file is read again that somebody writes to at the same time, before the writers are made to wait. */
const ATTEMPTS = 8;
export interface LmdbOptions extends WriterOptions {
  /** Opens an existing store for reading alone; writes fail with `kv_read_only`. */
  readonly readOnly?: boolean;
  /** Opens also what lies on a network file system (`network.ts`). */
  readonly allowNetwork?: boolean;
  /** How often a read is tried before the writers are made to wait: for tests. */
  readonly attempts?: number;
}

/**
 * Opens the store in `folder`, making both if they are missing: the folder with mode 0700, its files with 0600.
 *
 * Fails with `kv_missing` (read-only and there is none), `kv_corrupt`, `kv_forbidden`, `kv_full`, `kv_unavailable`,
 * `native_unavailable`, `kv_network_file_system`. What only writing needs, such as permission, is found to be missing by the
 * first write.
 */
export async function openLmdb(folder: string, options: LmdbOptions = {}): Promise<ListedKvStore> {
  if (!options.allowNetwork) refuseNetwork(folder);
  const action = `Cannot open the key-value store in "${folder}"`;
  const path = join(folder, "data.mdb");
  if (options.readOnly && !existsSync(path)) {
    throw new CodedError("not_found", "kv_missing", `${action}: there is none`);
  }
  try {
    // An empty file is one that LMDB has yet to fill.
    const isMade = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (!isMade && !options.readOnly) await (await import("./opening.ts")).makeDatabase(folder, options);
    await checkOpenable(folder, true);
    const mayMap = !options.allowNetwork;
    const journal = new Journal(folder, mayMap);
    return new LmdbKvStore(folder, {
      ...options,
      journal,
      reader: new PageReader(path, { mayMap, journal }),
    });
  } catch (error) {
    throw kvError(action, error);
  }
}

interface LmdbPredicate extends Predicate {
  /** The value's bytes, as LMDB has no cheaper word for "unchanged". */
  readonly kvPredicate: Uint8Array;
}

class LmdbKvStore implements ListedKvStore {
  readonly #folder: string;
  readonly #options: LmdbOptions;
  readonly #reader: PageReader;
  readonly #journal: Journal;
  /** The file that is read, which is the one to write to. */
  readonly #file: DatabaseFile;
  #writer: Promise<LmdbWriter> | undefined;
  #closed = false;

  constructor(
    folder: string,
    { reader, journal, ...options }: LmdbOptions & {
      readonly reader: PageReader;
      readonly journal: Journal;
    },
  ) {
    this.#folder = folder;
    this.#options = options;
    this.#reader = reader;
    this.#journal = journal;
    this.#file = new DatabaseFile(join(folder, "data.mdb"), reader.handle);
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const encoded = encodeKey(partition, key);
    const read = this.#reading((state) => state.get(encoded));
    const value = read instanceof Promise ? await read : read;
    if (!value) return undefined;
    const predicate: LmdbPredicate = { kvPredicate: value };
    return { value: value.slice(), predicate };
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    await this.setMany(partition, [{ key, value }]);
  }

  async setMany(
    partition: Uint8Array,
    entries: readonly KvEntry[],
    { relaxed = false }: WriteOptions = {},
  ): Promise<void> {
    const writer = await this.#openWriter();
    const encoded = entries.map(({ key, value }) => ({ key: encodeKey(partition, key), value }));
    await writer.put((records) => {
      for (const { key, value } of encoded) records.put(key, value);
    }, relaxed);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
    options?: WriteOptions,
  ): Promise<void> {
    await this.setIfAround(partition, { key, value }, { predicate, ...options });
  }

  async setIfAround(
    partition: Uint8Array,
    entry: KvEntry,
    { predicate, before = [], after = [], relaxed = false }: Around,
  ): Promise<void> {
    const encoded = encodeKey(partition, entry.key);
    const expected = (predicate as LmdbPredicate | undefined)?.kvPredicate;
    const writer = await this.#openWriter();
    await writer.put((records) => {
      const stored = records.get(encoded);
      const holds = expected ? stored !== undefined && equalBytes(stored, expected) : stored === undefined;
      if (!holds) return predicateFailed();
      for (const { key, value } of [...before, entry, ...after]) {
        records.put(encodeKey(partition, key), value);
      }
    }, relaxed);
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    await this.deleteMany(partition, [key]);
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    const writer = await this.#openWriter();
    await writer.commit((records) => {
      for (const key of keys) records.remove(encodeKey(partition, key));
    });
  }

  async *scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    for (let range = scanRange(options); range;) {
      const bounds = encodeRange(partition, range);
      const page = { ...bounds, limit: range.pageEntries, maxBytes: PAGE_BYTES };
      const { entries, isLast } = await this.#reading((state) => state.entries(page));
      const own = entries.map(({ key, value }) => ({ key: key.slice(1 + partition.length), value }));
      if (own.length > 0) yield own;
      range = isLast ? undefined : { ...range, first: afterKey(own.at(-1)!.key) };
    }
  }

  /** Leaps from each partition to the next. */
  async *partitions(): AsyncIterable<Uint8Array> {
    for (let start: Uint8Array | undefined = Uint8Array.of(1); start;) {
      const range = { start, end: undefined, limit: 1, maxBytes: Infinity };
      const { entries: [first] } = await this.#reading((state) => state.entries(range));
      if (!first) return;
      const partition = partitionOf(first.key);
      yield partition;
      start = afterPartition(partition);
    }
  }

  /** Where it can be written to, LMDB is opened for that, so that it is known to work. */
  async facts(): Promise<Readonly<Record<string, number>>> {
    const { lastPage, pageSize, transaction } = await this.#reading(({ meta }) => meta);
    const facts = { size_bytes: (lastPage + 1) * pageSize, transaction };
    return this.#isReadOnly() ? facts : { ...facts, map_bytes: (await this.#openWriter()).mapBytes };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await (await this.#writer?.catch(() => undefined))?.close();
    this.#reader.close();
  }

  async #openWriter(): Promise<LmdbWriter> {
    this.#requireOpen();
    this.#writer ??= this.#loadWriter();
    try {
      return await this.#writer;
    } catch (error) {
      // What was in the way may be gone the next time.
      this.#writer = undefined;
      throw kvError("Cannot write to the key-value store", error);
    }
  }

  async #loadWriter(): Promise<LmdbWriter> {
    if (this.#isReadOnly()) {
      throw new CodedError(
        "forbidden",
        "kv_read_only",
        "Cannot write to the key-value store: it is open for reading only",
      );
    }
    return await (await import("./writer.ts")).openWriter(this.#folder, {
      ...this.#options,
      file: this.#file,
      reader: this.#reader,
      journal: this.#journal,
    });
  }

  #isReadOnly(): boolean {
    return this.#options.readOnly || isReadOnly(join(this.#folder, "data.mdb"));
  }

  /** Reads at once unless others write without a pause. */
  #reading<T>(body: (state: PageState) => T): T | Promise<T> {
    this.#requireOpen();
    try {
      const answer = this.#reader.read(body, { attempts: this.#options.attempts ?? ATTEMPTS });
      return answer === BUSY ? this.#readUndisturbed(body) : answer;
    } catch (error) {
      throw readError(error);
    }
  }

  /** Reads while those who write wait. */
  async #readUndisturbed<T>(body: (state: PageState) => T): Promise<T> {
    try {
      const lock = await openWriterLock(this.#folder, true);
      try {
        const undisturbed = { attempts: UNDISTURBED_ATTEMPTS, isUndisturbed: true };
        const answer = lock.holding(() => this.#reader.read(body, undisturbed));
        if (answer !== BUSY) return answer;
      } finally {
        lock.close();
      }
    } catch (error) {
      throw readError(error);
    }
    throw new CodedError(
      "unavailable",
      "kv_unavailable",
      "Cannot read from the key-value store: others write to it without a pause",
    );
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new CodedError("internal", "kv_closed", "Cannot use the key-value store: it is closed");
  }
}

function readError(error: unknown): unknown {
  return kvError("Cannot read from the key-value store", error);
}
