/**
 * The catalog: things of all stores by their logical and physical URIs.
 *
 * It joins a configuration, its resolver, its stores and a cache. Each call runs through the lifecycle spot of its kind, where
 * hooks stand (`hooks/spots.ts`). A session begins when a catalog is opened, and ends when it is closed.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { hex } from "../base/bytes.ts";
import { type Randomness, systemRandomness } from "../base/randomness.ts";
import { parseUri, type Uri } from "../base/uri.ts";
import type { HeldCache } from "../cache/mod.ts";
import type { CallOptions, Entry, PutSource } from "../drivers/catalog_store.ts";
import { Calls, type CatalogCache, type CommitOptions, type MergeOptions } from "./calls.ts";
import type { Config } from "./config/mod.ts";
import { type Hook, Hooks } from "./hooks/mod.ts";
import { isFolder } from "./hashing.ts";
import { filesIn, type LocalFiles } from "./local_folder.ts";
import { type CatalogFile, openCatalogFile } from "./opened_file.ts";
import { putFolder, type PutFolderOptions } from "./put_folder.ts";
import { type Resolution, type Resolver, TemplateResolver } from "./resolver/mod.ts";
import { type OpenCatalogStore, Stores } from "./stores.ts";
import type { Target } from "./targets.ts";
import { checkMetadata, checkWritable } from "./writing.ts";

export interface CatalogOptions {
  readonly config: Config;
  readonly cache: CatalogCache;
  readonly openStore: OpenCatalogStore;
  /** Who asks: the user of the process, or whom the caller asks for. */
  readonly principal: string;
  /** The configuration's, loaded; no caller can skip them. */
  readonly configHooks?: readonly Hook[];
  /** The caller's own; they run before the configuration's and the process's. */
  readonly hooks?: readonly Hook[];
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/** Opens a catalog; its session begins. Fails with `invalid_configuration`, and with what a hook at `session` throws. */
export async function openCatalog(options: CatalogOptions): Promise<Catalog> {
  const catalog = new Catalog(options);
  try {
    await catalog.calls.session("start");
  } catch (error) {
    await catalog.release();
    throw error;
  }
  return catalog;
}

export class Catalog {
  readonly calls: Calls;
  readonly #cache: CatalogCache;
  readonly #hooks: Hooks;
  readonly #stores: Stores;
  readonly #resolver: Resolver;
  #isClosed = false;

  constructor(options: CatalogOptions) {
    const { config, cache, clock = systemClock, randomness = systemRandomness } = options;
    this.#cache = cache;
    this.#resolver = new TemplateResolver(config, { clock });
    this.#stores = new Stores(config.stores, options.openStore);
    this.#hooks = new Hooks({ caller: options.hooks, own: options.configHooks });
    this.calls = new Calls({
      hooks: this.#hooks,
      stores: this.#stores,
      resolver: this.#resolver,
      cache,
      principal: options.principal,
      session: hex(randomness.bytes(8)),
    });
  }

  /** Whether nothing but the cache and this machine answers. */
  get isOffline(): boolean {
    return this.#cache.isOffline;
  }

  /** Returns whether a URI is a logical one. */
  isLogical(uri: Uri): boolean {
    return this.#resolver.isLogical(uri);
  }

  /** Returns whether the store of a physical URI gives fixed versions, so that a pinned URI never changes. */
  fixesVersions(physical: string): boolean {
    return this.#stores.driverOf(physical).capabilities.includes("pin");
  }

  /** Returns whether two physical URIs name the same thing, in whatever version. */
  isSameThing(one: string, other: string): boolean {
    return this.#stores.isSameThing(parseUri(one), parseUri(other));
  }

  /** Returns the physical URI that a URI leads to. */
  async resolve(uri: string): Promise<Resolution> {
    return (await this.calls.target(uri)).resolution;
  }

  /** Returns the physical URI with a fixed version; where a store fixes nothing, as it is. */
  async pin(uri: string, options?: CallOptions): Promise<string> {
    return (await this.calls.pin(await this.calls.target(uri), options)).physical;
  }

  async stat(uri: string, options?: CallOptions): Promise<Entry> {
    return await this.calls.stat(await this.calls.target(uri), options);
  }

  /** Yields what lies directly in a folder, page by page. */
  async *list(uri: string, options?: CallOptions): AsyncGenerator<readonly Entry[]> {
    yield* await this.calls.list(await this.calls.target(uri), options);
  }

  /** Returns a local path that holds the file or folder; in the cache it may be evicted once the call has returned. */
  async fetch(uri: string, options?: CallOptions): Promise<string> {
    return await this.calls.fetch(await this.calls.target(uri), this.#cache, options);
  }

  /** As {@link fetch}, and runs `use` on the path, which stays what it is until that has ended. */
  async fetchAnd<T>(
    target: Target,
    use: (path: string) => Promise<T>,
    options?: CallOptions,
  ): Promise<T> {
    return await this.holding(async (cache) => await use(await this.calls.fetch(target, cache, options)));
  }

  /** Runs work whose fetches nobody evicts meanwhile. */
  async holding<T>(work: (cache: HeldCache) => Promise<T>): Promise<T> {
    const cache = this.#cache.hold();
    try {
      return await work(cache);
    } finally {
      await cache.release();
    }
  }

  /** Opens a file for reading in blocks: it is pinned and fetched whole first. */
  async openFile(uri: string, options?: CallOptions): Promise<CatalogFile> {
    const target = await this.calls.target(uri);
    return await this.holding((cache) => openCatalogFile(this.calls, target, { cache, ...options }));
  }

  /** Fails as a write to a URI would before anything is done: `not_a_branch`, `unsupported_by_store`, `offline`. */
  async checkWritable(uri: string): Promise<void> {
    await this.calls.checkChangeable(await this.#writable(uri), "write");
  }

  /**
   * Writes a local file, a local folder or bytes. A URI that ends in a slash takes a local file under its own name; a folder's
   * files go under the URI.
   */
  async put(uri: string, source: PutSource, options?: CallOptions): Promise<Entry> {
    if ("path" in source && isFolder(source.path)) {
      return await this.putFolder(uri, filesIn(source.path), options);
    }
    return await this.calls.put(await this.#writable(uri), source, options);
  }

  /** Writes files under a URI, one by one. All names are checked before the first one is written. */
  async putFolder(uri: string, files: LocalFiles, options?: PutFolderOptions): Promise<Entry> {
    return await putFolder(this.calls, await this.#writable(uri), { files, ...options });
  }

  /** Deletes one object. */
  async delete(uri: string, options?: CallOptions): Promise<void> {
    await this.calls.delete(await this.#writable(uri), options);
  }

  /** Commits the branch or folder that a URI is on; returns the physical URI pinned to the new commit. */
  async commit(uri: string, options: CommitOptions): Promise<string> {
    const target = await this.#writable(uri);
    checkMetadata(options.metadata, target.resolution);
    return await this.calls.commit(target, options);
  }

  /** Makes the branch that a URI names, from a branch, a tag or a commit. */
  async branch(uri: string, from: string, options?: CallOptions): Promise<void> {
    await this.calls.branch(await this.#writable(uri), from, options);
  }

  /** Merges a branch, a tag or a commit into the branch that a URI is on; returns the physical URI pinned to the merge. */
  async merge(uri: string, from: string, options: MergeOptions = {}): Promise<string> {
    const target = await this.#writable(uri);
    checkMetadata(options.metadata, target.resolution);
    return await this.calls.merge(target, from, options);
  }

  /** Pins, fetches, and places a read-only copy in a folder, which must not be there; returns it. */
  async snapshot(uri: string, folder: string, options?: CallOptions): Promise<string> {
    const { placeSnapshot } = await import("./snapshot.ts");
    return await this.calls.snapshot(await this.calls.target(uri), {
      folder,
      place: placeSnapshot,
      ...options,
    });
  }

  /** Has no call happen any more that has not begun: the program is being ended. */
  interrupt(): void {
    this.#hooks.interrupt();
  }

  /** Ends the session, then closes its stores and hooks; what fails is thrown after all was tried. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.calls.session("end");
    } finally {
      await this.release();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Closes stores and hooks. */
  async release(): Promise<void> {
    try {
      await this.#hooks.close();
    } finally {
      await this.#stores.close();
    }
  }

  async #writable(uri: string): Promise<Target> {
    const target = await this.calls.target(uri);
    checkWritable(target.resolution);
    return target;
  }
}
