/** Records and changes of made-up objects, for tests of ranges. */

import { utf8 } from "../../base/bytes.ts";
import type { Change, ValueRecord } from "../../engine/committed/mod.ts";
import { entryRecord } from "../../engine/objects/mod.ts";

/** Returns the record of a path in a version; the object's address is made of `name`. */
export function madeUpRecord(path: string, version: number, name: string | number = path): ValueRecord {
  return entryRecord(utf8(path), {
    address: `data/${version}/${name}`,
    addressType: 1,
    lastModified: { seconds: version, nanos: 0 },
    sizeBytes: version,
    etag: `etag-${version}`,
    metadata: {},
    contentType: "application/octet-stream",
  });
}

/** Returns the change that puts {@link madeUpRecord}. */
export function madeUpChange(path: string, version: number, name?: string | number): Change {
  const record = madeUpRecord(path, version, name);
  return { key: record.key, record };
}
