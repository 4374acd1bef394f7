/** Hashes: SHA-256, MD5 and FNV-1a-64. */

import { hex } from "./bytes.ts";
import { digestInto, md5HexAtOnce, startHash } from "./platform.ts";

/** Returns the SHA-256 of `bytes`: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(32);
  sha256Into(bytes, out);
  return out;
}

/** Writes the SHA-256 of `bytes` into an array of 32 bytes. */
export function sha256Into(bytes: Uint8Array, out: Uint8Array): void {
  if (digestInto) digestInto(bytes, out);
  else out.set(digestOf("sha256", bytes));
}

/** A running hash over bytes that arrive in pieces. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  /** Returns the digest; the hash may not be used afterwards. */
  digest(): Uint8Array;
}

/** Starts a running SHA-256 or MD5. */
export function runningHash(algorithm: "sha256" | "md5"): RunningHash {
  const hash = startHash(algorithm);
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => new Uint8Array(hash.digest()),
  };
}

/** Returns the MD5 of `bytes` in lower-case hex. */
export function md5Hex(bytes: Uint8Array): string {
  return md5HexAtOnce?.(bytes) ?? hex(digestOf("md5", bytes));
}

function digestOf(algorithm: "sha256" | "md5", bytes: Uint8Array): Uint8Array {
  const hash = startHash(algorithm);
  hash.update(bytes);
  return hash.digest();
}

/**
 * FNV-1a-64 of `bytes` modulo `modulus` (1 to 2^26).
 *
 * JavaScript's numbers hold 53 bits, so the state is four limbs of 16 bits; the prime is 0x100000001b3, that is
 * 2^40 + 0x1b3, so a product is one small multiplication a limb and one shifted addition.
 */
export function fnv1a64Mod(bytes: Uint8Array, modulus: number): number {
  let l0 = 0x2325, l1 = 0x8422, l2 = 0x9ce4, l3 = 0xcbf2;
  for (let i = 0; i < bytes.length; i++) {
    l0 ^= bytes[i]!;
    // (l3 l2 l1 l0) * 0x1b3 + (l0 and the low byte of l1 shifted up by 40 bits)
    const p0 = l0 * 0x1b3;
    const p1 = l1 * 0x1b3 + (p0 >>> 16);
    const p2 = l2 * 0x1b3 + (p1 >>> 16) + ((l0 & 0xff) << 8);
    const p3 = l3 * 0x1b3 + (p2 >>> 16) + ((l0 >>> 8) | ((l1 & 0xff) << 8));
    l0 = p0 & 0xffff;
    l1 = p1 & 0xffff;
    l2 = p2 & 0xffff;
    l3 = p3 & 0xffff;
  }
  // Horner over limbs: each step stays below 2^26 * 2^16 + 2^16 < 2^53.
  let rest = l3 % modulus;
  rest = (rest * 65536 + l2) % modulus;
  rest = (rest * 65536 + l1) % modulus;
  return (rest * 65536 + l0) % modulus;
}
