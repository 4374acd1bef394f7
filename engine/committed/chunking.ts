/**
 * Canonical chunking: where ranges end.
 *
 * A break comes after a record when the range's size is at least `minSizeBytes` and FNV-1a-64 of its key is a multiple of
 * `raggedness`, or when the size has reached `maxSizeBytes`. Sizes are those of {@link RecordWeight}: nothing that
 * depends on compression or addresses, so that equal records always give equal ranges.
 */

import { fnv1a64Mod } from "../../base/hashes.ts";
import type { ValueRecord } from "./record.ts";

/** Kept in the repository record, never changed after creation. */
export interface Chunking {
  readonly minSizeBytes: number;
  readonly maxSizeBytes: number;
  readonly raggedness: number;
}

export const DEFAULT_CHUNKING: Chunking = {
  minSizeBytes: 0,
  maxSizeBytes: 20 * 1024 * 1024,
  raggedness: 50_000,
};

/** Returns a record's canonical size in bytes. */
export type RecordWeight = (record: ValueRecord) => number;

/** Returns whether a range of `sizeBytes`, this record included, ends after a record with this key. */
export function endsRange(key: Uint8Array, sizeBytes: number, chunking: Chunking): boolean {
  if (sizeBytes < chunking.minSizeBytes) return false;
  return sizeBytes >= chunking.maxSizeBytes || fnv1a64Mod(key, chunking.raggedness) === 0;
}
