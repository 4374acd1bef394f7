/**
 * The checksums that S3's clients send with a body: each by its name, its header, its length, and how it is computed. What the
 * runtime has is native; the rest is WebAssembly of `hash-wasm`, loaded when the first is asked for.
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { IHasher } from "hash-wasm";

/** A checksum over bytes that arrive in pieces. */
export interface RunningChecksum {
  update(bytes: Uint8Array): void;
  /** Returns it in base64; the checksum may not be used afterwards. */
  base64(): string;
}

interface Algorithm {
  readonly bytes: number;
  start(): RunningChecksum | Promise<RunningChecksum>;
}

const ALGORITHMS = {
  CRC32: { bytes: 4, start: startCrc32 },
  // The polynomials are in the reflected form that the library takes.
  CRC32C: { bytes: 4, start: wasm(({ createCRC32 }) => createCRC32(0x82f63b78)) },
  CRC64NVME: { bytes: 8, start: wasm(({ createCRC64 }) => createCRC64("9a6c9329ac4bc9b5")) },
  MD5: { bytes: 16, start: () => native("md5") },
  SHA1: { bytes: 20, start: () => native("sha1") },
  SHA256: { bytes: 32, start: () => native("sha256") },
  SHA512: { bytes: 64, start: () => native("sha512") },
  XXHASH3: { bytes: 8, start: wasm(({ createXXHash3 }) => createXXHash3()) },
  XXHASH64: { bytes: 8, start: wasm(({ createXXHash64 }) => createXXHash64()) },
  XXHASH128: { bytes: 16, start: wasm(({ createXXHash128 }) => createXXHash128()) },
} as const satisfies Record<string, Algorithm>;

export type ChecksumAlgorithm = keyof typeof ALGORITHMS;

export const CHECKSUM_ALGORITHMS = Object.keys(ALGORITHMS) as readonly ChecksumAlgorithm[];

const HEADER = "x-amz-checksum-";

/** Returns the header of an algorithm: `x-amz-checksum-crc32`. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return HEADER + algorithm.toLowerCase();
}

/** Returns the algorithm of a name in any case; `undefined` if it is none. */
export function checksumAlgorithm(name: string): ChecksumAlgorithm | undefined {
  const upper = name.toUpperCase();
  return Object.hasOwn(ALGORITHMS, upper) ? upper as ChecksumAlgorithm : undefined;
}

/** Returns the algorithm of a header in lower case; `undefined` for all other headers, `x-amz-checksum-mode` among them. */
export function algorithmOfHeader(name: string): ChecksumAlgorithm | undefined {
  return name.startsWith(HEADER) ? checksumAlgorithm(name.slice(HEADER.length)) : undefined;
}

/** Whether a text is base64 of as many bytes as the algorithm makes. */
export function isChecksum(text: string, algorithm: ChecksumAlgorithm): boolean {
  return isBase64Of(text, ALGORITHMS[algorithm].bytes);
}

/** Whether a text is base64, in its one form, of so many bytes. */
export function isBase64Of(text: string, bytes: number): boolean {
  const decoded = Buffer.from(text, "base64");
  return decoded.length === bytes && decoded.toString("base64") === text;
}

/** Starts a checksum. */
export function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum | Promise<RunningChecksum> {
  return ALGORITHMS[algorithm].start();
}

function native(name: "md5" | "sha1" | "sha256" | "sha512"): RunningChecksum {
  const hash = createHash(name);
  return { update: (bytes) => void hash.update(bytes), base64: () => hash.digest("base64") };
}

function startCrc32(): RunningChecksum {
  let value = 0;
  return {
    update: (bytes) => void (value = crc32(bytes, value)),
    base64() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes.toString("base64");
    },
  };
}

type HashWasm = typeof import("hash-wasm");

/** Of what is free of one kind. One takes a millisecond and some memory to make. */
const MOST_FREE = 32;

/** Returns what starts a checksum of the library, over one that another body has done with, if there is one. */
function wasm(
  make: (library: HashWasm) => Promise<IHasher>,
): () => RunningChecksum | Promise<RunningChecksum> {
  const free: IHasher[] = [];
  const started = (hasher: IHasher): RunningChecksum => {
    hasher.init();
    return {
      update: (bytes) => void hasher.update(bytes),
      base64() {
        const text = Buffer.from(hasher.digest("binary")).toString("base64");
        if (free.length < MOST_FREE) free.push(hasher);
        return text;
      },
    };
  };
  return () => {
    const hasher = free.pop();
    return hasher ? started(hasher) : import("hash-wasm").then(make).then(started);
  };
}
