/** The catalog's face: homes, and the stores that are opened in them. */

export { findHome, type FoundHome, type HomePlaces, homeToInit, initHome, makeHome } from "./home.ts";
export { type KvAddress, parseKvAddress, shownKvAddress } from "./kv_address.ts";
export { type OpenHome, openHome, openHomeStore, openKv } from "./registry.ts";
