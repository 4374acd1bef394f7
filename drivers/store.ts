/**
 * The store contract: what every versioned place can do, whatever stands behind it. Commands and servers are written
 * once against this; the embedded engine (`engine/store.ts`) is its first implementation.
 *
 * Refs are texts in the grammar of ref expressions (`main`, `v1.0`, `main~2`, a commit ID or its unique prefix).
 * Paths are texts of 1 to 1,024 bytes of UTF-8. Lists come in pages and lazily: what is not asked for is not read.
 */

import type { ByteRange, ByteStream } from "./object_store.ts";
import type { Selector } from "../base/uri.ts";

export type Capability = "read" | "write" | "commit" | "branch" | "tag" | "merge" | "time" | "repositories";

export interface RepositoryInfo {
  readonly id: string;
  readonly storageNamespace: string;
  readonly defaultBranch: string;
  /** Seconds since the epoch. */
  readonly creationDate: number;
}

export interface RefInfo {
  readonly id: string;
  readonly commitId: string;
}

export interface CommitInfo {
  readonly id: string;
  readonly parents: readonly string[];
  readonly committer: string;
  readonly message: string;
  /** Seconds since the epoch. */
  readonly creationDate: number;
  readonly metaRangeId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly generation: number;
  readonly version: number;
}

export interface ObjectStats {
  readonly path: string;
  readonly physicalAddress: string;
  /** The ETag: the MD5 in hex for a simple upload. */
  readonly checksum: string;
  /** In hex; absent when whoever wrote the entry did not record it. */
  readonly sha256?: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly mtimeMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly contentType: string;
}

export type ListItem =
  | { readonly kind: "object"; readonly stats: ObjectStats }
  | { readonly kind: "common_prefix"; readonly path: string };

export type ChangeType = "added" | "removed" | "changed" | "conflict";

/** One difference; `left` is the older side, `right` the newer. A folded one ends in the delimiter and has no sides. */
export interface DiffItem {
  readonly type: ChangeType;
  readonly path: string;
  readonly pathType: "object" | "common_prefix";
  /** Of the right side, or of the left one when removed; 0 for a prefix. */
  readonly sizeBytes: number;
  readonly left?: ObjectStats;
  readonly right?: ObjectStats;
}

/** A path on which both sides of a merge, revert or cherry-pick made different changes. */
export interface MergeConflict {
  readonly path: string;
  readonly base?: ObjectStats;
  readonly source?: ObjectStats;
  readonly destination?: ObjectStats;
}

export interface MergeResult {
  /** The commit that the destination now points at (also when nothing changed). */
  readonly reference: string;
  readonly summary: Readonly<Record<ChangeType, number>>;
}

export type MergeStrategy = "source-wins" | "dest-wins";

export type MergeSide = "base" | "source" | "destination";

/** What a conflicting path becomes. A side that has no object there means its deletion. */
export type MergeResolution =
  | { readonly kind: MergeSide | "delete" }
  /** An object of the same repository: its entry is copied, no bytes move. */
  | { readonly kind: "object"; readonly ref: string; readonly path: string }
  /** New content. It is stored before the merge lands; of a merge that then fails only garbage stays. */
  | {
    readonly kind: "content";
    readonly body: Uint8Array | ByteStream;
    readonly contentType?: string;
    readonly metadata?: Readonly<Record<string, string>>;
  };

/** Reads the bytes of a side that is there. */
export type ReadMergeSide = (side: MergeSide) => Promise<ByteStream>;

/** Settles conflicts of a merge one by one. */
export interface ConflictResolver {
  /**
   * Returns what a path becomes; `undefined` leaves it to the strategy, and without one the merge fails. Called in key
   * order, and again when the destination has moved meanwhile: content that was given for the same three sides is then
   * kept, and not asked for again.
   */
  resolve(
    conflict: MergeConflict,
    read: ReadMergeSide,
  ): MergeResolution | undefined | Promise<MergeResolution | undefined>;
  /** Called when all conflicts of an attempt were seen, before anything lands; throws to give up. */
  finish?(): void;
}

/** A difference that a merge makes to its destination, or a conflict that stays, with its three sides. */
export interface MergePreviewItem extends DiffItem {
  readonly conflict?: MergeConflict;
}

export interface CommitOptions {
  readonly message: string;
  readonly committer: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Seconds since the epoch; default now. */
  readonly date?: number;
  readonly allowEmpty?: boolean;
  readonly allowEmptyMessage?: boolean;
  /** Take only what is staged for these objects, or under these prefixes (ending in "/"); the rest stays staged. */
  readonly paths?: readonly string[];
}

export interface MergeOptions {
  readonly committer: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Decides the conflicts that `resolver` leaves. */
  readonly strategy?: MergeStrategy;
  readonly resolver?: ConflictResolver;
  /** Makes one commit with the destination as its only parent, which names the source's commit in its metadata. */
  readonly squash?: boolean;
  /** Allows staged changes on the destination, if the merge changes none of their paths; they stay staged. */
  readonly keepStaged?: boolean;
}

export interface PickOptions {
  readonly committer: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Which parent to compare with, from 1; needed for merge commits, `parent_required` otherwise. */
  readonly parent?: number;
}

export interface LogOptions {
  readonly amount?: number;
  /** Follow all parents instead of first parents only. */
  readonly allParents?: boolean;
  /** Leave out commits before this time, in seconds since the epoch. */
  readonly since?: number;
  /** Only commits that changed one of these objects, or something under one of these prefixes (ending in "/"). */
  readonly paths?: readonly string[];
  /** Leave out what this ref's commit is made on: its ancestors, not the commit itself. */
  readonly stopAt?: string;
}

export interface BlameOptions {
  /** Only these objects, and what lies under these prefixes (ending in "/"). */
  readonly paths?: readonly string[];
  /** Look for changes along all parents; a merge then counts only where it made something new. */
  readonly allParents?: boolean;
}

/** An object and the commit that last changed it. */
export interface BlameItem {
  readonly path: string;
  readonly commit: CommitInfo;
}

export interface ListObjectsOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly after?: string;
  readonly amount?: number;
}

export interface DiffOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly after?: string;
  readonly amount?: number;
}

export interface PutObjectOptions {
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Fails with `object_exists` if the path is taken. */
  readonly ifAbsent?: boolean;
}

/** A small file that lies in memory whole, to be put under a path. */
export interface FileBody {
  readonly path: string;
  readonly body: Uint8Array;
}

export interface ReflogItem {
  /** Names the move; of a deletion, what {@link Store.restoreRef} takes. */
  readonly id: string;
  readonly ref: string;
  readonly operation: string;
  readonly oldCommitId: string;
  readonly newCommitId: string;
  readonly who: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** Of a restore: the id of the deletion that it took back. */
  readonly restored?: string;
}

/**
 * Many writes to one branch. `put` returns once the object's bytes are stored and hashed; nothing is acknowledged
 * before `flush` or `close` has returned: then all of it is staged and durable. Puts may run side by side.
 */
export interface BranchWriter {
  put(path: string, body: Uint8Array | ByteStream, options?: PutObjectOptions): Promise<ObjectStats>;
  /**
   * Puts many small files, as `put` would one by one, at less cost. Their bodies may not be changed before the call has
   * settled. When a path or the metadata is refused, nothing of them is put.
   */
  putMany(files: readonly FileBody[], options?: Omit<PutObjectOptions, "ifAbsent">): Promise<void>;
  /**
   * Stages an object of the same repository under another path: the entry is copied, no bytes move.
   * Fails with `object_not_found`.
   */
  copy(path: string, source: { readonly ref: string; readonly path: string }): Promise<ObjectStats>;
  /** Stages a deletion; a path that is not there is no error and no change. */
  delete(path: string): Promise<void>;
  flush(): Promise<void>;
  /** Flushes, then frees what the writer holds. */
  close(): Promise<void>;
}

/** What was read and written of committed data. Ranges and metaranges are tables. */
export interface StoreCosts {
  readonly tablesOpened: number;
  /** Read, checked and decompressed. */
  readonly blocksRead: number;
  readonly bytesRead: number;
  readonly tablesWritten: number;
  readonly bytesWritten: number;
  /** Copied from an older range as they are. */
  readonly blocksCopied: number;
  /** Taken over by ID. */
  readonly rangesReused: number;
}

export interface Store {
  readonly driver: string;
  readonly capabilities: ReadonlySet<Capability>;

  createRepository(
    name: string,
    options: { storageNamespace?: string; defaultBranch?: string; raggedness?: number; committer: string },
  ): Promise<RepositoryInfo>;
  listRepositories(options?: { prefix?: string; after?: string }): AsyncIterable<readonly RepositoryInfo[]>;
  getRepository(name: string): Promise<RepositoryInfo>;
  deleteRepository(name: string): Promise<void>;

  /** Returns a ref expression for a selector: a branch or tag checked to be one, or a commit ID for `commit:` and `ts:`. */
  select(repository: string, selector: Selector, ref: string | undefined): Promise<string>;
  /** Returns the full ID of the commit that a ref expression names. */
  resolve(repository: string, ref: string): Promise<string>;

  listBranches(
    repository: string,
    options?: { prefix?: string; after?: string },
  ): AsyncIterable<readonly RefInfo[]>;
  getBranch(repository: string, branch: string): Promise<RefInfo>;
  createBranch(repository: string, branch: string, source: string, who: string): Promise<RefInfo>;
  deleteBranch(repository: string, branch: string, who: string): Promise<void>;
  listTags(
    repository: string,
    options?: { prefix?: string; after?: string },
  ): AsyncIterable<readonly RefInfo[]>;
  getTag(repository: string, tag: string): Promise<RefInfo>;
  createTag(repository: string, tag: string, ref: string, who: string): Promise<RefInfo>;
  deleteTag(repository: string, tag: string, who: string): Promise<void>;
  /**
   * Brings a deleted branch or tag back where it was, with a branch's staged changes: the one of that kind that was deleted
   * last, or by the deletion of an `id`. Each deletion can be taken back once. Fails with `ref_not_deleted` when there is none
   * to bring back, `branch_exists` or `tag_exists` when the name is taken again.
   */
  restoreRef(
    repository: string,
    kind: "branch" | "tag",
    name: string,
    options: { readonly who: string; readonly id?: string },
  ): Promise<RefInfo>;

  /** Returns an object's entry. Fails with `object_not_found`. */
  stat(repository: string, ref: string, path: string): Promise<ObjectStats>;
  list(repository: string, ref: string, options?: ListObjectsOptions): AsyncIterable<readonly ListItem[]>;
  /**
   * Opens an object's bytes. A whole read is checked against the entry's SHA-256, or MD5, when it has one: the stream
   * fails with `checksum_mismatch` (kind `corrupt`) before its last piece.
   */
  read(
    repository: string,
    ref: string,
    path: string,
    options?: { range?: ByteRange; signal?: AbortSignal },
  ): Promise<{ stats: ObjectStats; body: ByteStream }>;
  /** Opens a writer on a branch. Fails with `not_a_branch` on a tag or a commit. */
  writer(repository: string, branch: string): Promise<BranchWriter>;

  /** Yields the staged changes of a branch: what a commit would take. */
  status(repository: string, branch: string, options?: DiffOptions): AsyncIterable<readonly DiffItem[]>;
  /** Yields what changed from `left` (older) to `right`. */
  diff(
    repository: string,
    left: string,
    right: string,
    options?: DiffOptions,
  ): AsyncIterable<readonly DiffItem[]>;
  /** Fails with `no_changes` when nothing is staged. */
  commit(repository: string, branch: string, options: CommitOptions): Promise<CommitInfo>;
  getCommit(repository: string, ref: string): Promise<CommitInfo>;
  log(repository: string, ref: string, options?: LogOptions): AsyncIterable<readonly CommitInfo[]>;
  /**
   * Yields the objects of a ref's commit, in key order, each with the commit that last changed it. The first one comes when
   * all are known: the cost is what changed in the commits back to the oldest one named, and memory a small record an object.
   */
  blame(repository: string, ref: string, options?: BlameOptions): AsyncIterable<readonly BlameItem[]>;
  reflog(repository: string, ref?: string): AsyncIterable<readonly ReflogItem[]>;

  /**
   * Merges the last commit of `source` into a branch. Fails with `merge_conflict` (its details hold up to 1,000 conflicting
   * paths and their count), `nothing_to_merge`, `branch_dirty`; then nothing has changed.
   */
  merge(repository: string, source: string, destination: string, options: MergeOptions): Promise<MergeResult>;
  /**
   * Yields what a merge would change on its destination, and all conflicts that would stay, in key order, without writing
   * anything. Fails as `merge` does, but for conflicts.
   */
  previewMerge(
    repository: string,
    source: string,
    destination: string,
    options?: Omit<MergeOptions, "committer">,
  ): AsyncIterable<readonly MergePreviewItem[]>;
  revert(repository: string, branch: string, ref: string, options: PickOptions): Promise<CommitInfo>;
  cherryPick(repository: string, branch: string, ref: string, options: PickOptions): Promise<CommitInfo>;
  /** Drops staged changes: all of a branch, those under a prefix, or that of one object. Returns how many there were. */
  reset(
    repository: string,
    branch: string,
    what: { prefix?: string; path?: string },
    who: string,
  ): Promise<number>;
  /** Moves a branch to a commit and drops its staged changes. */
  hardReset(repository: string, branch: string, ref: string, who: string): Promise<CommitInfo>;

  /** Returns what this store has read and written of committed data since it was opened, if it counts that. */
  costs?(): Promise<StoreCosts>;

  close(): Promise<void>;
}
