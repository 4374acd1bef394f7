/** GetObject and HeadObject: bytes and headers of an object. */

import type { ObjectStats } from "../../../drivers/store.ts";
import { bodyOf, lengthOf, readChosen } from "../../downloads.ts";
import { rangeOf, type SatisfiedRange } from "../../ranges.ts";
import type { S3Operation } from "../call.ts";
import { checkRead, hasReadConditions } from "../conditions.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { etagOf } from "../../etag.ts";
import { cameInParts, objectHeaders } from "../object_headers.ts";
import { objectPlace } from "../places.ts";
import type { S3Request } from "../request.ts";
import { plainHeader } from "../text_headers.ts";
import { checkVersion } from "../versions.ts";
import { Buffer } from "node:buffer";

export const getObject: S3Operation = async (call) => {
  const { request, context, store } = call;
  const place = await objectPlace(call);
  checkRequest(request);
  const overrides = overridesOf(request);
  const chosen = await readChosen(store, place, {
    signal: request.signal,
    ...(isPlain(request) ? {} : { choose: (stats) => wantedPart(request, stats) }),
  });
  if (chosen instanceof Response) return chosen;
  const { read, range } = chosen;
  const headers = shownHeaders(request, { stats: read.stats, range, length: lengthOf(read, range) });
  return new Response(await bodyOf(chosen, context), {
    status: range ? 206 : 200,
    headers: { ...headers, ...overrides },
  });
};

export const headObject: S3Operation = async (call) => {
  const { request, store } = call;
  const { repository, ref, path } = await objectPlace(call);
  checkRequest(request);
  const overrides = overridesOf(request);
  const stats = await store.stat(repository, ref, path);
  const range = isPlain(request) ? undefined : wantedPart(request, stats);
  const length = range ? range.end - range.start + 1 : stats.sizeBytes;
  return new Response(null, {
    status: range ? 206 : 200,
    headers: { ...shownHeaders(request, { stats, range, length }), ...overrides },
  });
};

/** Refuses what is wrong whatever the object is. Fails with `NoSuchVersion`, `InvalidArgument`, `InvalidRequest`. */
function checkRequest(request: S3Request): void {
  checkVersion(request);
  const { headers, query } = request;
  const part = query.get("partNumber");
  if (part === undefined) return;
  if (!/^[0-9]{1,5}$/.test(part) || Number(part) < 1 || Number(part) > 10_000) {
    throw invalidArgument(
      "partNumber",
      part,
      "Part number must be an integer between 1 and 10000, inclusive.",
    );
  }
  if (headers.has("range")) {
    throw new S3Error("InvalidRequest", "Cannot specify both Range header and partNumber query parameter");
  }
}

/** Whether a request wants the object as it is, and all of it. */
function isPlain({ headers, query }: S3Request): boolean {
  return !headers.has("range") && !hasReadConditions(headers) && !query.has("partNumber");
}

function wantedPart({ headers, query }: S3Request, stats: ObjectStats): SatisfiedRange | undefined {
  checkRead(headers, stats);
  const part = query.get("partNumber");
  if (part === undefined) {
    const condition = headers.get("if-range");
    const isOther = condition !== null && condition !== etagOf(stats);
    return isOther ? undefined : rangeOf(headers.get("range"), stats.sizeBytes);
  }
  // Where the parts of an upload met is not kept: an object has one part.
  if (part !== "1") throw new S3Error("InvalidPartNumber");
  return stats.sizeBytes === 0 ? undefined : { start: 0, end: stats.sizeBytes - 1 };
}

interface Shown {
  readonly stats: ObjectStats;
  readonly range: SatisfiedRange | undefined;
  readonly length: number;
}

function shownHeaders(
  { headers: asked, query }: S3Request,
  { stats, range, length }: Shown,
): Record<string, string> {
  const headers = objectHeaders(stats, { range, length });
  // The one checksum that every object of ours has; it speaks of the whole object, which is no part where there were several.
  const isWhole = length === stats.sizeBytes && !(query.has("partNumber") && cameInParts(stats));
  if (isWhole && stats.sha256 !== undefined && asked.get("x-amz-checksum-mode") !== null) {
    headers["x-amz-checksum-sha256"] = Buffer.from(stats.sha256, "hex").toString("base64");
    headers["x-amz-checksum-type"] = "FULL_OBJECT";
  }
  return headers;
}

/** Returns the headers that the query sets. Fails with `InvalidArgument`; before an object is opened, which then is to be read. */
function overridesOf({ query }: S3Request): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of query.entries) {
    const header = OVERRIDES.get(name);
    if (header === undefined) continue;
    const plain = plainHeader(value);
    if (plain === undefined) {
      throw invalidArgument(name, value, "Header value cannot be represented using ISO-8859-1.");
    }
    headers[header] = plain;
  }
  return headers;
}

const OVERRIDES: ReadonlyMap<string, string> = new Map(
  ["cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires"]
    .map((name) => [`response-${name}`, name]),
);
