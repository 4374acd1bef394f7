/** Objects as files under one folder: a key is the same relative path. */

export { type FileObjectStoreOptions, openFileObjectStore } from "./object_store.ts";
export { unfinishedFiles } from "./unfinished.ts";
export { type FileSync, systemSync } from "./syncing.ts";
export { type FileCatalogOptions, openFileCatalogStore } from "./catalog_store.ts";
