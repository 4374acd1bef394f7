/** Reading what is put: a local file, or bytes that are at hand. */

import { open } from "node:fs/promises";
import { CodedError } from "../base/errors.ts";
import { requireUnchanged } from "../base/read_files.ts";
import type { PutSource } from "./catalog_store.ts";
import type { ByteStream } from "./object_store.ts";

const CHUNK_BYTES = 256 * 1024;

/** Yields the bytes of a source. Fails with `file_not_found`, `file_forbidden`, `file_unusable`, `file_unavailable`, `source_changed`. */
export function sourceBytes(source: PutSource): ByteStream {
  if ("path" in source) return fileBytes(source.path);
  return source.body instanceof Uint8Array ? oneBody(source.body) : source.body;
}

async function* oneBody(body: Uint8Array): ByteStream {
  yield body;
}

async function* fileBytes(path: string): ByteStream {
  const file = await open(path, "r").catch((error) => {
    throw sourceError(path, error);
  });
  try {
    const before = await file.stat();
    if (!before.isFile()) throw unusable(path);
    for (let bytesRead = 0;;) {
      const piece = new Uint8Array(CHUNK_BYTES);
      const { bytesRead: length } = await file.read(piece, 0, piece.length, null).catch((error) => {
        throw sourceError(path, error);
      });
      if (length === 0) return requireUnchanged(path, { before, after: await file.stat(), bytesRead });
      bytesRead += length;
      yield piece.subarray(0, length);
    }
  } finally {
    await file.close();
  }
}

function unusable(path: string): CodedError {
  return new CodedError("invalid", "file_unusable", `Cannot put "${path}": it is no file`);
}

function sourceError(path: string, cause: unknown): unknown {
  const { code } = cause as { code?: unknown };
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return new CodedError("not_found", "file_not_found", `Cannot put "${path}": there is no such file`, {
        cause,
      });
    case "EACCES":
    case "EPERM":
      return new CodedError("forbidden", "file_forbidden", `Cannot put "${path}": permission denied`, {
        cause,
      });
    case "EISDIR":
      return unusable(path);
    default:
      return typeof code === "string"
        ? new CodedError(
          "unavailable",
          "file_unavailable",
          `Cannot put "${path}": reading failed (${code})`,
          { cause },
        )
        : cause;
  }
}
