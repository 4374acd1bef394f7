/** The face of the LMDB driver. */

export { type LmdbOptions, openLmdb } from "./lmdb.ts";
