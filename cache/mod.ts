/** Caches on local disk: what was fetched once and need not be fetched again. */

export type * from "./cache.ts";
export { notCached } from "./errors.ts";
export { type CacheItem, cacheItems, totalOf } from "./local/items.ts";
export { shownKey } from "./local/layout.ts";
export { LocalCache, type LocalCacheOptions, openLocalCache } from "./local/local_cache.ts";
export { pruneCache, type Pruned, type PruneOptions } from "./local/pruning.ts";
export { type Damage, type Verified, verifyCache } from "./local/verifying.ts";
export { type DiskCache, type DiskCacheOptions, openDiskCache } from "./disk_cache.ts";
export { systemFlush } from "./local/flushing.ts";
