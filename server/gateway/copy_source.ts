/** The object that a copy, or a part of an upload, is made from: the header `x-amz-copy-source`. */

import { Buffer } from "node:buffer";
import { isIP } from "node:net";
import { tryUtf8Text } from "../../base/bytes.ts";
import { invalidArgument } from "./encoding.ts";
import { checkOwner } from "./owner.ts";
import { checkVersionId } from "./versions.ts";

const HEADER = "x-amz-copy-source";
/** All that buckets are called. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export interface CopySourceName {
  readonly bucket: string;
  readonly key: string;
}

/** Returns the bucket and key, percent-decoded once; a `+` is a plus. Fails with `InvalidArgument`, `NoSuchVersion`, `AccessDenied`. */
export function copySourceOf(headers: Headers): CopySourceName {
  const header = headers.get(HEADER) ?? "";
  const [, path = "", version] = /^\/?(.*?)(?:\?versionId=([^?]*))?$/s.exec(header)!;
  checkVersionId(version);
  checkOwner(headers.get("x-amz-source-expected-bucket-owner"));
  const name = decoded(path);
  if (name === undefined) throw invalidArgument(HEADER, header, "Invalid copy source encoding");
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1) {
    throw invalidArgument(
      HEADER,
      header,
      "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
    );
  }
  const bucket = name.slice(0, slash);
  if (!BUCKET.test(bucket) || isIP(bucket) !== 0) {
    throw invalidArgument(HEADER, header, "Invalid copy source bucket name");
  }
  return { bucket, key: name.slice(slash + 1) };
}

function decoded(path: string): string | undefined {
  try {
    // The runtime gives a header one character a byte.
    const text = tryUtf8Text(Buffer.from(path, "latin1"));
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
