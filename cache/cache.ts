/**
 * The cache contract: files and folders of stores as plain local files, with the pins that were found.
 *
 * What is cached is named by a store and the parts of a place in it; its local path is `<root>/<store>/<part>/…`. A file
 * shows under its path whole or not at all, and counts only while its record holds. `offline` caches answer and are never
 * asked to download; drivers look at `isOffline` before they open a connection.
 */

/** Bytes that arrive in pieces; a piece may not be kept after asking for the next. */
export type Bytes = AsyncIterable<Uint8Array>;

/** Names something cached: the scheme of a store, and the parts of the place in it, each one name on a disk. */
export interface CacheKey {
  readonly store: string;
  readonly parts: readonly string[];
}

/** What a store says of a file now. A cached one is current if the hash is the same, or the version where there is none. */
export interface FileVersion {
  readonly version: string;
  readonly sizeBytes?: number;
  /** In hex. */
  readonly sha256?: string;
}

/** A download under way; its version is the one that came with the bytes. */
export interface Download {
  readonly version: string;
  readonly body: Bytes;
  /** Checked when they are given: a download that differs is not kept, and fails with `checksum_mismatch`. */
  readonly sizeBytes?: number;
  readonly sha256?: string;
}

export interface CachedFile {
  readonly path: string;
  readonly version: string;
  readonly sizeBytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** A file in a folder that is fetched; `path` is relative to it, with slashes. */
export interface FolderFile extends FileVersion {
  readonly path: string;
}

/** How the files of a folder come: each by itself, side by side; or those that are asked for in one stream, in any order. */
export type FolderDownload =
  | { readonly each: (file: FolderFile) => Promise<Download> }
  | {
    readonly stream: (
      files: readonly FolderFile[],
    ) => AsyncIterable<{ readonly path: string; readonly download: Download }>;
  };

/** What a listing of a cached folder shows. */
export interface CachedEntry {
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly sizeBytes?: number;
  readonly version?: string;
}

/** A moving name of a store, such as a branch; names of different kinds never meet. */
export interface PinKey {
  readonly store: string;
  readonly place: string;
  readonly kind: string;
  readonly name: string;
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
}

export interface FetchOptions extends WaitOptions {
  /**
   * Which part of the key picks a version, such as a commit: what is the same in another version that is cached is copied from
   * there. For stores whose versions, or hashes, say what the content is.
   */
  readonly versionPart?: number;
}

export interface Cache {
  readonly isOffline: boolean;

  /**
   * Returns a file that is current, downloaded if the cached one is not. Of callers at the same time, in any process, one
   * downloads. Fails with `cache_clash` when a folder is where the file belongs, `unplaceable_key`, `disk_full`.
   */
  file(
    key: CacheKey,
    wanted: FileVersion,
    download: () => Promise<Download>,
    options?: FetchOptions,
  ): Promise<CachedFile>;

  /** Returns a file as it was fetched last, alone or with its folder, or `undefined`. */
  cachedFile(key: CacheKey): Promise<CachedFile | undefined>;

  /**
   * Makes a folder hold exactly what a listing says, and returns its path. All names are checked before the first byte is
   * written; what is current stays; what the listing lacks is deleted. Files are downloaded side by side, within bounds.
   * Fails with `unplaceable_key` for names that one disk would merge, or that none takes.
   */
  folder(
    key: CacheKey,
    listing: AsyncIterable<readonly FolderFile[]>,
    download: FolderDownload,
    options?: FetchOptions & { readonly version?: string },
  ): Promise<string>;

  /** Returns the path of a folder that was fetched whole, alone or inside another, or `undefined`. */
  cachedFolder(key: CacheKey): Promise<string | undefined>;

  /** Returns what lies directly in a folder that was fetched whole, in byte order of names, or `undefined`. */
  cachedList(key: CacheKey): Promise<readonly CachedEntry[] | undefined>;

  /** Notes what a moving name stands for now. */
  recordPin(key: PinKey, fixed: string): Promise<void>;
  /** Returns what a moving name was last found to stand for. */
  pinned(key: PinKey): Promise<string | undefined>;
}

/** A cache that keeps all it hands out from being evicted, in every process, until it is released. */
export interface HeldCache extends Cache {
  release(): Promise<void>;
}
