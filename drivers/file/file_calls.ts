/** File calls on descriptors, as promises or complete where the system may do only a part. They throw untranslated. */

import {
  closeSync,
  fdatasync,
  lstatSync,
  read,
  type Stats,
  unlinkSync,
  write,
  writeSync,
  writev,
} from "node:fs";
import type { LocalFile } from "../object_store.ts";
import { errnoOf } from "./failures.ts";

/** Writes all of `bytes` at the descriptor's position. */
export function writeAllSync(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += progress(writeSync(fd, bytes, at, bytes.length - at));
}

/** Writes all of `bytes` at the descriptor's position, on the thread pool. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += progress(await writeSome(fd, bytes, at));
}

/** Writes all of `bytes` at a position of its own, on the thread pool. */
export async function writeAllAt(fd: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) at += progress(await writeSome(fd, bytes, at, position + at));
}

/** How many parts a call may have at most; systems allow 1,024. */
const MAX_PARTS = 512;

/** Writes all of the parts, one behind the other, at the descriptor's position, on the thread pool. */
export async function writeAllParts(fd: number, parts: readonly Uint8Array[]): Promise<void> {
  for (let from = 0; from < parts.length; from += MAX_PARTS) {
    const some = parts.slice(from, from + MAX_PARTS);
    let written = progress(await writeSomeParts(fd, some));
    // The system may do only a part; that is rare, so what is left goes part by part.
    for (const part of some) {
      if (written < part.length) await writeAll(fd, part.subarray(written));
      written = Math.max(0, written - part.length);
    }
  }
}

function writeSomeParts(fd: number, parts: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, parts as Uint8Array[], (error, written) => error ? reject(error) : resolve(written));
  });
}

function writeSome(
  fd: number,
  bytes: Uint8Array,
  at: number,
  position: number | null = null,
): Promise<number> {
  return new Promise((resolve, reject) => {
    write(
      fd,
      bytes,
      at,
      bytes.length - at,
      position,
      (error, written) => error ? reject(error) : resolve(written),
    );
  });
}

function progress(written: number): number {
  if (written > 0) return written;
  throw Object.assign(new Error("a write made no progress"), { code: "EIO" });
}

/** Makes the data of an open file survive power loss, on the thread pool. */
export function syncData(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fdatasync(fd, (error) => error ? reject(error) : resolve()));
}

/** Reads up to `into.length` bytes at `position`, on the thread pool; returns how many, 0 at the end. */
export function readSome(fd: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, count) => error ? reject(error) : resolve(count));
  });
}

/** Returns what stands under a path, a symlink unfollowed, or `undefined`; also when a folder on the way is none. */
export function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Returns the regular file that stands under a path, if there is one. */
export function fileAt(path: string): LocalFile | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!found?.isFile()) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return { path, sizeBytes: Number(size), identity: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}` };
}

/** Closes a descriptor on a path that already has an error to tell. */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The first error is the one worth telling.
  }
}

/** Removes a file that may be gone already. */
export function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // What stays is a temporary or unfinished file that nobody was told of.
  }
}
