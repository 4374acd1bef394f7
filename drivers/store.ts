/**
 * The store contract: what every versioned place can do, whatever stands behind it. Commands and servers are written
 * once against this; the embedded engine (`engine/store.ts`) is its first implementation.
 *
 * Refs are texts in the grammar of ref expressions (`main`, `v1.0`, `main~2`, a commit ID or its unique prefix).
 * Paths are texts of 1 to 1,024 bytes of UTF-8. Lists come in pages and lazily: what is not asked for is not read.
 */

import type { ByteRange, ByteStream } from "./object_store.ts";
import type { Selector } from "../base/uri.ts";
import type { BlameItem, BlameOptions, LogOptions, ReflogItem } from "./history.ts";
import type { MergeOptions, MergePreviewItem, MergeResult, PickOptions } from "./merging.ts";
import type { CommittedFile, Settings } from "./settings.ts";
import type { CommitNotes } from "./commit_notes.ts";
import type { CheckCounts, CheckOptions, Damage } from "./checking.ts";
import type { Tasks } from "./tasks.ts";
import type { Uploads } from "./uploads.ts";

export { checkMetadata, checkObjectText, type ObjectText } from "./object_text.ts";
export { commitJson, objectJson, refJson, repositoryJson } from "./json.ts";
export type * from "./commit_notes.ts";
export type * from "./history.ts";
export type * from "./merging.ts";
export type * from "./settings.ts";
export type * from "./tasks.ts";
export * from "./uploads.ts";

export type Capability = "read" | "write" | "commit" | "branch" | "tag" | "merge" | "time" | "repositories";

export interface RepositoryInfo {
  readonly id: string;
  readonly storageNamespace: string;
  readonly defaultBranch: string;
  /** Seconds since the epoch. */
  readonly creationDate: number;
}

/** What a repository is to be. */
export interface NewRepository {
  readonly storageNamespace?: string;
  readonly defaultBranch?: string;
  readonly raggedness?: number;
  readonly committer: string;
}

export interface RefInfo {
  readonly id: string;
  readonly commitId: string;
  /** Of a branch that was made for a passing purpose: listings for people may leave it out. */
  readonly isHidden?: boolean;
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

/** The commits of two refs, and the nearest one that both are made on. */
export interface Fork {
  readonly leftCommitId: string;
  readonly rightCommitId: string;
  /** Absent when their histories have nothing in common. */
  readonly baseCommitId?: string;
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
  /** Gives up, having changed nothing: fails with `canceled`. */
  readonly signal?: AbortSignal;
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
  /** Both are those of an object that is there, and may be older than the rule for them (`checkObjectText`). */
  readonly isCarriedOver?: boolean;
  /** Fails with `object_exists` if the path is taken. */
  readonly ifAbsent?: boolean;
  /** Fails with `object_changed` unless the path shows an object with one of these checksums, or with any. */
  readonly ifMatch?: "any" | readonly string[];
}

/** Metadata, or what is made of that which an object has when it is replaced. */
export type NewMetadata =
  | Readonly<Record<string, string>>
  | ((stats: ObjectStats) => Readonly<Record<string, string>>);

/** An object of the same repository, to be copied. */
export interface CopySource {
  readonly ref: string;
  readonly path: string;
  /** Is shown the object that is copied, and throws to refuse it. */
  readonly check?: (stats: ObjectStats) => void;
}

/** Metadata and content type take the place of the source's where they are given. */
export interface CopyObjectOptions extends Omit<PutObjectOptions, "metadata"> {
  readonly metadata?: NewMetadata;
  /** Counts as written now, and not when the source was. */
  readonly isNew?: boolean;
}

/** An address that was issued for an object which its writer stores there itself. */
export interface IssuedAddress {
  readonly physicalAddress: string;
  /** Seconds since the epoch. */
  readonly expires: number;
}

/**
 * What an acknowledged write survives: `strict` the loss of power; `relaxed` a kill of the process at once, and the loss of
 * power within a second, or with the commit that takes it.
 */
export type Durability = "strict" | "relaxed";

/** The bytes of an object, or of a part of it, in a local file. They were checked as those of a read are. */
export interface LocalPart {
  readonly path: string;
  readonly start: number;
  readonly length: number;
}

export interface ReadOptions {
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
  /** If there are so many bytes or more, and they lie in a local file, that is named. */
  readonly fileBytes?: number;
}

export interface ReadResult {
  readonly stats: ObjectStats;
  /** Beside a `file` it is opened only when it is read. */
  readonly body: ByteStream;
  readonly file?: LocalPart;
}

export interface WriterOptions {
  /** Strict by default. */
  readonly durability?: Durability;
  /** Whether single writes wait for others that come at the same time, and share their flushes: for who serves many. */
  readonly sharesFlushes?: boolean;
  /** Once it is raised, uploads fail with `canceled`; the caller then calls `abandon`. */
  readonly signal?: AbortSignal;
}

/** What a writer says of an object that it stored at an issued address. */
export interface LinkOptions extends PutObjectOptions {
  readonly physicalAddress: string;
  /** The ETag; if it has the form of an MD5, it must be that of the bytes. */
  readonly checksum: string;
  readonly sizeBytes: number;
}

/** A small file that lies in memory whole, to be put under a path. */
export interface FileBody {
  readonly path: string;
  readonly body: Uint8Array;
}

/**
 * Many writes to one branch. `put` returns once the object's bytes are stored and hashed; nothing is acknowledged
 * before `flush` or `close` has returned: then all of it is staged and, if the writer is strict, durable. Puts may run side by side.
 */
export interface BranchWriter {
  put(path: string, body: Uint8Array | ByteStream, options?: PutObjectOptions): Promise<ObjectStats>;
  /**
   * Puts many small files, as `put` would one by one, at less cost. Their bodies may not be changed before the call has
   * settled. When a path or the metadata is refused, nothing of them is put.
   */
  putMany(
    files: readonly FileBody[],
    options?: Pick<PutObjectOptions, "contentType" | "metadata">,
  ): Promise<void>;
  /**
   * Stages an object of the same repository under another path: the entry is copied, no bytes move.
   * Fails with `object_not_found`, and under conditions as `put` does.
   */
  copy(path: string, source: CopySource, options?: CopyObjectOptions): Promise<ObjectStats>;
  /** Replaces the metadata of an object, and nothing else; staged when it returns. Fails with `object_not_found`. */
  setMetadata(path: string, metadata: NewMetadata): Promise<ObjectStats>;
  /**
   * Stages a deletion; a path that is not there is no error and no change. Under a condition it is staged when it returns, and
   * fails with `object_changed`.
   */
  delete(path: string, options?: Pick<PutObjectOptions, "ifMatch">): Promise<void>;
  flush(): Promise<void>;
  /** Flushes, then frees what the writer holds. */
  close(): Promise<void>;
  /**
   * Gives up: takes away the objects that were stored and not yet staged, when what is under way has ended; whatever the
   * writer is asked for later fails with `canceled`. What is being staged when it is called may be staged or not, whole.
   */
  abandon(): Promise<void>;
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

  createRepository(name: string, options: NewRepository): Promise<RepositoryInfo>;
  /** Fails where {@link createRepository} would, as far as that can be told before there is a place to keep it in. */
  checkNewRepository?(name: string, options: NewRepository): Promise<void>;
  listRepositories(options?: { prefix?: string; after?: string }): AsyncIterable<readonly RepositoryInfo[]>;
  getRepository(name: string): Promise<RepositoryInfo>;
  /**
   * Deletes a repository with its history. With `ifEmpty` only one in which nothing is to be seen, no object on any branch and
   * no tag: a write that was acknowledged meanwhile is found. Fails with `repository_not_empty`.
   */
  deleteRepository(name: string, options?: { readonly ifEmpty?: boolean }): Promise<void>;
  /** Returns what users have noted on a repository. */
  getRepositoryMetadata(name: string): Promise<Readonly<Record<string, string>>>;
  /** Sets pairs and removes keys, in one change. Fails with `limit_exceeded`, `invalid_metadata`, `try_again`. */
  changeRepositoryMetadata(
    name: string,
    change: { readonly set?: Readonly<Record<string, string>>; readonly remove?: readonly string[] },
  ): Promise<void>;

  /** Returns a ref expression for a selector: a branch or tag checked to be one, or a commit ID for `commit:` and `ts:`. */
  select(repository: string, selector: Selector, ref: string | undefined): Promise<string>;
  /** Returns the full ID of the commit that a ref expression names. */
  resolve(repository: string, ref: string): Promise<string>;

  listBranches(
    repository: string,
    options?: { prefix?: string; after?: string },
  ): AsyncIterable<readonly RefInfo[]>;
  getBranch(repository: string, branch: string): Promise<RefInfo>;
  createBranch(
    repository: string,
    branch: string,
    source: string,
    who: string,
    options?: { readonly isHidden?: boolean },
  ): Promise<RefInfo>;
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
    options?: ReadOptions,
  ): Promise<ReadResult>;
  /** Issues an address in the repository's own storage, good once, for one branch and path. */
  issueAddress(repository: string, branch: string, path: string): Promise<IssuedAddress>;
  /**
   * Stages the object that was stored at an issued address. Fails with `address_not_issued` for any other address, one that
   * was issued for another branch or path, was used, or has expired; with `link_mismatch` when the bytes there are not those
   * that are told of.
   */
  linkAddress(repository: string, branch: string, path: string, options: LinkOptions): Promise<ObjectStats>;
  /** Opens a writer on a branch, strict unless told otherwise. Fails with `not_a_branch` on a tag or a commit. */
  writer(
    repository: string,
    branch: string,
    options?: WriterOptions,
  ): Promise<BranchWriter>;

  /** Yields the staged changes of a branch: what a commit would take. */
  status(repository: string, branch: string, options?: DiffOptions): AsyncIterable<readonly DiffItem[]>;
  /** Yields what changed from `left` (older) to `right`. */
  diff(
    repository: string,
    left: string,
    right: string,
    options?: DiffOptions,
  ): AsyncIterable<readonly DiffItem[]>;
  /**
   * Yields what `right` has changed since it parted from `left`, that is what a merge of it into `left` would do; a path that
   * both changed, and differently, is a `conflict`. The sides of an item are what `left` has and what `right` has.
   */
  compare(
    repository: string,
    left: string,
    right: string,
    options?: DiffOptions,
  ): AsyncIterable<readonly DiffItem[]>;
  /** Returns the commits of two refs and the one from which a merge of them starts. */
  fork(repository: string, left: string, right: string): Promise<Fork>;
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
   * anything. Fails as `merge` does, but for conflicts; with `branch_dirty` only when all has been yielded.
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
  /** Moves a branch to a commit and drops its staged changes; with `keepsStaged` they are a reason to refuse: `branch_dirty`. */
  hardReset(
    repository: string,
    branch: string,
    ref: string,
    who: string,
    options?: { readonly keepsStaged?: boolean },
  ): Promise<CommitInfo>;

  /** What is set for repositories as a whole. */
  readonly settings: Settings;
  /** Fails with `invalid_id`, `committed_file_not_found`. */
  committedFile(repository: string, kind: "range" | "meta_range", id: string): Promise<CommittedFile>;

  /**
   * Writes, for each folder of paths under `path` that a branch shows, a file `symlink.txt` of the physical addresses of its
   * objects into the storage namespace, if the store can do that; returns where they lie. Fails with `branch_not_found`,
   * `unplaceable_key`.
   */
  writeSymlinks?(repository: string, branch: string, path: string): Promise<string>;

  /** What runs for long without anybody waiting, if the store can do that. */
  readonly tasks?: Tasks;
  /** Yields what is missing or damaged of what a repository's refs lead to; returns what was looked at. */
  check?(repository: string, options?: CheckOptions): AsyncGenerator<Damage, CheckCounts>;

  /** What servers are to commit by themselves, if the store keeps notes of that. */
  readonly commitNotes?: CommitNotes;

  /** Objects that come in parts, if the store can take them. */
  readonly uploads?: Uploads;

  /** Returns what this store has read and written of committed data since it was opened, if it counts that. */
  costs?(): Promise<StoreCosts>;

  close(): Promise<void>;
}
