/** Removing on request what a cache holds, and what nobody needs: leftovers of killed processes, files without a record. */

import type { CacheKey } from "../cache.ts";
import { unpackMeta } from "./files.ts";
import { HeldFolders } from "./folder_records.ts";
import { type CacheItem, cacheItems, namesIn } from "./items.ts";
import { isAtOrBelow } from "./layout.ts";
import type { LocalCache } from "./local_cache.ts";
import { readRecord } from "./records.ts";
import { lockItem } from "./item_locks.ts";
import { walkContent } from "./walk.ts";

export interface PruneOptions {
  /** Only what this is true of; everything otherwise. */
  readonly matches?: (item: CacheItem) => boolean;
  /** Evicts what was not used for longest until no more than this is left, of what matches. */
  readonly maxBytes?: number;
}

export interface Pruned {
  readonly items: readonly CacheItem[];
  /** What somebody uses, and is left alone. */
  readonly inUse: readonly CacheItem[];
  /** Files that no record tells of. */
  readonly strayFiles: number;
  readonly freedBytes: number;
}

/** Removes items, and in any case what no process and no record knows. */
export async function pruneCache(cache: LocalCache, { matches, maxBytes }: PruneOptions): Promise<Pruned> {
  await cache.parts.temporary.sweep();
  await cache.parts.locks.sweep();
  const strays = await removeStrays(cache);
  const { items, inUse, freedBytes } = await removeItems(cache, { matches, maxBytes });
  return { items, inUse, strayFiles: strays.count, freedBytes: freedBytes + strays.bytes };
}

async function removeItems(
  { eviction, parts: { layout } }: LocalCache,
  { matches = () => true, maxBytes }: PruneOptions,
): Promise<Omit<Pruned, "strayFiles">> {
  const items = await Array.fromAsync(cacheItems(layout));
  const chosen = items.filter(matches).sort((a, b) => a.lastUsedMs - b.lastUsedMs);
  let left = chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const removed: CacheItem[] = [], inUse: CacheItem[] = [];
  let freedBytes = 0;
  for (const item of chosen) {
    if (maxBytes !== undefined && left <= maxBytes) break;
    const freed = await eviction.evict(item);
    if (freed === undefined) inUse.push(item);
    else {
      removed.push(item);
      freedBytes += freed;
      left -= item.sizeBytes;
    }
  }
  await eviction.forgetCount();
  return { items: removed, inUse, freedBytes };
}

/**
 * Removes the files that no record tells of, with the folders that become empty. Of what belongs to no store that anything is
 * known of, the cache has made nothing.
 */
async function removeStrays(
  { parts, leases, eviction }: LocalCache,
): Promise<{ count: number; bytes: number }> {
  const { layout, content } = parts;
  const folders: CacheKey[] = [], stores = new Set<string>();
  for await (const { key, kind } of cacheItems(layout)) {
    stores.add(key.store);
    if (kind === "folder") folders.push(key);
  }
  let count = 0, bytes = 0;
  for (const store of namesIn(layout.root)) {
    if (!stores.has(store)) continue;
    for (const path of walkContent(`${layout.root}/${store}`)) {
      const key = { store, parts: path.split("/") };
      if (folders.some((folder) => isAtOrBelow(key, folder))) continue;
      if (unpackMeta(await readRecord(layout.metaOf(key)))) continue;
      // While anything around it is fetched, it may be about to get a record.
      const locks = await lockItem(parts, key);
      if (!locks) continue;
      try {
        // One around it may have been fetched since the folders were listed.
        if (await leases.isUsed(key) || await new HeldFolders(layout).include(key)) continue;
        const size = content.look(layout.contentOf(key))?.size;
        if (size === undefined || await readRecord(layout.metaOf(key)) !== undefined) continue;
        bytes += await eviction.removeStray(key);
        if (!content.look(layout.contentOf(key))) count++;
      } finally {
        for (const lock of locks) lock.release();
      }
    }
  }
  return { count, bytes };
}
