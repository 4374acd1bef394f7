/** Caches on local disk: what was fetched once and need not be fetched again. */

export type * from "./cache.ts";
export { notCached } from "./errors.ts";
export { LocalCache, type LocalCacheOptions, openLocalCache } from "./local/local_cache.ts";
export { type DiskCache, type DiskCacheOptions, openDiskCache } from "./disk_cache.ts";
export { systemFlush } from "./local/flushing.ts";
