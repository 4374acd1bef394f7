/** The conditions of writes: `If-Match` and `If-None-Match`. */

import { CodedError } from "../base/errors.ts";
import type { PutObjectOptions } from "../drivers/store.ts";

const ENTITY_TAG = /^"([\x21\x23-\x7e\x80-\xff]*)"$/;

/** Returns what a write's headers ask of the object that it takes the place of. Fails with `invalid_request`. */
export function writeConditions(headers: Headers): Pick<PutObjectOptions, "ifAbsent" | "ifMatch"> {
  const ifMatch = headers.get("if-match"), ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null && ifNoneMatch.trim() !== "*") throw refused('"If-None-Match" must be "*"');
  return {
    ...(ifNoneMatch === null ? {} : { ifAbsent: true }),
    ...(ifMatch === null ? {} : { ifMatch: ifMatch.trim() === "*" ? "any" : checksumsOf(ifMatch) }),
  };
}

/** Returns the checksums in a list of entity tags. Clients of lakeFS also send one without its quotes. */
function checksumsOf(header: string): readonly string[] {
  return header.split(",").map((item) => {
    const text = item.trim();
    const quoted = ENTITY_TAG.exec(text);
    if (quoted) return quoted[1]!;
    if (/^[A-Za-z0-9._-]+$/.test(text)) return text;
    throw refused('"If-Match" must name entity tags');
  });
}

function refused(why: string): CodedError {
  return new CodedError("invalid", "invalid_request", `Cannot write under this condition: ${why}`);
}
