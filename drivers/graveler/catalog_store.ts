/**
 * A versioned store in the catalog: `store://repository/ref/key`, over anything that keeps the store contract.
 *
 * A branch is read as it is, with what is not committed, and cached under its name; whatever is fixed is cached under its
 * commit. Offline, nothing but the cache answers.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { isCoded } from "../../base/errors.ts";
import { formatUri, type Uri } from "../../base/uri.ts";
import { type Cache, type CacheKey, type Download, type FolderFile, notCached } from "../../cache/mod.ts";
import { abortable } from "../byte_streams.ts";
import { CatalogStoreBase, noFolderAt, nothingAt, unusableUri } from "../catalog_base.ts";
import type {
  CallOptions,
  CatalogCommitOptions,
  CatalogMergeOptions,
  CatalogStore,
  Entry,
  PutSource,
} from "../catalog_store.ts";
import { sourceBytes } from "../put_source.ts";
import type { ListItem, ObjectStats, Store } from "../store.ts";
import { cacheParts, keyOf, locationOf, pinnedUri, type RefLocation, refLocationOf } from "./location.ts";
import { Refs, type Version } from "./refs.ts";

export interface GravelerOptions {
  readonly name: string;
  readonly store: Store;
  readonly clock?: Clock;
  /** Whether closing this closes the store. */
  readonly ownsStore?: boolean;
}

/** How often a folder of a branch is listed anew when objects vanish while it is fetched. */
const MOST_LISTINGS = 5;

export function openGravelerStore(options: GravelerOptions): CatalogStore {
  return new GravelerStore(options);
}

class GravelerStore extends CatalogStoreBase {
  readonly #store: Store;
  readonly #refs: Refs;
  readonly #ownsStore: boolean;

  constructor({ name, store, clock = systemClock, ownsStore = false }: GravelerOptions) {
    super(name, "graveler");
    this.#store = store;
    this.#refs = new Refs({ name, store, clock });
    this.#ownsStore = ownsStore;
  }

  override async pin(uri: Uri, cache: Cache): Promise<Uri> {
    const location = refLocationOf(uri);
    const commit = cache.isOffline
      ? await this.#refs.pinned(location, cache, uri)
      : await this.#refs.pin(location, cache);
    return pinnedUri(uri, location, commit);
  }

  async stat(uri: Uri, cache: Cache): Promise<Entry> {
    const location = locationOf(uri);
    if (!isRef(location)) return await this.#statPlace(uri, location.repository);
    if (cache.isOffline) return await this.#statOffline(uri, location, cache);
    const version = await this.#refs.version(location, cache);
    const name = location.parts.at(-1) ?? version.ref;
    const file = await this.#file(location, version);
    if (file) return fileEntry(name, file);
    if (!await this.#isFolder(location, version)) throw nothingAt(uri);
    return { name, kind: "folder", ...(version.isFixed ? { version: version.ref } : {}) };
  }

  async *list(uri: Uri, cache: Cache): AsyncGenerator<readonly Entry[]> {
    const location = locationOf(uri);
    if (cache.isOffline) yield await this.#listOffline(uri, cache);
    else if (isRef(location)) {
      yield* this.#listFolder(uri, location, await this.#refs.version(location, cache));
    } else {
      const { repository } = location;
      const pages = repository === "" ? this.#store.listRepositories() : this.#store.listBranches(repository);
      for await (const page of pages) yield page.map(({ id }) => ({ name: id, kind: "folder" }));
    }
  }

  async fetch(uri: Uri, cache: Cache, options: CallOptions = {}): Promise<string> {
    const location = refLocationOf(uri);
    if (cache.isOffline) return await this.#fetchOffline(uri, location, cache);
    const version = await this.#refs.version(location, cache);
    const file = await this.#file(location, version);
    if (!file) return await this.#fetchFolder(uri, location, { ...options, version, cache });
    const { path } = await cache.file(
      this.#cacheKey(location, version.ref),
      versionOf(file),
      () => this.#download(location.repository, version.ref, { path: file.path, ...options }),
      options,
    );
    return path;
  }

  override async put(
    uri: Uri,
    source: PutSource,
    _cache: Cache,
    { signal }: CallOptions = {},
  ): Promise<Entry> {
    const location = objectLocation(uri);
    const branch = await this.#refs.branch(location, uri);
    const writer = await this.#store.writer(location.repository, branch);
    let isClosed = false;
    try {
      const stats = await writer.put(keyOf(location), abortable(sourceBytes(source), signal));
      isClosed = true;
      await writer.close();
      return fileEntry(location.parts.at(-1)!, stats);
    } finally {
      if (!isClosed) await writer.close().catch(() => {});
    }
  }

  override async delete(uri: Uri): Promise<void> {
    const location = objectLocation(uri);
    const { repository } = location;
    const branch = await this.#refs.branch(location, uri);
    if (!await this.#file(location, { ref: branch, isFixed: false })) throw nothingAt(uri);
    const writer = await this.#store.writer(repository, branch);
    try {
      await writer.delete(keyOf(location));
    } finally {
      await writer.close();
    }
  }

  override async commit(uri: Uri, { isPartial = false, ...options }: CatalogCommitOptions): Promise<Uri> {
    const location = refLocationOf(uri);
    const branch = await this.#refs.branch(location, uri);
    const key = keyOf(location);
    const paths = isPartial && key !== ""
      ? { paths: location.isFolder ? [`${key}/`] : [key, `${key}/`] }
      : {};
    const { id } = await this.#store.commit(location.repository, branch, { ...options, ...paths });
    return pinnedUri(uri, location, id);
  }

  override async branch(
    uri: Uri,
    source: string,
    { committer }: { readonly committer: string },
  ): Promise<void> {
    const { repository, ref, at } = refLocationOf(uri);
    if (at && at.kind !== "branch") throw unusableUri(uri, `"${at.kind}:" is no name of a branch`);
    await this.#store.createBranch(repository, at?.value ?? ref!, source, committer);
  }

  override async merge(uri: Uri, source: string, options: CatalogMergeOptions): Promise<Uri> {
    const location = refLocationOf(uri);
    const branch = await this.#refs.branch(location, uri);
    const { reference } = await this.#store.merge(location.repository, source, branch, options);
    return pinnedUri(uri, location, reference);
  }

  override async close(): Promise<void> {
    if (this.#ownsStore) await this.#store.close();
  }

  /** Returns the object of a location, unless the URI says that it means a folder. */
  async #file(location: RefLocation, { ref }: Version): Promise<ObjectStats | undefined> {
    if (location.parts.length === 0 || location.isFolder) return undefined;
    try {
      return await this.#store.stat(location.repository, ref, keyOf(location));
    } catch (error) {
      if (isCoded(error, "object_not_found", "invalid_path")) return undefined;
      throw error;
    }
  }

  async #isFolder(location: RefLocation, version: Version): Promise<boolean> {
    // A branch without an object is a folder all the same.
    if (location.parts.length === 0) return true;
    for await (const page of this.#objects(location, version, { amount: 1 })) {
      if (page.length > 0) return true;
    }
    return false;
  }

  #objects(
    location: RefLocation,
    { ref }: Version,
    options: { delimiter?: string; amount?: number } = {},
  ): AsyncIterable<readonly ListItem[]> {
    return this.#store.list(location.repository, ref, { ...options, prefix: prefixOf(location) });
  }

  async *#listFolder(uri: Uri, location: RefLocation, version: Version): AsyncGenerator<readonly Entry[]> {
    const start = prefixOf(location).length;
    let isThere = location.parts.length === 0;
    for await (const page of this.#objects(location, version, { delimiter: "/" })) {
      isThere ||= page.length > 0;
      const entries = page.map((item): Entry =>
        item.kind === "object"
          ? fileEntry(item.stats.path.slice(start), item.stats)
          : { name: item.path.slice(start, -1), kind: "folder" }
      );
      // An object that has the folder's own name with a slash marks a folder, and is nothing in it.
      yield entries.filter(({ name, kind }) => name !== "" || kind === "folder");
    }
    if (isThere) return;
    throw await this.#file(location, version) ? noFolderAt(uri) : nothingAt(uri);
  }

  async #fetchFolder(
    uri: Uri,
    location: RefLocation,
    { version, cache, signal }: CallOptions & { version: Version; cache: Cache },
  ): Promise<string> {
    if (!await this.#isFolder(location, version)) throw nothingAt(uri);
    const { repository } = location;
    const prefix = prefixOf(location);
    for (let listings = 1;; listings++) {
      try {
        return await cache.folder(
          this.#cacheKey(location, version.ref),
          this.#folderFiles(location, version),
          { each: ({ path }) => this.#download(repository, version.ref, { path: prefix + path, signal }) },
          { signal, ...(version.isFixed ? { version: version.ref } : {}) },
        );
      } catch (error) {
        // On a branch an object may be deleted after it was listed.
        if (version.isFixed || listings === MOST_LISTINGS || !isCoded(error, "object_not_found")) throw error;
      }
    }
  }

  async *#folderFiles(location: RefLocation, version: Version): AsyncGenerator<readonly FolderFile[]> {
    const start = prefixOf(location).length;
    for await (const page of this.#objects(location, version)) {
      const files: FolderFile[] = [];
      for (const item of page) {
        if (item.kind !== "object" || isMarker(item.stats)) continue;
        files.push({ path: item.stats.path.slice(start), ...versionOf(item.stats) });
      }
      yield files;
    }
  }

  async #download(
    repository: string,
    ref: string,
    { path, signal }: CallOptions & { path: string },
  ): Promise<Download> {
    const { stats, body } = await this.#store.read(repository, ref, path, { signal });
    return { body, ...versionOf(stats) };
  }

  async #statPlace(uri: Uri, repository: string): Promise<Entry> {
    if (repository === "") throw unusableUri(uri, "it names no repository");
    await this.#store.getRepository(repository);
    return { name: repository, kind: "folder" };
  }

  #cacheKey(location: RefLocation, ref: string): CacheKey {
    return { store: this.name, parts: cacheParts(location, ref) };
  }

  /** Returns where a location may be in the cache: under the name of its branch, or under the commit that was pinned last. */
  async #cachedKeys(location: RefLocation, cache: Cache): Promise<readonly CacheKey[]> {
    const name = location.at ? location.at.kind === "branch" ? location.at.value : undefined : location.ref;
    const refs = [name, await this.#refs.findPinned(location, cache)].filter((ref) => ref !== undefined);
    return refs.map((ref) => this.#cacheKey(location, ref));
  }

  async #fetchOffline(uri: Uri, location: RefLocation, cache: Cache): Promise<string> {
    for (const key of await this.#cachedKeys(location, cache)) {
      const file = location.isFolder || location.parts.length === 0 ? undefined : await cache.cachedFile(key);
      const path = file?.path ?? await cache.cachedFolder(key);
      if (path !== undefined) return path;
    }
    throw notCached("fetch", formatUri(uri));
  }

  async #statOffline(uri: Uri, location: RefLocation, cache: Cache): Promise<Entry> {
    for (const key of await this.#cachedKeys(location, cache)) {
      const name = location.parts.at(-1) ?? key.parts[1]!;
      const file = location.isFolder || location.parts.length === 0 ? undefined : await cache.cachedFile(key);
      if (file) {
        return { name, kind: "file", sizeBytes: file.sizeBytes, version: file.version, sha256: file.sha256 };
      }
      if (await cache.cachedList(key)) return { name, kind: "folder" };
    }
    throw notCached("stat", formatUri(uri));
  }

  async #listOffline(uri: Uri, cache: Cache): Promise<readonly Entry[]> {
    const location = locationOf(uri);
    for (const key of isRef(location) ? await this.#cachedKeys(location, cache) : []) {
      const entries = await cache.cachedList(key);
      if (entries) return entries;
    }
    throw notCached("list", formatUri(uri));
  }
}

function isRef(location: { readonly ref?: string; readonly at?: unknown }): location is RefLocation {
  return location.ref !== undefined || location.at !== undefined;
}

function objectLocation(uri: Uri): RefLocation {
  const location = refLocationOf(uri);
  if (location.parts.length === 0 || location.isFolder) throw unusableUri(uri, "it names no object");
  return location;
}

function prefixOf(location: RefLocation): string {
  return location.parts.length === 0 ? "" : `${keyOf(location)}/`;
}

function isMarker({ path, sizeBytes }: ObjectStats): boolean {
  return sizeBytes === 0 && path.endsWith("/");
}

function versionOf({ checksum, sizeBytes, sha256 }: ObjectStats): {
  version: string;
  sizeBytes: number;
  sha256?: string;
} {
  return { version: checksum, sizeBytes, ...(sha256 === undefined ? {} : { sha256 }) };
}

function fileEntry(name: string, stats: ObjectStats): Entry {
  return { name, kind: "file", ...versionOf(stats), modifiedMs: stats.mtimeMs };
}
