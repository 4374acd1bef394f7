/** Golden entries as the engine's own. */

import type { Entry } from "../../engine/objects/mod.ts";
import type { GoldenEntry } from "./golden.ts";

export function entryOf(given: GoldenEntry): Entry {
  return {
    address: given.address,
    addressType: given.address_type,
    lastModified: { seconds: given.last_modified_seconds, nanos: given.last_modified_nanos },
    sizeBytes: given.size,
    etag: given.etag,
    metadata: given.metadata ?? {},
    contentType: given.content_type ?? "",
  };
}
