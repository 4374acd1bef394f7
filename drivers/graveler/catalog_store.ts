/**
 * A versioned store in the catalog: `store://repository/ref/key`, over anything that keeps the store contract.
 *
 * A branch is read as it is, with what is not committed, and cached under its name; whatever is fixed is cached under its
 * commit. Offline, nothing but the cache answers.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { isCoded } from "../../base/errors.ts";
import type { Uri } from "../../base/uri.ts";
import type { Cache, CacheKey } from "../../cache/mod.ts";
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
import type { Store } from "../store.ts";
import {
  cacheParts,
  isRef,
  keyOf,
  locationOf,
  pinnedUri,
  type RefLocation,
  refLocationOf,
  VERSION_PART,
} from "./location.ts";
import { fileEntry, StoredObjects, versionOf } from "./objects.ts";
import { OfflineAnswers } from "./offline.ts";
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
  readonly #objects: StoredObjects;
  readonly #offline: OfflineAnswers;
  readonly #ownsStore: boolean;

  constructor({ name, store, clock = systemClock, ownsStore = false }: GravelerOptions) {
    super(name, "graveler");
    this.#store = store;
    this.#refs = new Refs({ name, store, clock });
    this.#objects = new StoredObjects(store);
    this.#offline = new OfflineAnswers(name, this.#refs);
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
    if (cache.isOffline) return await this.#offline.stat(uri, location, cache);
    const version = await this.#refs.version(location, cache);
    const name = location.parts.at(-1) ?? version.ref;
    const file = await this.#objects.find(location, version);
    if (file) return fileEntry(name, file);
    if (!await this.#objects.isFolder(location, version)) throw nothingAt(uri);
    return { name, kind: "folder", ...(version.isFixed ? { version: version.ref } : {}) };
  }

  async *list(uri: Uri, cache: Cache): AsyncGenerator<readonly Entry[]> {
    const location = locationOf(uri);
    if (cache.isOffline) yield await this.#offline.list(uri, cache);
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
    if (cache.isOffline) return await this.#offline.fetch(uri, location, cache);
    const version = await this.#refs.version(location, cache);
    const file = await this.#objects.find(location, version);
    if (!file) return await this.#fetchFolder(uri, location, { ...options, version, cache });
    const { path } = await cache.file(
      this.#cacheKey(location, version.ref),
      versionOf(file),
      () => this.#objects.download(location, version, options),
      { ...options, versionPart: VERSION_PART },
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
    const writer = await this.#store.writer(location.repository, branch, { signal });
    try {
      const stats = await writer.put(keyOf(location), abortable(sourceBytes(source), signal));
      await writer.close();
      return fileEntry(location.parts.at(-1)!, stats);
    } catch (error) {
      await writer.abandon();
      throw error;
    }
  }

  override async delete(uri: Uri): Promise<void> {
    const location = objectLocation(uri);
    const { repository } = location;
    const branch = await this.#refs.branch(location, uri);
    if (!await this.#objects.find(location, { ref: branch, isFixed: false })) throw nothingAt(uri);
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

  async *#listFolder(uri: Uri, location: RefLocation, version: Version): AsyncGenerator<readonly Entry[]> {
    if (await this.#objects.isFolder(location, version)) {
      return yield* this.#objects.entries(location, version);
    }
    throw await this.#objects.find(location, version) ? noFolderAt(uri) : nothingAt(uri);
  }

  async #fetchFolder(
    uri: Uri,
    location: RefLocation,
    { version, cache, signal }: CallOptions & { version: Version; cache: Cache },
  ): Promise<string> {
    if (!await this.#objects.isFolder(location, version)) throw nothingAt(uri);
    for (let listings = 1;; listings++) {
      try {
        return await cache.folder(
          this.#cacheKey(location, version.ref),
          this.#objects.files(location, version),
          { each: ({ path }) => this.#objects.download(location, version, { below: path, signal }) },
          { signal, versionPart: VERSION_PART, ...(version.isFixed ? { version: version.ref } : {}) },
        );
      } catch (error) {
        // On a branch an object may be deleted after it was listed.
        if (version.isFixed || listings === MOST_LISTINGS || !isCoded(error, "object_not_found")) throw error;
      }
    }
  }

  async #statPlace(uri: Uri, repository: string): Promise<Entry> {
    if (repository === "") throw unusableUri(uri, "it names no repository");
    await this.#store.getRepository(repository);
    return { name: repository, kind: "folder" };
  }

  #cacheKey(location: RefLocation, ref: string): CacheKey {
    return { store: this.name, parts: cacheParts(location, ref) };
  }
}

function objectLocation(uri: Uri): RefLocation {
  const location = refLocationOf(uri);
  if (location.parts.length === 0 || location.isFolder) throw unusableUri(uri, "it names no object");
  return location;
}
