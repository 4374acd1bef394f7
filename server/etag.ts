/** An object's ETag. */

import type { ObjectStats } from "../drivers/store.ts";

/** Returns an object's ETag, quotes included; of a checksum that others wrote, what no header can have stands encoded. */
export function etagOf({ checksum }: Pick<ObjectStats, "checksum">): string {
  return `"${checksum.replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)}"`;
}
