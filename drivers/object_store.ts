/**
 * The object-store contract: keys to immutable or replaceable byte objects in one storage namespace.
 *
 * The engine's block storage and the catalog's bucket stores are built on it. Keys are UTF-8 text; a driver refuses with
 * `unplaceable_key` (kind `invalid`) what its medium cannot hold exactly. No key ever leaves the namespace.
 * Every driver runs the conformance suite `tests/conformance/object_store_suite.ts`.
 *
 * Failures: `object_not_found` (kind `not_found`), `object_exists` (kind `exists`), `invalid_range` (kind `invalid`),
 * `storage_full`, `storage_unavailable` (kind `unavailable`), `storage_forbidden` (kind `forbidden`).
 */

/** Bytes that arrive in pieces. The consumer may not keep a piece after asking for the next one. */
export type ByteStream = AsyncIterable<Uint8Array>;

export interface ObjectInfo {
  readonly key: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly modifiedMs: number;
}

/** One page of a listing; `prefixes` are the folded common prefixes, ending in the delimiter. Both in byte order. */
export interface ObjectPage {
  readonly objects: readonly ObjectInfo[];
  readonly prefixes: readonly string[];
}

export interface ListOptions {
  readonly prefix?: string;
  /** Folds keys at the first occurrence after the prefix. Only "/" need be supported by drivers. */
  readonly delimiter?: string;
  /** Only keys that sort after this one. */
  readonly after?: string;
  readonly pageSize?: number;
}

/** Bytes `start` to `end` inclusive, both from 0. An `end` past the object is cut; a `start` past it is `invalid_range`. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface PutOptions {
  /**
   * `replace` (default): readers see the old or the new object whole, also after power loss if the old one was flushed.
   * `if_absent`: fails with `object_exists` when the key is taken, atomically. `fresh`: the caller knows that the name is new and that nobody reads it before the put
   * has returned, which saves the rename; fails with `object_exists` otherwise.
   */
  readonly mode?: "replace" | "if_absent" | "fresh";
  readonly signal?: AbortSignal;
}

/** A small object that lies in memory whole. */
export interface NewObject {
  readonly key: string;
  readonly body: Uint8Array;
}

/** The file that an object is. */
export interface LocalFile {
  /** Absolute; it leads to the file as long as the object is not deleted or replaced. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Another one as soon as somebody has written to the file, or put another one in its place. */
  readonly identity: string;
}

/**
 * An object that is written before its key is known: a file that is named by what is in it. Nobody sees it before it is named.
 */
export interface UnnamedObject {
  /**
   * Appends a piece, which may not be changed before the call has settled. Calls may be made before others have settled: the
   * pieces are written in the order of the calls. When one has failed, all later ones and `name` fail.
   */
  add(piece: Uint8Array): Promise<void>;

  /** Gives it its key, when all pieces are written, as a put of that mode would; fails as one does, and may be tried again. */
  name(key: string, mode: "replace" | "if_absent"): Promise<ObjectInfo>;

  /** Reads what was written, as `read` of the store does. */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;

  /** Removes what was written, if it has not been named. Needed unless it has. */
  abandon(): Promise<void>;
}

export interface ObjectStore {
  /** Whether objects lie on another machine, so that it pays to keep copies of those that are read often. */
  readonly isFar?: boolean;

  /** Returns the full physical address of a key, such as `local:///folder/data/x` or `s3://bucket/prefix/data/x`. */
  locate(key: string): string;

  /** Returns what is known of an object, or `undefined`. */
  head(key: string): Promise<ObjectInfo | undefined>;

  /** Returns the file that an object is, where each is one. */
  localFile?(key: string): Promise<LocalFile | undefined>;

  /** Yields the listing in byte order of keys, page by page. Unfinished puts do not show. */
  pages(options?: ListOptions): AsyncIterable<ObjectPage>;

  /** Opens an object for streaming. Fails with `object_not_found`, `invalid_range`. A short object never ends early silently. */
  get(key: string, options?: { range?: ByteRange; signal?: AbortSignal }): Promise<
    { info: ObjectInfo; body: ByteStream }
  >;

  /**
   * Reads `length` bytes at `offset` into memory. Fails with `object_not_found`; returns fewer bytes only at the object's end.
   * A driver may put them into `into`, if there is room, and return a view of it: for callers that read much.
   */
  read(key: string, offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;

  /**
   * Stores an object. It survives a kill of this process when the call has returned, and power loss once `flush` has.
   * On failure nothing shows under the key that was not there before. A body in parts lies in memory as a whole one does,
   * and may not be changed before the call has settled.
   */
  put(
    key: string,
    body: Uint8Array | readonly Uint8Array[] | ByteStream,
    options?: PutOptions,
  ): Promise<ObjectInfo>;

  /**
   * Makes the place for a small object that is to be put soon, with mode `fresh`, where that takes a part of its time away. Nobody
   * may ask for the key before; what is not put is gone a second later. Returns whether it did. Never fails.
   */
  makeReady?(key: string): boolean;

  /** Begins an object whose key will be told later, where that costs less than holding it in memory: a key right in `folder`. */
  begin?(folder: string): UnnamedObject;

  /**
   * Writes into an object at an offset, where objects are files: into one that was put, that nobody reads yet, and that this
   * process alone writes to. What is never written is zeros. Several calls may run side by side. Fails with `object_not_found`;
   * on failure any part of the bytes may have been written, and none is any more when the call has failed.
   */
  putAt?(key: string, offset: number, body: Uint8Array | ByteStream): Promise<void>;

  /**
   * Stores objects under distinct fresh keys, each as a put of mode `fresh` would, at less cost. Their bodies may not be
   * changed before the call has settled. On failure any part of them may have been stored.
   */
  putMany(objects: readonly NewObject[]): Promise<void>;

  /** Makes objects, with the folder entries that lead to them, survive power loss. Missing ones: `object_not_found`. */
  flush(keys: readonly string[]): Promise<void>;

  /** Makes the data of objects survive power loss, though not yet their names: a {@link flush} later has less to do. */
  flushData?(keys: readonly string[]): Promise<void>;

  /**
   * Is told that objects will hardly be read again: what the system holds of them in memory may serve others. Never fails,
   * whatever is there.
   */
  letGo?(keys: readonly string[]): void;

  /** Deletes an object; returns whether it was there. */
  delete(key: string): Promise<boolean>;

  /** Makes the place for objects where one has to be made, durably. A place that vanishes later is not made by a put. */
  prepare?(): Promise<void>;
}
