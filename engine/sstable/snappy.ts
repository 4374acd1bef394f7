/**
 * The Snappy block format, without framing.
 *
 * ```
 * stream  := varint32(length of the decompressed data) element*
 * literal := tag 00: length-1 in the upper 6 bits, or 60..63 there and length-1 in the next 1..4 bytes; then the bytes
 * copy    := tag 01: length 4..11 in bits 2-4, offset of 11 bits in bits 5-7 and the next byte
 *          | tag 10: length 1..64 in the upper 6 bits, offset in the next 2 bytes
 *          | tag 11: the same with 4 bytes of offset
 * ```
 * A copy repeats what lies `offset` bytes back in the output; it may overlap what it writes.
 *
 * The compressor is greedy, like the original: a hash table remembers where four bytes were last seen, and the search
 * strides faster the longer it has found nothing. Its output is a function of the input alone. It works in fragments of
 * 64 KiB, so that a position fits the table's 16 bits and an offset fits 2 bytes.
 */

import { Buffer } from "node:buffer";
import type { BlockMemory } from "./compression.ts";
import { malformed } from "./malformed.ts";
import { compressElements, decompressElements } from "./snappy_elements.ts";
import { loadSnappyKernel, type SnappyKernel } from "./snappy_kernel.ts";
import { putVarint, varintAt } from "./varint.ts";

/** The densest element is a copy of 64 bytes in 3: no stream grows by more when it is decompressed. */
const MAX_EXPANSION = 64 / 3;
/** Making the kernel takes as long as so much data takes without it: the shortest commands do without. */
const FIRST_BYTES = 64 * 1024;

/** Returns how many bytes {@link snappyCompress} may need for an input of this length. */
export function maxSnappyBytes(inputLength: number): number {
  return 32 + inputLength + Math.floor(inputLength / 6);
}

/** Compresses `input` to the start of `output`, which has room for {@link maxSnappyBytes}; returns the bytes written. */
export function snappyCompress(input: Uint8Array, output: Uint8Array): number {
  const elementsStart = putVarint(output, 0, input.length);
  const kernel = kernelOnceItPays(input.length);
  return kernel?.fitsCompressed(input.length)
    ? kernel.compress(input, output, elementsStart)
    : compressElements(input, output, elementsStart);
}

/**
 * Returns the decompressed data of a whole stream, in memory of its own or in the memory given.
 *
 * Nothing is allocated before the length that the stream claims was found to be at most `maxBytes` and possible for a
 * stream of this size. Throws `MalformedError` on anything else than a well-formed stream.
 */
export function snappyDecompress(input: Uint8Array, maxBytes: number, memory?: BlockMemory): Uint8Array {
  const { value: length, end: elementsStart } = varintAt(input, 0);
  if (length > maxBytes) malformed(`Snappy data of ${length} bytes, more than ${maxBytes}`);
  if (length > (input.length - elementsStart) * MAX_EXPANSION) {
    malformed("Snappy data that claims more than it can hold");
  }
  const kernel = kernelOnceItPays(length);
  if (kernel?.fitsDecompressed(input.length, length)) {
    return kernel.decompress(input, elementsStart, { length, memory });
  }
  // Memory that is not cleared is several times as fast; the elements fill all of it or are malformed.
  const fresh = Buffer.allocUnsafeSlow(length);
  // No Buffer: its views are slower to make, and there will be many.
  const output = new Uint8Array(fresh.buffer, fresh.byteOffset, length);
  decompressElements(input.subarray(elementsStart), output);
  return output;
}

let bytesSoFar = 0;
let kernel: SnappyKernel | undefined;

function kernelOnceItPays(length: number): SnappyKernel | undefined {
  bytesSoFar += length;
  if (bytesSoFar < FIRST_BYTES) return undefined;
  kernel ??= loadSnappyKernel();
  return kernel;
}
