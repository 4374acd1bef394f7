/**
 * The KV contract: `[partition, key] -> value`, byte arrays all three, strongly consistent.
 *
 * Every driver runs the conformance suite `tests/conformance/kv_suite.ts`. Sizes are checked once above the drivers, by
 * `withLimits` in `limits.ts`; a driver may assume that they hold.
 *
 * Arrays that a call is given may not be changed before it has settled.
 *
 * Failures: `predicate_failed` (kind `precondition`), `kv_unavailable` (kind `unavailable`: retry may help),
 * `kv_throttled` (kind `throttled`), `kv_unauthenticated` (kind `unauthenticated`), `kv_full` and `kv_readers_full` (kind `unavailable`: no room for data, or for another process), `kv_corrupt` and
 * `kv_journal_corrupt` (kind `corrupt`), `kv_forbidden` and `kv_read_only` (kind `forbidden`).
 */

/** What `get` saw, to hand back to `setIf`. Opaque to callers. */
export type Predicate = { readonly kvPredicate: unknown };

export interface KvValue {
  readonly value: Uint8Array;
  readonly predicate: Predicate;
}

export interface KvEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface ScanOptions {
  /** The first key to give, inclusive. */
  readonly start?: Uint8Array;
  /** Only keys that begin with this. */
  readonly prefix?: Uint8Array;
  /** At most this many entries a page (a hint; default 1,000). */
  readonly pageSize?: number;
}

/** Writes of the same partition that go with a compare-and-set. */
export interface Around {
  readonly predicate: Predicate | undefined;
  /** Stored no later than the value, and perhaps even when that is refused. */
  readonly before?: readonly KvEntry[];
  /** Stored only when the value was; if the process ends in between, perhaps not even then. */
  readonly after?: readonly KvEntry[];
  /** Whether all of it may be relaxed, as in {@link WriteOptions}. */
  readonly relaxed?: boolean;
}

export interface WriteOptions {
  /**
   * Whether it is enough that the values survive a kill of the process at once, and power loss within a second, or when the
   * next write that is not relaxed has returned. What power loss takes are the last ones. A driver may always do more.
   */
  readonly relaxed?: boolean;
}

export interface KvStore {
  /** Returns the value and its predicate, or `undefined`. The arrays are the caller's own. */
  get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined>;

  /** Stores a value, whatever was there. Durable when it returns. */
  set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void>;

  /**
   * Stores many values; durable when it returns, unless relaxed. A driver with transactions stores all or none; one without
   * may, on failure, have stored any part of them. One over a network does it again when the answer was lost, and so may also
   * write over what others have stored under these keys while the call ran.
   */
  setMany(partition: Uint8Array, entries: readonly KvEntry[], options?: WriteOptions): Promise<void>;

  /**
   * Stores `value` only if the key still holds what `predicate` was read from. Durable when it returns, unless relaxed.
   *
   * A `predicate` of `undefined` means "the key must not exist". On failure nothing is written. Safe to retry after
   * `unavailable` only if the caller re-reads first, since a lost answer may hide a write that landed.
   *
   * Fails with `predicate_failed` (kind `precondition`).
   */
  setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
    options?: WriteOptions,
  ): Promise<void>;

  /**
   * Does {@link setIf} and the writes around it in one transaction. Only of drivers that have them; `setIfAround` of
   * `around.ts` does it for all.
   */
  setIfAround?(partition: Uint8Array, entry: KvEntry, around: Around): Promise<void>;

  /** Deletes a key; a missing one is no error. */
  delete(partition: Uint8Array, key: Uint8Array): Promise<void>;

  /** Deletes many keys; missing ones are no error. */
  deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void>;

  /**
   * Yields the entries of a partition in byte order of their keys, in pages. Entries written or deleted during the
   * scan may or may not show; all others show exactly once. No transaction stays open between pages.
   */
  scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]>;

  /** Frees what the store holds; no call may follow. */
  close(): Promise<void>;
}

/** A store that can tell what it holds. All drivers can; the engine never asks, so decorators need not. */
export interface ListedKvStore extends KvStore {
  /** Yields the partitions that hold anything, each once, in no particular order. May cost as much as reading it all. */
  partitions(): AsyncIterable<Uint8Array>;

  /** Returns what a driver that has it to tell says of its state, for reports: names as in JSON, sizes in bytes. */
  facts?(): Promise<Readonly<Record<string, number>>>;
}
