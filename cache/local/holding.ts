/** A view of a cache that keeps the leases of all that it hands out, until it is released. */

import type { Cache, CachedEntry, CachedFile, CacheKey, HeldCache, PinKey } from "../cache.ts";
import type { Keep, LocalCache } from "./local_cache.ts";
import type { HeldLock } from "./locks.ts";

export class Holding implements HeldCache {
  readonly #cache: LocalCache;
  readonly #leases = new Map<string, HeldLock>();

  constructor(cache: LocalCache) {
    this.#cache = cache;
  }

  get isOffline(): boolean {
    return this.#cache.isOffline;
  }

  file(...[key, wanted, download, options]: Parameters<Cache["file"]>): Promise<CachedFile> {
    return this.#cache.file(key, wanted, download, options, this.#keep);
  }

  cachedFile(key: CacheKey): Promise<CachedFile | undefined> {
    return this.#cache.cachedFile(key, this.#keep);
  }

  folder(...[key, listing, download, options]: Parameters<Cache["folder"]>): Promise<string> {
    return this.#cache.folder(key, listing, download, options, this.#keep);
  }

  cachedFolder(key: CacheKey): Promise<string | undefined> {
    return this.#cache.cachedFolder(key, this.#keep);
  }

  cachedList(key: CacheKey): Promise<readonly CachedEntry[] | undefined> {
    return this.#cache.cachedList(key);
  }

  recordPin(key: PinKey, fixed: string): Promise<void> {
    return this.#cache.recordPin(key, fixed);
  }

  pinned(key: PinKey): Promise<string | undefined> {
    return this.#cache.pinned(key);
  }

  async release(): Promise<void> {
    for (const lease of this.#leases.values()) lease.release();
    this.#leases.clear();
  }

  readonly #keep: Keep = (hash, lease) => {
    if (this.#leases.has(hash)) lease.release();
    else this.#leases.set(hash, lease);
  };
}
