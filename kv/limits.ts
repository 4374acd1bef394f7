/** Holds a KV store to the limits of `base/limits.ts`, so that drivers need not. */

import { CodedError } from "../base/errors.ts";
import { MAX_KEY_BYTES, MAX_PARTITION_BYTES, MAX_VALUE_BYTES } from "../base/limits.ts";
import { setIfAround } from "./around.ts";
import type { Around, KvEntry, KvStore, KvValue, Predicate, ScanOptions, WriteOptions } from "./store.ts";

/**
 * Returns `store` with every partition, key and value checked before it is reached. Nothing of a call is carried out
 * when one part of it is beyond a limit.
 *
 * Its calls fail with `limit_exceeded` (kind `invalid`), which names the limit.
 */
export function withLimits(store: KvStore): KvStore {
  return new LimitedKvStore(store);
}

class LimitedKvStore implements KvStore {
  readonly #store: KvStore;

  constructor(store: KvStore) {
    this.#store = store;
  }

  /** Not `async`: it is called so often that one more promise each time counts. */
  get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    try {
      checkPartition(partition);
      checkKey(key);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#store.get(partition, key);
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    checkPartition(partition);
    checkKey(key);
    checkValue(value);
    await this.#store.set(partition, key, value);
  }

  async setMany(
    partition: Uint8Array,
    entries: readonly KvEntry[],
    options?: WriteOptions,
  ): Promise<void> {
    checkPartition(partition);
    for (const { key, value } of entries) {
      checkKey(key);
      checkValue(value);
    }
    await this.#store.setMany(partition, entries, options);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
    options?: WriteOptions,
  ): Promise<void> {
    checkPartition(partition);
    checkKey(key);
    checkValue(value);
    await this.#store.setIf(partition, key, value, predicate, options);
  }

  async setIfAround(partition: Uint8Array, entry: KvEntry, around: Around): Promise<void> {
    checkPartition(partition);
    for (const { key, value } of [entry, ...around.before ?? [], ...around.after ?? []]) {
      checkKey(key);
      checkValue(value);
    }
    await setIfAround(this.#store, partition, entry, around);
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    checkPartition(partition);
    checkKey(key);
    await this.#store.delete(partition, key);
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    checkPartition(partition);
    for (const key of keys) checkKey(key);
    await this.#store.deleteMany(partition, keys);
  }

  // The bounds of a scan are no keys: one beyond the limit matches nothing, or sorts after what it begins with.
  scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    checkPartition(partition);
    return this.#store.scan(partition, options);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

function checkPartition(partition: Uint8Array): void {
  check("partition", partition, { least: 1, most: MAX_PARTITION_BYTES });
}

function checkKey(key: Uint8Array): void {
  check("key", key, { least: 1, most: MAX_KEY_BYTES });
}

function checkValue(value: Uint8Array): void {
  check("value", value, { least: 0, most: MAX_VALUE_BYTES });
}

function check(what: string, bytes: Uint8Array, { least, most }: { least: number; most: number }): void {
  const { length } = bytes;
  if (length >= least && length <= most) return;
  const bound = length < least ? `it must have at least ${least}` : `it may have at most ${most}`;
  throw new CodedError("invalid", "limit_exceeded", `Cannot use a ${what} of ${length} bytes: ${bound}`, {
    details: { limit: `${what}_bytes`, least, most, actual: length },
  });
}
