/**
 * The store of a database: written by LMDB, and read without it.
 *
 * Most commands only read, and then LMDB is never loaded. Both ways see the same: what a transaction has committed is in
 * the file when its call is answered.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { afterKey } from "../../base/bytes.ts";
import { PAGE_BYTES, type ScanRange, scanRange } from "../scan_range.ts";
import type { KvEntry, KvValue, ListedKvStore, Predicate, ScanOptions } from "../store.ts";
import { checkOpenable } from "./file_check.ts";
import { kvClosed, kvError } from "./errors.ts";
import { afterPartition, encodeKey, encodeRange, partitionOf } from "./keys.ts";
import type { LmdbOptions } from "./lmdb.ts";
import { refuseNetwork } from "./network.ts";
import type { StoredPage } from "./page_tree.ts";
import { BUSY, PageReader } from "./page_reader.ts";

/**
 * Opens the store in `folder`, making both if they are missing: the folder with mode 0700, its files with 0600.
 *
 * Fails with `kv_missing` (read-only and there is none), `kv_corrupt`, `kv_forbidden`, `kv_full`, `kv_unavailable`,
 * `native_unavailable`, `kv_network_file_system`. What only writing needs, such as permission, is found to be missing by the
 * first write.
 */
export async function openLmdb(folder: string, options: LmdbOptions = {}): Promise<ListedKvStore> {
  if (!options.allowNetwork) refuseNetwork(folder);
  const file = join(folder, "data.mdb");
  const open = async () => await (await import("./lmdb.ts")).openWithLmdb(folder, options);
  try {
    // An empty file is one that LMDB has yet to fill.
    if (!statSync(file, { throwIfNoEntry: false })?.size) return await open();
    await checkOpenable(folder, true);
    return new LazyLmdbStore(new PageReader(file), open);
  } catch (error) {
    throw kvError(`Cannot open the key-value store in "${folder}"`, error);
  }
}

class LazyLmdbStore implements ListedKvStore {
  readonly #pages: PageReader;
  readonly #open: () => Promise<ListedKvStore>;
  #opening: Promise<ListedKvStore> | undefined;
  #closed = false;

  constructor(pages: PageReader, open: () => Promise<ListedKvStore>) {
    this.#pages = pages;
    this.#open = open;
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const value = this.#reading((pages) => pages.get(encodeKey(partition, key)));
    if (value === BUSY) return await (await this.#store()).get(partition, key);
    // What LMDB's store takes for a predicate is the value, too; the caller may change what it is given.
    return value && { value: value.slice(), predicate: { kvPredicate: value } };
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    await (await this.#store()).set(partition, key, value);
  }

  async setMany(partition: Uint8Array, entries: readonly KvEntry[]): Promise<void> {
    await (await this.#store()).setMany(partition, entries);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
  ): Promise<void> {
    await (await this.#store()).setIf(partition, key, value, predicate);
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    await (await this.#store()).delete(partition, key);
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    await (await this.#store()).deleteMany(partition, keys);
  }

  async *scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    for (let range = scanRange(options); range;) {
      const page = this.#page(partition, range);
      if (page === BUSY) {
        return yield* (await this.#store()).scan(partition, { ...options, start: range.first });
      }
      if (page.entries.length > 0) yield page.entries;
      range = page.isLast ? undefined : { ...range, first: afterKey(page.entries.at(-1)!.key) };
    }
  }

  async *partitions(): AsyncIterable<Uint8Array> {
    for (let start: Uint8Array | undefined = Uint8Array.of(1); start;) {
      const from: Uint8Array = start;
      const found = this.#reading((pages) => pages.entries({ start: from, end: undefined, limit: 1 }));
      if (found === BUSY) return yield* (await this.#store()).partitions();
      if (found.entries.length === 0) return;
      const partition = partitionOf(found.entries[0]!.key);
      yield partition;
      start = afterPartition(partition);
    }
  }

  async facts(): Promise<Readonly<Record<string, number>>> {
    return await (await this.#store()).facts?.() ?? {};
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pages.close();
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  #page(partition: Uint8Array, range: ScanRange): StoredPage | typeof BUSY {
    const page = this.#reading((pages) =>
      pages.entries({ ...encodeRange(partition, range), limit: range.pageEntries, maxBytes: PAGE_BYTES })
    );
    if (page === BUSY) return BUSY;
    const entries = page.entries.map(({ key, value }) => ({ key: key.slice(1 + partition.length), value }));
    return { entries, isLast: page.isLast };
  }

  async #store(): Promise<ListedKvStore> {
    this.#requireOpen();
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      // What was in the way may be gone the next time.
      this.#opening = undefined;
      throw error;
    }
  }

  #reading<T>(body: (pages: PageReader) => T): T {
    this.#requireOpen();
    try {
      return body(this.#pages);
    } catch (error) {
      throw kvError("Cannot read from the key-value store", error);
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw kvClosed();
  }
}
