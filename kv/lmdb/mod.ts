/** The face of the LMDB driver. */

export { type LmdbOptions, openLmdb } from "./lmdb.ts";

import type { DatabaseCounts } from "./whole_check.ts";

/** Checks all pages of a database, as `whole_check.ts` says. */
export async function checkDatabase(folder: string): Promise<DatabaseCounts> {
  return await (await import("./whole_check.ts")).checkDatabase(folder);
}
