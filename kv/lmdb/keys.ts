/**
 * How a partition and a key become one LMDB key: `[partition length, 1 byte][partition][key]`.
 *
 * The length in front keeps partitions apart of which one is the beginning of the other.
 */

import { afterPrefix, concatBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import type { ScanRange } from "../scan_range.ts";

/** Returns the LMDB key. */
export function encodeKey(partition: Uint8Array, key: Uint8Array): Uint8Array {
  const out = new Uint8Array(1 + partition.length + key.length);
  out[0] = partition.length;
  out.set(partition, 1);
  out.set(key, 1 + partition.length);
  return out;
}

/** Returns the LMDB keys between which a scan's range lies; no `end` means to the end of the database. */
export function encodeRange(
  partition: Uint8Array,
  { first, end }: ScanRange,
): { start: Uint8Array; end: Uint8Array | undefined } {
  const lead = encodeKey(partition, new Uint8Array(0));
  return { start: concatBytes(lead, first), end: end ? concatBytes(lead, end) : afterPrefix(lead) };
}

/** Returns the partition of an LMDB key. */
export function partitionOf(encoded: Uint8Array): Uint8Array {
  return encoded.slice(1, 1 + encoded[0]!);
}

/** Returns the least LMDB key beyond a partition; `undefined` beyond the last one there can be. */
export function afterPartition(partition: Uint8Array): Uint8Array | undefined {
  return afterPrefix(encodeKey(partition, EMPTY_BYTES));
}
