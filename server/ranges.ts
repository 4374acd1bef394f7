/** Conditions and ranges of HTTP requests for objects (RFC 9110). */

import { CodedError } from "../base/errors.ts";

/** Bytes `start` to `end`, both inclusive. */
export interface SatisfiedRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the bytes that a `Range` header asks of an object; `undefined` for the whole, also where the header is none that
 * is understood, or asks for several ranges. Fails with `invalid_range`.
 */
export function rangeOf(header: string | null, sizeBytes: number): SatisfiedRange | undefined {
  const match = /^bytes=([0-9]*)-([0-9]*)$/.exec(header?.trim() ?? "");
  if (!match || match[0] === "bytes=-") return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") {
    const length = Number(last);
    if (length === 0) unsatisfiable(header!, sizeBytes);
    // The last bytes of nothing are all of it; no range can say so.
    if (sizeBytes === 0) return undefined;
    return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= sizeBytes) unsatisfiable(header!, sizeBytes);
  return { start, end: last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}

/** Whether a list of ETags, as in `If-None-Match`, names this one; weak ones count as equal. */
export function namesEtag(header: string, etag: string): boolean {
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/** The size that the answer must tell is in the details. */
function unsatisfiable(header: string, sizeBytes: number): never {
  throw new CodedError(
    "invalid",
    "invalid_range",
    `Cannot read "${header}" of the object: it has ${sizeBytes} bytes`,
    { details: { size_bytes: sizeBytes } },
  );
}
