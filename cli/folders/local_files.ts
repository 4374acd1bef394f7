/** Local files: opening and reading. */

import * as fs from "node:fs";
import type { Buffer } from "node:buffer";
import { CodedError, isCoded } from "../../base/errors.ts";
import { runningHash, sha256 } from "../../base/hashes.ts";
import { requireUnchanged } from "../../base/read_files.ts";
import { readDescriptor } from "../streams.ts";

export { localError } from "../../base/local_errors.ts";

/** Says which file it is that the storage does not take: it knows objects by names that nobody has given. */
export function putError(error: unknown, path: string): unknown {
  if (!isCoded(error, "storage_full", "storage_forbidden", "storage_unavailable")) return error;
  const { kind, code, details } = error;
  const { why, storage } = details;
  if (typeof why !== "string" || typeof storage !== "string") return error;
  return new CodedError(kind, code, `Cannot put "${path}" to the storage namespace "${storage}": ${why}`, {
    details: { ...details, path },
    cause: error,
  });
}

/** A path as text, or as bytes where its name may be no text. */
export type LocalPath = string | Buffer;

/** A file that is open for reading. */
export interface OpenFile {
  readonly descriptor: number;
  readonly stat: fs.Stats;
}

/** Opens a file that a walk found. What became a symlink since fails; what became a FIFO does not wait for a writer. */
export function openWalked(path: LocalPath): OpenFile {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOATIME = 0 } = fs.constants;
  const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  try {
    // The first read of a file would otherwise make the disk write when it was.
    return opened(fs.openSync(path, flags | O_NOATIME));
  } catch (error) {
    // Only a file's owner may ask for that.
    if ((error as { code?: unknown }).code !== "EPERM") throw error;
    return opened(fs.openSync(path, flags));
  }
}

/** Opens a file that a walk found. Fails with `special_file` when it is none any more. */
export function openRegular(path: string): OpenFile {
  const open = openWalked(path);
  if (open.stat.isFile()) return open;
  fs.closeSync(open.descriptor);
  throw new CodedError("invalid", "special_file", `Cannot put "${path}": it is no file any more`);
}

/** Opens what the user named, symlinks followed; a FIFO waits for its writer. */
export async function openNamed(path: LocalPath): Promise<OpenFile> {
  return opened(
    await new Promise<number>((resolve, reject) => {
      fs.open(path, "r", (error, descriptor) => error ? reject(error) : resolve(descriptor));
    }),
  );
}

function opened(descriptor: number): OpenFile {
  try {
    return { descriptor, stat: fs.fstatSync(descriptor) };
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
}

/** Reads a small open file; `undefined` when it holds more than its size says, as files of `/proc` do. */
export function readWhole({ descriptor, stat }: OpenFile): Uint8Array | undefined {
  const bytes = new Uint8Array(stat.size + 1);
  let length = 0;
  while (length < bytes.length) {
    const count = fs.readSync(descriptor, bytes, length, bytes.length - length, length);
    length += count;
    // There was room for one byte more than it has: a short read is the end.
    if (count === 0 || length === stat.size) return bytes.subarray(0, length);
  }
  return undefined;
}

/** Fails with `source_changed` unless a file is as it was when it was opened; `bytesRead` of it were read since. */
export function requireStill({ descriptor, stat }: OpenFile, path: string, bytesRead: number): void {
  requireUnchanged(path, { before: stat, after: fs.fstatSync(descriptor), bytesRead });
}

/** Yields an open file's bytes as {@link readFrom} does. Fails with `source_changed`, after the last one. */
export async function* readUnchanged(file: OpenFile, path: string): AsyncGenerator<Uint8Array> {
  let bytesRead = 0;
  for await (const piece of readFrom(file)) {
    bytesRead += piece.length;
    yield piece;
  }
  requireStill(file, path, bytesRead);
}

/** Returns the SHA-256 of bytes, or of an open file. */
export async function contentHash(content: Uint8Array | OpenFile): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return sha256(content);
  const hash = runningHash("sha256");
  for await (const piece of readFrom(content)) hash.update(piece);
  return hash.digest();
}

/** Yields an open file's bytes from its start, whatever was read of it before. */
export async function* readFrom({ descriptor }: OpenFile): AsyncGenerator<Uint8Array> {
  let position = 0;
  for await (const piece of readDescriptor(descriptor, () => position)) {
    position += piece.length;
    yield piece;
  }
}
