/** What `--offline` forbids. */

import { CodedError } from "../base/errors.ts";
import type { CatalogDriverName } from "../drivers/catalog_store.ts";

/** Returns whether what a driver reads and writes is on this machine, as far as the driver goes. */
export function isLocalDriver(driver: CatalogDriverName): boolean {
  return driver === "file" || driver === "graveler";
}

/** Returns the error for what only the network could do; `action` is such as `change "s3://b/x"`. */
export function offline(action: string, why: string): CodedError {
  return new CodedError("unavailable", "offline", `Cannot ${action} in offline mode: ${why}`);
}
