/** The catalog's face: homes, the stores that are opened in them, and the catalog over all of them. */

export { type Catalog, type CatalogOptions, openCatalog } from "./catalog.ts";
export { findHome, type FoundHome, type HomePlaces, homeToInit, initHome, makeHome } from "./home.ts";
export { addProcessHooks, type Hook, type HookRequest, type Next } from "./hooks/mod.ts";
export { type KvAddress, parseKvAddress, shownKvAddress } from "./kv_address.ts";
export { type OpenHome, openHome, openHomeStore, openKv } from "./registry.ts";
