/**
 * An object's headers: what S3 keeps of a request beside the bytes, and gives back with them.
 *
 * `x-amz-meta-NAME` is the entry's metadata `NAME`, as the API's clients see it too. The few headers of HTTP that S3 keeps are
 * metadata under names that no header can have, such as `http:cache-control`; so are an object's tags (`tags.ts`), and where a
 * page of a web site leads to, which is only told here.
 */

import { utf8 } from "../../base/bytes.ts";
import type { ObjectStats, PutObjectOptions } from "../../drivers/store.ts";
import type { SatisfiedRange } from "../ranges.ts";
import { etagOf } from "../etag.ts";
import { S3Error } from "./errors.ts";
import { TAGS_NAME, tagsOf, tagsOfHeaders, withTags } from "./tags.ts";
import { headerText, headerValue, plainHeader } from "./text_headers.ts";
import { httpDate } from "../http_date.ts";

const META = "x-amz-meta-";
const MAX_METADATA_BYTES = 2048;
const HTTP_PREFIX = "http:";
const REDIRECT = "x-amz-website-redirect-location";
const REDIRECT_NAME = "s3:website-redirect-location";
const MAX_REDIRECT_LENGTH = 2048;
/** The headers that are kept, by the names of metadata. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ...["cache-control", "content-disposition", "content-encoding", "content-language", "expires"]
    .map((header) => [HTTP_PREFIX + header, header] as const),
  [REDIRECT_NAME, REDIRECT],
]);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Returns what a request's headers say of the object that it writes. Fails with `MetadataTooLarge`, `InvalidRedirectLocation`,
 * and as `tagsOfHeaders` does.
 */
export function writtenHeaders(
  headers: Headers,
): Required<Pick<PutObjectOptions, "metadata">> & Pick<PutObjectOptions, "contentType"> {
  const pairs: [name: string, text: string][] = [];
  let size = 0;
  headers.forEach((value, name) => {
    if (!name.startsWith(META)) return;
    const key = name.slice(META.length), text = headerText(value);
    pairs.push([key, text]);
    size += key.length + utf8(text).length;
  });
  if (size > MAX_METADATA_BYTES) throw new S3Error("MetadataTooLarge");
  checkRedirect(headers.get(REDIRECT));
  for (const [name, header] of KEPT) {
    const value = headers.get(header);
    if (value) pairs.push([name, headerText(value)]);
  }
  const contentType = headers.get("content-type");
  // Own properties, so that a name such as "__proto__" is one too.
  return {
    metadata: withTags(Object.fromEntries(pairs), tagsOfHeaders(headers)),
    ...(contentType ? { contentType: headerText(contentType) } : {}),
  };
}

function checkRedirect(location: string | null): void {
  if (location === null || location === "") return;
  if (!/^(?:https?:\/\/|\/)/.test(location) || location.length > MAX_REDIRECT_LENGTH) {
    throw new S3Error("InvalidRedirectLocation");
  }
}

/** Returns the metadata of a copy: what the request says takes the place of all the source's, of its tags, of both or of nothing. */
export function copiedMetadata(
  source: Readonly<Record<string, string>>,
  { written, replaces }: {
    readonly written: Readonly<Record<string, string>>;
    readonly replaces: { readonly metadata: boolean; readonly tags: boolean };
  },
): Readonly<Record<string, string>> {
  const { [REDIRECT_NAME]: _, ...copied } = source;
  // Where a page leads to is not copied, as in S3.
  const location = written[REDIRECT_NAME];
  const metadata = replaces.metadata
    ? written
    : { ...copied, ...(location === undefined ? {} : { [REDIRECT_NAME]: location }) };
  return withTags(metadata, tagsOf(replaces.tags ? written : source));
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
    "last-modified": httpDate(stats.mtimeMs),
    "accept-ranges": "bytes",
    // Somebody else's bytes under our name: no browser may run them.
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
  };
  if (range) headers["content-range"] = `bytes ${range.start}-${range.end}/${sizeBytes}`;
  let missing = 0;
  for (const name in metadata) {
    const value = metadata[name]!;
    const kept = KEPT.get(name);
    if (kept !== undefined) headers[kept] = headerValue(value);
    else if (name === TAGS_NAME) headers["x-amz-tagging-count"] = String(tagsOf(metadata).length);
    else if (name.startsWith(HTTP_PREFIX)) continue;
    else if (TOKEN.test(name)) headers[META + name.toLowerCase()] = headerValue(value);
    else missing++;
  }
  if (missing > 0) headers["x-amz-missing-meta"] = String(missing);
  return headers;
}

/** Whether an object was uploaded in parts. */
export function cameInParts({ checksum }: ObjectStats): boolean {
  return checksum.includes("-");
}
