/** What a download is called by whoever saves it. */

import { hex } from "../base/bytes.ts";
import type { Randomness } from "../base/randomness.ts";

const MAX_NAME = 64;

/**
 * Returns a `Content-Disposition` that saves under the last segment of a path, and shows nothing.
 *
 * lakeFS's older clients keep each download in the folder for temporary files under `filename`, and fail where there is
 * none. Two downloads may not meet in one file there, so that name is never the same twice; browsers take `filename*`.
 */
export function attachmentNamed(path: string, randomness: Randomness): string {
  const segment = path.slice(path.lastIndexOf("/") + 1);
  const plain = segment.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(-MAX_NAME);
  const unique = `attachment; filename="${hex(randomness.bytes(6))}-${plain}"`;
  return segment === "" ? unique : `${unique}; filename*=UTF-8''${percentEncoded(segment)}`;
}

/** `encodeURIComponent` leaves some of what RFC 8187 does not allow, and fails at half a character. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
