/**
 * A table's bytes from a namespace that is far away, kept on local disk: fetched whole once, then read from there.
 *
 * The disk is a cache: what it loses is fetched again, what it damages is noticed by the table's checksums, and the reader
 * then asks to {@link ByteSource.forget} it.
 */

import type { DiskCache } from "../../cache/mod.ts";
import type { ByteSource } from "../sstable/mod.ts";

export interface KeptTable {
  /** Names the file in the cache. */
  readonly id: string;
  /** The file where it really lies. */
  readonly origin: ByteSource;
  readonly disk: DiskCache;
}

/** Returns a source that reads from the disk, fetching the file first if it is not there whole. */
export async function keptSource({ id, origin, disk }: KeptTable): Promise<ByteSource> {
  const key = `${id}.table`;
  const { name, sizeBytes } = origin;
  async function fetchWhole(): Promise<void> {
    await disk.write(key, await origin.read(0, sizeBytes));
  }
  let isKept = await disk.size(key) === sizeBytes;
  if (!isKept) {
    await fetchWhole();
    isKept = await disk.size(key) === sizeBytes;
  }
  return {
    name,
    sizeBytes,
    async read(offset, length, into) {
      const bytes = isKept ? await disk.readAt(key, offset, length) : undefined;
      // Gone meanwhile, or never kept: a full disk is no reason to fail.
      return bytes?.length === length ? bytes : await origin.read(offset, length, into);
    },
    async forget() {
      if (!isKept) return false;
      isKept = false;
      await disk.delete(key);
      return true;
    },
  };
}
