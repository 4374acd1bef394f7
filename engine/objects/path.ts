/** Paths: 1 to 1,024 bytes of valid UTF-8 without NUL, kept exactly as given. */

import { isWellFormed, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { MAX_KEY_BYTES, MAX_OBJECT_METADATA_BYTES } from "../../base/limits.ts";

/** Returns the key of a path. Fails with `invalid_path`. */
export function pathKey(path: string): Uint8Array {
  if (path === "") refuse(path, "it is empty");
  if (!isWellFormed(path)) refuse(path, "it is not valid text");
  if (path.includes("\0")) refuse(path, "it contains a NUL character");
  const key = utf8(path);
  if (key.length > MAX_KEY_BYTES) {
    refuse(path, `it has ${key.length} bytes, and at most ${MAX_KEY_BYTES} are allowed`);
  }
  return key;
}

/** Refuses metadata that is too large or not text. Fails with `limit_exceeded`, `invalid_metadata`. */
export function checkObjectMetadata(metadata: Readonly<Record<string, string>>): void {
  let size = 0;
  for (const [key, value] of Object.entries(metadata)) {
    if (!isWellFormed(key) || !isWellFormed(value)) {
      throw new CodedError(
        "invalid",
        "invalid_metadata",
        `Cannot use metadata "${key}": it is not valid text`,
      );
    }
    size += utf8(key).length + utf8(value).length;
  }
  if (size > MAX_OBJECT_METADATA_BYTES) {
    throw new CodedError(
      "invalid",
      "limit_exceeded",
      `Cannot use metadata of ${size} bytes: at most ${MAX_OBJECT_METADATA_BYTES} are allowed for an object`,
    );
  }
}

function refuse(path: string, why: string): never {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  throw new CodedError("invalid", "invalid_path", `Cannot use path "${shown}": ${why}`);
}
