/**
 * The seal of a value: four bytes behind it, a checksum of partition, key and value. LMDB has none, and a bit that
 * flipped in a branch's record would be read as the truth.
 *
 *     stored:  value, seal u32 little-endian
 *     seal:    crc32(key) * 0x9E3779B1 + crc32(value)  modulo 2^32      (the key as in `keys.ts`, with its partition)
 *
 * The key is in it so that a key that was changed is found as well, and a value that lies under another one's key.
 */

import { crc32 } from "../../base/platform.ts";

const SEAL_BYTES = 4;
const FACTOR = 0x9e3779b1;

/** Returns a value with its seal. */
export function seal(encodedKey: Uint8Array, value: Uint8Array): Uint8Array {
  const stored = new Uint8Array(value.length + SEAL_BYTES);
  stored.set(value);
  writeSeal(stored, sealOf(encodedKey, value));
  return stored;
}

/** Returns the value (a view of `stored`), or `undefined` when the seal is not that of key and value. */
export function unseal(encodedKey: Uint8Array, stored: Uint8Array): Uint8Array | undefined {
  const length = stored.length - SEAL_BYTES;
  if (length < 0) return undefined;
  const value = stored.subarray(0, length);
  return sealOf(encodedKey, value) === readSeal(stored, length) ? value : undefined;
}

function sealOf(encodedKey: Uint8Array, value: Uint8Array): number {
  return (Math.imul(crc32(encodedKey), FACTOR) + crc32(value)) >>> 0;
}

function writeSeal(stored: Uint8Array, sum: number): void {
  const at = stored.length - SEAL_BYTES;
  for (let i = 0; i < SEAL_BYTES; i++) stored[at + i] = sum >>> (8 * i);
}

function readSeal(stored: Uint8Array, at: number): number {
  return (stored[at]! | stored[at + 1]! << 8 | stored[at + 2]! << 16 | stored[at + 3]! << 24) >>> 0;
}
