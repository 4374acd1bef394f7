/** Paths: 1 to 1,024 bytes of valid UTF-8 without NUL, kept exactly as given. */

import { isWellFormed, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { MAX_KEY_BYTES } from "../../base/limits.ts";

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

function refuse(path: string, why: string): never {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  throw new CodedError("invalid", "invalid_path", `Cannot use path "${shown}": ${why}`);
}
