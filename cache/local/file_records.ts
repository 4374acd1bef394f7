/** What is recorded of a cached file, alone or in the list of its folder. */

import { fromHex, hex } from "../../base/bytes.ts";
import type { CacheKey, FileVersion } from "../cache.ts";
import type { FileRecordState } from "./content.ts";

/** A file that was fetched: what it is, and the state that it was left in. */
export interface FileRecord extends FileRecordState {
  readonly version: string;
  /** In hex. */
  readonly sha256: string;
}

/** A file in a list, by its path below the folder. */
export interface ListedFile extends FileRecord {
  readonly path: string;
}

type Packed = readonly [
  version: string,
  size: number,
  mtimeSeconds: number,
  mtimeNanos: number,
  inode: number,
  sha256: Uint8Array,
];

export function packFile(file: FileRecord): Packed {
  const { version, size, mtimeSeconds, mtimeNanos, inode, sha256 } = file;
  return [version, size, mtimeSeconds, mtimeNanos, inode, fromHex(sha256)!];
}

/** Returns the record that was packed, or `undefined` for anything else. */
export function unpackFile(value: unknown): FileRecord | undefined {
  if (!Array.isArray(value) || value.length !== 6) return undefined;
  const [version, size, mtimeSeconds, mtimeNanos, inode, sha256] = value as unknown as Packed;
  if (typeof version !== "string" || !(sha256 instanceof Uint8Array) || sha256.length !== 32) {
    return undefined;
  }
  if (![size, mtimeSeconds, mtimeNanos, inode].every((number) => typeof number === "number")) {
    return undefined;
  }
  return { version, size, mtimeSeconds, mtimeNanos, inode, sha256: hex(sha256) };
}

/** Returns a key as records hold it. */
export function packKey({ store, parts }: CacheKey): readonly string[] {
  return [store, ...parts];
}

export function unpackKey(value: unknown): CacheKey | undefined {
  if (!Array.isArray(value) || value.length < 2) return undefined;
  if (!value.every((text): text is string => typeof text === "string")) return undefined;
  const [store, ...parts] = value;
  return { store: store!, parts };
}

/** Returns whether what is cached is what the store has now: by the hash where both have one, else by the version. */
export function isCurrent(
  { version, size, sha256 }: Pick<FileRecord, "version" | "size" | "sha256">,
  wanted: FileVersion,
): boolean {
  if (wanted.sizeBytes !== undefined && wanted.sizeBytes !== size) return false;
  return wanted.sha256 === undefined ? wanted.version === version : wanted.sha256 === sha256;
}
