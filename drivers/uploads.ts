/**
 * Uploads in parts: an object that comes in pieces, in any order, and is there when all of them are declared complete.
 *
 * Parts are no objects that anybody sees. An upload is known to all who use the store; it expires when nothing has come to it
 * for days, and what was stored for it is then deleted ({@link Uploads.dropExpired}).
 *
 *     start -> open -> completed      the object is there, whole
 *                 \--> aborted        nothing is left
 *
 * Of completions and aborts that meet, one wins, and the others are told that there is no such upload. A part that is
 * written while the upload ends is in the object or is deleted.
 */

import type { ByteRange, ByteStream } from "./object_store.ts";
import type { Durability, ObjectStats, PutObjectOptions } from "./store.ts";

export const MAX_PART_NUMBER = 10_000;

/** Which upload. Branch and path are those that it was started for, or it is not found. */
export interface UploadPlace {
  readonly repository: string;
  readonly branch: string;
  readonly path: string;
  readonly id: string;
}

export interface StartUploadOptions extends Pick<PutObjectOptions, "contentType" | "metadata"> {
  readonly who: string;
  /** Kept for whoever started it, and not understood. */
  readonly notes?: Readonly<Record<string, string>>;
}

export interface UploadInfo {
  readonly id: string;
  readonly branch: string;
  readonly path: string;
  readonly who: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  readonly notes: Readonly<Record<string, string>>;
}

export interface PartInfo {
  readonly number: number;
  readonly sizeBytes: number;
  /** The MD5 in hex. */
  readonly checksum: string;
  /** Milliseconds since the epoch. */
  readonly storedMs: number;
  /** What its writer had noted; empty when that was nothing. */
  readonly note: string;
}

export interface PutPartOptions {
  /** Strict by default. */
  readonly durability?: Durability;
  /** How many bytes the body has, if that is known: a longer one fails. */
  readonly sizeBytes?: number;
  /** Asked when the body has been taken whole: what is to be kept with the part. */
  readonly note?: () => string;
}

/** An object, or a range of its bytes, that becomes a part. */
export interface PartSource {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
  readonly range?: ByteRange;
  /** Called with the object before anything is copied; throws to refuse it. */
  readonly check?: (stats: ObjectStats) => void;
}

export interface CopyPartOptions extends Pick<PutPartOptions, "durability"> {
  readonly signal?: AbortSignal;
  /** Given the bytes as they pass, and asked for the note when all have. */
  readonly watch?: { update(piece: Uint8Array): void; note(): string };
}

export interface NamedPart {
  readonly number: number;
  readonly checksum: string;
}

export interface CompleteUploadOptions extends Pick<PutObjectOptions, "ifAbsent" | "ifMatch"> {
  readonly durability?: Durability;
  /**
   * Called with the parts that were named before anything is done; throws to refuse them. Returns what is to be kept with the
   * result.
   */
  readonly judge?: (parts: readonly PartInfo[], upload: UploadInfo) => string | Promise<string>;
}

export interface CompletedUpload {
  readonly stats: ObjectStats;
  /** What `judge` returned when the upload was completed. */
  readonly note: string;
}

export interface ListUploadsOptions {
  /** Of `BRANCH/PATH`. */
  readonly prefix?: string;
  /** Only what sorts behind an upload of this `BRANCH/PATH`; without an `id`, behind all of it. */
  readonly after?: { readonly name: string; readonly id?: string };
}

/** Each fails with `upload_not_found` for an upload that is not open, unless it says otherwise. */
export interface Uploads {
  /** Fails as an open writer and its put would. */
  start(
    repository: string,
    branch: string,
    path: string,
    options: StartUploadOptions,
  ): Promise<UploadInfo>;
  get(place: UploadPlace): Promise<UploadInfo>;
  /**
   * Stores a part, in the place of one of the same number. Fails with `invalid_part_number`, or as its body does: then the
   * former part stays.
   */
  putPart(
    place: UploadPlace,
    number: number,
    body: Uint8Array | ByteStream,
    options?: PutPartOptions,
  ): Promise<PartInfo>;
  /** Makes a part of what is stored. Within a repository nothing is written. Fails as `putPart` and `Store.read` do. */
  copyPart(
    place: UploadPlace,
    number: number,
    source: PartSource,
    options?: CopyPartOptions,
  ): Promise<{ readonly part: PartInfo; readonly source: ObjectStats }>;
  /** Yields the parts in order of their numbers, from behind `after`. */
  parts(place: UploadPlace, options?: { readonly after?: number }): AsyncIterable<readonly PartInfo[]>;
  /**
   * Makes the object of the parts named, in this order; others are dropped. The ETag is the MD5 of their MD5s, `-`, and how
   * many there are. When it has returned, all holds that does for a put; on failure the upload is as it was.
   *
   * For some minutes a repetition gets the same answer, whatever the path shows by then. Fails with `invalid_part_order`,
   * `part_not_found` (also for one that is another by now, or whose bytes were lost), or as a writer and its put would.
   */
  complete(
    place: UploadPlace,
    parts: readonly NamedPart[],
    options?: CompleteUploadOptions,
  ): Promise<CompletedUpload>;
  /** Drops the upload and all that was stored for it. */
  abort(place: UploadPlace): Promise<void>;
  /** Yields open uploads in byte order of `BRANCH/PATH`, those of one path in the order in which they were started. */
  list(repository: string, options?: ListUploadsOptions): AsyncIterable<readonly UploadInfo[]>;
  /** Drops up to `atMost` uploads that have expired, and what is left of others. Each start does it for a few. */
  dropExpired(repository: string, atMost?: number): Promise<number>;
}
