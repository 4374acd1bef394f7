/**
 * An object's headers: what S3 keeps of a request beside the bytes, and gives back with them.
 *
 * `x-amz-meta-NAME` is the entry's metadata `NAME`, as the API's clients see it too. The few headers of HTTP that S3 keeps are
 * metadata under names that no header can have, such as `http:cache-control`.
 */

import { utf8 } from "../../base/bytes.ts";
import type { ObjectStats, PutObjectOptions } from "../../drivers/store.ts";
import type { SatisfiedRange } from "../ranges.ts";
import { etagOf } from "../etag.ts";
import { S3Error } from "./errors.ts";
import { headerText, headerValue, plainHeader } from "./text_headers.ts";

const META = "x-amz-meta-";
const MAX_METADATA_BYTES = 2048;
const KEPT_PREFIX = "http:";
const KEPT = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "expires",
] as const;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Returns what a request's headers say of the object that it writes. Fails with `MetadataTooLarge`. */
export function writtenHeaders(
  headers: Headers,
): Required<Pick<PutObjectOptions, "metadata">> & Pick<PutObjectOptions, "contentType"> {
  const pairs: [name: string, text: string][] = [];
  let size = 0;
  for (const [name, value] of headers) {
    if (!name.startsWith(META)) continue;
    const key = name.slice(META.length), text = headerText(value);
    pairs.push([key, text]);
    size += key.length + utf8(text).length;
  }
  if (size > MAX_METADATA_BYTES) throw new S3Error("MetadataTooLarge");
  for (const name of KEPT) {
    const value = headers.get(name);
    if (value) pairs.push([KEPT_PREFIX + name, headerText(value)]);
  }
  const contentType = headers.get("content-type");
  // Own properties, so that a name such as "__proto__" is one too.
  return {
    metadata: Object.fromEntries(pairs),
    ...(contentType ? { contentType: headerText(contentType) } : {}),
  };
}

/** Returns the headers of an answer that has an object, or a part of it. */
export function objectHeaders(
  stats: ObjectStats,
  { range, length }: { range: SatisfiedRange | undefined; length: number },
): Record<string, string> {
  const { contentType, sizeBytes, metadata } = stats;
  const headers: Record<string, string> = {
    "content-type": (contentType && plainHeader(contentType)) || "application/octet-stream",
    "content-length": String(length),
    etag: etagOf(stats),
    "last-modified": new Date(stats.mtimeMs).toUTCString(),
    "accept-ranges": "bytes",
    // Somebody else's bytes under our name: no browser may run them.
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
  };
  if (range) headers["content-range"] = `bytes ${range.start}-${range.end}/${sizeBytes}`;
  let missing = 0;
  for (const name in metadata) {
    const value = metadata[name]!;
    if (name.startsWith(KEPT_PREFIX)) {
      const kept = name.slice(KEPT_PREFIX.length);
      if ((KEPT as readonly string[]).includes(kept)) headers[kept] = headerValue(value);
    } else if (TOKEN.test(name)) headers[META + name.toLowerCase()] = headerValue(value);
    else missing++;
  }
  if (missing > 0) headers["x-amz-missing-meta"] = String(missing);
  return headers;
}
