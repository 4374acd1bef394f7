/** The KV store in memory: for tests, the simulator, and whatever need not outlive the process. */

import { Buffer } from "node:buffer";
import { asBuffer, compareBytes, EMPTY_BYTES, equalBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { PAGE_BYTES, type ScanRange, scanRange } from "../scan_range.ts";
import type { KvEntry, KvValue, ListedKvStore, Predicate, ScanOptions } from "../store.ts";
import { SortedMap } from "../sorted_map.ts";

/** Opens an empty store that lives as long as the object. */
export function openMemoryKv(): ListedKvStore {
  return new MemoryKvStore();
}

interface MemoryPredicate extends Predicate {
  readonly kvPredicate: Uint8Array;
}

class MemoryKvStore implements ListedKvStore {
  readonly #partitions = new Map<string, SortedMap>();
  #closed = false;

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const stored = this.#entries(partition).get(key);
    if (!stored) return undefined;
    const predicate: MemoryPredicate = { kvPredicate: stored };
    return { value: stored.slice(), predicate };
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#entries(partition).set(key, value.slice());
  }

  async setMany(partition: Uint8Array, entries: readonly KvEntry[]): Promise<void> {
    const stored = this.#entries(partition);
    for (const { key, value } of entries) stored.set(key, value.slice());
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
  ): Promise<void> {
    const entries = this.#entries(partition);
    const stored = entries.get(key);
    const expected = (predicate as MemoryPredicate | undefined)?.kvPredicate;
    const holds = expected ? stored !== undefined && equalBytes(stored, expected) : stored === undefined;
    if (!holds) {
      throw new CodedError("precondition", "predicate_failed", "Cannot store the value: the key has changed");
    }
    entries.set(key, value.slice());
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    this.#entries(partition).delete(key);
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    const entries = this.#entries(partition);
    for (const key of keys) entries.delete(key);
  }

  async *scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    const range = scanRange(options);
    for (let next = range; next;) {
      const { page, rest } = this.#page(partition, next);
      if (page.length > 0) yield page;
      next = rest;
    }
  }

  async *partitions(): AsyncIterable<Uint8Array> {
    for (const [name, entries] of [...this.#partitions]) {
      if (!entries.from(EMPTY_BYTES).next().done) yield new Uint8Array(Buffer.from(name, "latin1"));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#partitions.clear();
  }

  #page(partition: Uint8Array, range: ScanRange): { page: KvEntry[]; rest: ScanRange | undefined } {
    const page: KvEntry[] = [];
    let bytes = 0;
    for (const { key, value } of this.#entries(partition).from(range.first)) {
      if (range.end && compareBytes(key, range.end) >= 0) return { page, rest: undefined };
      if (page.length >= range.pageEntries || bytes >= PAGE_BYTES) {
        return { page, rest: { ...range, first: key } };
      }
      page.push({ key, value: value.slice() });
      bytes += key.length + value.length;
    }
    return { page, rest: undefined };
  }

  #entries(partition: Uint8Array): SortedMap {
    if (this.#closed) {
      throw new CodedError("internal", "kv_closed", "Cannot use the key-value store: it is closed");
    }
    const name = asBuffer(partition).toString("latin1");
    let entries = this.#partitions.get(name);
    if (!entries) this.#partitions.set(name, entries = new SortedMap());
    return entries;
  }
}
