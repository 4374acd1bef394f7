/** The driver `graveler`: a versioned store, such as the embedded engine, in the catalog. */

export { type GravelerOptions, openGravelerStore } from "./catalog_store.ts";
