/**
 * Snappy in the kernel (`snappy_kernel.wat`), and the memory that it works in.
 *
 *     0        the hash table of the compressor
 *     32 KiB   what is given: a stream, or data to compress
 *     288 KiB  what comes out, up to 1 MiB
 */

import type { BlockMemory } from "./compression.ts";
import { type KernelExports, loadKernel } from "./kernel.ts";
import { malformed } from "./malformed.ts";
import { FRAGMENT_BYTES, tableBitsFor } from "./snappy_elements.ts";

const INPUT = 32 * 1024;
const OUTPUT = 288 * 1024;
const MEMORY_BYTES = 1024 * 1024;
/** Left free behind what is read and written, which the kernel's steps reach into. */
const SLACK_BYTES = 16;
const MAX_INPUT_BYTES = OUTPUT - INPUT - SLACK_BYTES;
const MAX_OUTPUT_BYTES = MEMORY_BYTES - OUTPUT - SLACK_BYTES;
const LEAST_MEMORY = 16 * 1024;

/** By what `decompress` returns. */
const COMPLAINTS = [
  "",
  "Snappy data shorter than it claims",
  "Snappy literal out of bounds",
  "Snappy copy out of bounds",
];

/** Makes the kernel, if nobody has yet. */
export function loadSnappyKernel(): SnappyKernel {
  return new SnappyKernel(loadKernel());
}

export class SnappyKernel {
  readonly #exports: KernelExports;
  readonly #memory: Uint8Array;

  constructor(exports: KernelExports) {
    this.#exports = exports;
    this.#memory = new Uint8Array(exports.memory.buffer);
  }

  /** Returns whether data of this length can be compressed here. */
  fitsCompressed(inputLength: number): boolean {
    // What comes out is longer by a sixth at most, for which there is room.
    return inputLength <= MAX_INPUT_BYTES;
  }

  /** Returns whether a stream can be decompressed here. */
  fitsDecompressed(streamLength: number, length: number): boolean {
    return streamLength <= MAX_INPUT_BYTES && length <= MAX_OUTPUT_BYTES;
  }

  /** Compresses `input` to elements, which are written into `output` from `at` on; returns where they end. */
  compress(input: Uint8Array, output: Uint8Array, at: number): number {
    const memory = this.#memory;
    memory.set(input, INPUT);
    let end = OUTPUT;
    for (let from = 0; from < input.length; from += FRAGMENT_BYTES) {
      const length = Math.min(FRAGMENT_BYTES, input.length - from);
      end = this.#exports.compress(INPUT + from, INPUT + from + length, end, tableBitsFor(length));
    }
    output.set(memory.subarray(OUTPUT, end), at);
    return at + end - OUTPUT;
  }

  /** Returns the `length` bytes that the elements of a stream give. Throws `MalformedError` when they do not. */
  decompress(
    stream: Uint8Array,
    elementsStart: number,
    { length, memory }: { length: number; memory: BlockMemory | undefined },
  ): Uint8Array {
    const ours = this.#memory;
    ours.set(stream, INPUT);
    const outputEnd = OUTPUT + length;
    const wrong = this.#exports.decompress(INPUT + elementsStart, INPUT + stream.length, OUTPUT, outputEnd);
    if (wrong !== 0) malformed(COMPLAINTS[wrong]!);
    if (!memory) return ours.slice(OUTPUT, outputEnd);
    if (memory.bytes.length < length) memory.bytes = new Uint8Array(Math.max(LEAST_MEMORY, 2 * length));
    memory.bytes.set(ours.subarray(OUTPUT, outputEnd));
    return memory.bytes.subarray(0, length);
  }
}
