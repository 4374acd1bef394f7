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

/** FNV-1a-64 of `bytes` modulo `modulus` (1 to 2^26). */
export function fnv1a64Mod(bytes: Uint8Array, modulus: number): number {
  return alone.mod(bytes, 0, modulus);
}

/**
 * FNV-1a-64 of strings of which each may begin as the one before does: what they share is not hashed again.
 *
 * JavaScript's numbers hold 53 bits, so a state is two halves of 32; the prime is 0x100000001b3, that is 2^40 + 0x1b3, so a
 * product is one small multiplication a half and one shifted addition.
 */
export class PrefixFnv {
  /** The states behind each byte of the last string, the one in front of it first. */
  #low = new Int32Array(1).fill(0x84222325);
  #high = new Int32Array(1).fill(0xcbf29ce4);
  /** How many bytes of it are known. */
  #known = 0;

  /** Forgets the last string. */
  forget(): void {
    this.#known = 0;
  }

  /** Returns the hash modulo `modulus` (1 to 2^26) of a string whose first `shared` bytes are the last one's. */
  mod(bytes: Uint8Array, shared: number, modulus: number): number {
    const { length } = bytes;
    if (length >= this.#low.length) this.#grow(length + 1);
    const lows = this.#low, highs = this.#high;
    const from = shared < this.#known ? shared : this.#known;
    let low = lows[from]!, high = highs[from]!;
    for (let i = from; i < length; i++) {
      low ^= bytes[i]!;
      // (high low) * 0x1b3 + (low shifted up by 40 bits)
      const p = (low & 0xffff) * 0x1b3;
      const q = (low >>> 16) * 0x1b3 + (p >>> 16);
      high = (Math.imul(high, 0x1b3) + (q >>> 16) + (low << 8)) | 0;
      low = (q << 16) | (p & 0xffff);
      lows[i + 1] = low;
      highs[i + 1] = high;
    }
    this.#known = length;
    // Horner over 16 bits a time: each step stays below 2^26 * 2^16 + 2^16 < 2^53.
    let rest = (high >>> 0) % modulus;
    rest = (rest * 65536 + (low >>> 16)) % modulus;
    return (rest * 65536 + (low & 0xffff)) % modulus;
  }

  #grow(length: number): void {
    const [low, high] = [new Int32Array(2 * length), new Int32Array(2 * length)];
    low.set(this.#low);
    high.set(this.#high);
    this.#low = low;
    this.#high = high;
  }
}

const alone = new PrefixFnv();
