/** The cache on local disk. `layout.ts` says what lies where, and which file knows what of it. */

import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { fileLooker } from "../../base/file_state.ts";
import { type Randomness, systemRandomness } from "../../base/randomness.ts";
import type {
  Cache,
  CachedEntry,
  CachedFile,
  CacheKey,
  Download,
  FetchOptions,
  FileVersion,
  FolderDownload,
  FolderFile,
  HeldCache,
  PinKey,
  WaitOptions,
} from "../cache.ts";
import { notCached } from "../errors.ts";
import { Content, type HashFile } from "./content.ts";
import { Eviction } from "./eviction.ts";
import { cacheFailure } from "./failures.ts";
import { type FileRecord, isCurrent } from "./file_records.ts";
import { Files, type Parts } from "./files.ts";
import { type Flush, systemFlush } from "./flushing.ts";
import { fetchFolder } from "./folder_fetch.ts";
import { Folders } from "./folders.ts";
import { Holding } from "./holding.ts";
import { itemLocks } from "./item_locks.ts";
import { type Kin, kinFile } from "./kin.ts";
import { checkKey, keyHash, Layout, makeFolderIn, shownKey } from "./layout.ts";
import { Leases } from "./leases.ts";
import { type HeldLock, Locks } from "./locks.ts";
import { pinned, recordPin } from "./pins.ts";
import { TemporaryFiles } from "./temporary.ts";
import { WriteLock } from "./write_lock.ts";

export interface LocalCacheOptions {
  /** Absolute; made by the first write. */
  readonly root: string;
  /** Absent: nothing is evicted. */
  readonly maxBytes?: number;
  /** Answers from what is there alone. */
  readonly isOffline?: boolean;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Seams for tests. */
  readonly hashFile?: HashFile;
  readonly flush?: Flush;
}

/** Opens a cache in a folder, which is not looked at before something is asked for. */
export async function openLocalCache(options: LocalCacheOptions): Promise<LocalCache> {
  if (!isAbsolute(options.root)) {
    throw new CodedError(
      "invalid",
      "invalid_root",
      `Cannot use folder "${options.root}" as a cache: it is no absolute path`,
    );
  }
  const layout = new Layout(resolve(options.root));
  const clock = options.clock ?? systemClock;
  const { hashFile } = options;
  const look = await fileLooker();
  return new LocalCache(options, {
    layout,
    clock,
    locks: new Locks(layout.locks, makeFolderIn(layout), clock),
    writing: new WriteLock(layout.locks, makeFolderIn(layout)),
    temporary: new TemporaryFiles(layout, options.randomness ?? systemRandomness),
    content: new Content(layout, { look, ...(hashFile ? { hashFile } : {}) }),
  });
}

export interface CacheParts extends Parts {
  readonly clock: Clock;
}

/** Keeps the lease of a call, which would end with it. */
export type Keep = (hash: string, lease: HeldLock) => void;

export class LocalCache implements Cache {
  readonly isOffline: boolean;
  readonly parts: CacheParts;
  readonly leases: Leases;
  readonly eviction: Eviction;
  /** How much it may hold; absent: anything. */
  readonly maxBytes: number | undefined;
  readonly #flush: Flush;
  readonly #files: Files;
  readonly #folders: Folders;
  #isSwept = false;

  constructor(options: LocalCacheOptions, parts: CacheParts) {
    this.isOffline = options.isOffline ?? false;
    this.parts = parts;
    this.leases = new Leases(parts.locks);
    this.eviction = new Eviction({ ...parts, leases: this.leases });
    this.maxBytes = options.maxBytes;
    this.#flush = options.flush ?? systemFlush;
    this.#files = new Files(parts);
    this.#folders = new Folders(parts, this.#files);
  }

  get root(): string {
    return this.parts.layout.root;
  }

  /** Returns this cache so that all it hands out stays until it is released. */
  hold(): HeldCache {
    return new Holding(this);
  }

  file(
    key: CacheKey,
    wanted: FileVersion,
    download: () => Promise<Download>,
    options: FetchOptions = {},
    keep?: Keep,
  ): Promise<CachedFile> {
    return this.#using(key, keep, async () => {
      const found = await this.#files.find(key, this.#now());
      if (this.isOffline) return this.#cached(key, found ?? missing(key));
      if (found && isCurrent(found, wanted)) return this.#cached(key, found);
      return this.#cached(key, await this.#fetchFile(key, wanted, download, options));
    });
  }

  async cachedFile(key: CacheKey, keep?: Keep): Promise<CachedFile | undefined> {
    if (!this.#isThere()) return undefined;
    return await this.#using(key, keep, async () => {
      const found = await this.#files.find(key, this.#now());
      return found && this.#cached(key, found);
    });
  }

  folder(
    key: CacheKey,
    listing: AsyncIterable<readonly FolderFile[]>,
    download: FolderDownload,
    options: FetchOptions & { readonly version?: string } = {},
    keep?: Keep,
  ): Promise<string> {
    return this.#using(key, keep, async () => {
      if (this.isOffline) return await this.#folders.find(key, this.#now()) ?? missing(key);
      await this.#sweepOnce();
      const parts = { ...this.parts, files: this.#files, flush: this.#flush };
      const { signal, version, versionPart } = options;
      const bytes = await this.#inFolder(key, options, () => {
        return fetchFolder(parts, { key, listing, download, version, versionPart, signal });
      });
      await this.#noteWritten(bytes);
      return this.parts.layout.contentOf(key);
    });
  }

  async cachedFolder(key: CacheKey, keep?: Keep): Promise<string | undefined> {
    if (!this.#isThere()) return undefined;
    return await this.#using(key, keep, () => this.#folders.find(key, this.#now()));
  }

  async cachedList(key: CacheKey): Promise<readonly CachedEntry[] | undefined> {
    checkKey(key);
    return await this.#folders.list(key);
  }

  async recordPin(key: PinKey, fixed: string): Promise<void> {
    await recordPin(this.parts, key, fixed);
  }

  async pinned(key: PinKey): Promise<string | undefined> {
    return await pinned(this.parts, key);
  }

  /** Removes this process's temporary files. */
  async close(): Promise<void> {
    await this.parts.temporary.close();
    await this.parts.writing.close();
  }

  async #fetchFile(
    key: CacheKey,
    wanted: FileVersion,
    download: () => Promise<Download>,
    { signal, versionPart }: FetchOptions,
  ): Promise<FileRecord> {
    const { layout, locks } = this.parts;
    await this.#sweepOnce();
    let writtenBytes = 0;
    const file = await locks.holding(keyHash(key), async () => {
      // Whoever had the lock before may have downloaded the same.
      const found = await this.#files.find(key, this.#now());
      if (found && isCurrent(found, wanted)) return found;
      const copy = versionPart === undefined ? undefined : await this.#copyFile({ key, versionPart }, wanted);
      if (copy) {
        writtenBytes = copy.size;
        return copy;
      }
      const came = await download();
      const { sizeBytes, sha256 } = wanted;
      const expected = came.version === wanted.version ? { sizeBytes, sha256 } : {};
      const writes = { isFlushed: true, isRecorded: true, signal };
      const record = await this.#files.write(key, { ...expected, ...came }, writes);
      await this.#flush.files(layout.root, [layout.contentOf(key), layout.metaOf(key)]);
      writtenBytes = record.size;
      return record;
    }, { signal });
    await this.#noteWritten(writtenBytes);
    return file;
  }

  async #copyFile(kin: Kin, wanted: FileVersion): Promise<FileRecord | undefined> {
    const { layout } = this.parts;
    const from = await kinFile({ ...this.parts, files: this.#files }, kin, { wanted, nowMs: this.#now() });
    const version = { version: wanted.version };
    const copy = from && await this.#files.copy(
      kin.key,
      { ...from, record: { ...from.record, ...version } },
      { isRecorded: true },
    );
    if (copy) await this.#flush.files(layout.root, [layout.contentOf(kin.key), layout.metaOf(kin.key)]);
    return copy;
  }

  #cached(key: CacheKey, { version, size, sha256 }: FileRecord): CachedFile {
    return { path: this.parts.layout.contentOf(key), version, sizeBytes: size, sha256 };
  }

  /** Runs work while no other fetch changes the folder, one around it or one in it. */
  async #inFolder<T>(key: CacheKey, { signal }: WaitOptions, work: () => Promise<T>): Promise<T> {
    const { locks } = this.parts;
    const held: HeldLock[] = [];
    try {
      for (const { name, shared } of itemLocks(key)) held.push(await locks.take(name, { shared, signal }));
      return await work();
    } finally {
      for (const lock of held.reverse()) lock.release();
    }
  }

  /** Runs a call that uses something: eviction leaves it alone until the call has ended, or for as long as it is kept. */
  async #using<T>(key: CacheKey, keep: Keep | undefined, work: () => Promise<T>): Promise<T> {
    checkKey(key);
    let lease: HeldLock | undefined;
    let isKept = false;
    try {
      lease = await this.leases.take(key);
      const result = await work();
      if (keep && result !== undefined) {
        keep(keyHash(key), lease);
        isKept = true;
      }
      return result;
    } catch (error) {
      throw cacheFailure(error, "fetch", shownKey(key));
    } finally {
      if (!isKept) lease?.release();
    }
  }

  async #noteWritten(bytes: number): Promise<void> {
    if (this.maxBytes !== undefined && bytes > 0) await this.eviction.noteWritten(bytes, this.maxBytes);
  }

  /** The first write of a process clears the locks that killed ones left. */
  async #sweepOnce(): Promise<void> {
    if (this.#isSwept) return;
    this.#isSwept = true;
    await this.parts.locks.sweep();
  }

  #isThere(): boolean {
    return existsSync(this.parts.layout.own);
  }

  #now(): number {
    return this.parts.clock.now();
  }
}

function missing(key: CacheKey): never {
  throw notCached("fetch", shownKey(key));
}
