/** The conditions of S3's requests: of reads, of the source of a copy, of writes. */

import type { ObjectStats, PutObjectOptions } from "../../drivers/store.ts";
import { S3Error } from "./errors.ts";
import { etagOf } from "../etag.ts";

/** The prefix of the headers that speak of a copy's source. */
export const OF_SOURCE = "x-amz-copy-source-";

const NAMES = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;

/** Whether a request has conditions of a read. */
export function hasReadConditions(headers: Headers, prefix = ""): boolean {
  return NAMES.some((name) => headers.has(prefix + name));
}

/**
 * Fails with `PreconditionFailed` or `NotModified` unless an object is as a read wants it. A condition on the ETag decides
 * alone where both it and the one on the time are given.
 */
export function checkRead(headers: Headers, stats: ObjectStats, prefix = ""): void {
  const [match, noneMatch, modifiedSince, unmodifiedSince] = NAMES.map((name) => headers.get(prefix + name));
  if (match != null) {
    if (!namesObject(match, stats)) throw failed("If-Match", prefix);
  } else if (isAfter(stats, unmodifiedSince) === true) throw failed("If-Unmodified-Since", prefix);
  if (noneMatch != null) {
    if (namesObject(noneMatch, stats)) throw unchanged("If-None-Match", { stats, prefix });
  } else if (isAfter(stats, modifiedSince) === false) throw unchanged("If-Modified-Since", { stats, prefix });
}

/**
 * Returns what a write's headers ask of the object that it takes the place of. Fails with `NotImplemented` for what S3 does
 * not do either.
 */
export function writeConditions(headers: Headers): Pick<PutObjectOptions, "ifAbsent" | "ifMatch"> {
  const match = headers.get("if-match"), noneMatch = headers.get("if-none-match");
  // Nor does S3 take both at once, of which one could only ever fail.
  if (noneMatch !== null && (noneMatch.trim() !== "*" || match !== null)) throw new S3Error("NotImplemented");
  return {
    ...(noneMatch === null ? {} : { ifAbsent: true }),
    ...ifMatch(match),
  };
}

/** Returns what an `If-Match` asks of the object that is replaced or deleted. */
export function ifMatch(header: string | null): Pick<PutObjectOptions, "ifMatch"> {
  return header === null ? {} : { ifMatch: header.trim() === "*" ? "any" : etagsIn(header) };
}

/** Whether a list of ETags, or `*`, names an object. Clients of S3 also send them without quotes. */
function namesObject(header: string, { checksum }: ObjectStats): boolean {
  return header.trim() === "*" || etagsIn(header).includes(checksum);
}

function etagsIn(header: string): string[] {
  return header.split(",").map((one) => one.trim().replace(/^W\//, "").replace(/^"(.*)"$/, "$1"));
}

/** Whether an object was changed after a time, in whole seconds; `undefined` when no time is told. */
function isAfter({ mtimeMs }: ObjectStats, header: string | null | undefined): boolean | undefined {
  const time = Date.parse(header ?? "");
  return Number.isNaN(time) ? undefined : Math.floor(mtimeMs / 1000) > Math.floor(time / 1000);
}

function failed(condition: string, prefix: string): S3Error {
  return new S3Error("PreconditionFailed", undefined, { details: { Condition: prefix + condition } });
}

function unchanged(
  condition: string,
  { stats, prefix }: { readonly stats: ObjectStats; readonly prefix: string },
): S3Error {
  // A copy is no answer to somebody who has the object.
  if (prefix !== "") return failed(condition, prefix);
  return new S3Error("NotModified", undefined, { details: { etag: etagOf(stats) } });
}
