/**
 * Snappy in TypeScript: of the first blocks of a process, and of those that are too large for the kernel's memory. The
 * kernel (`snappy_kernel.wat`) does the same, byte for byte.
 */

import { malformed } from "./malformed.ts";

/** What is compressed at once. */
export const FRAGMENT_BYTES = 1 << 16;
const MAX_TABLE_BITS = 14;
/** The search ends this far before the fragment does, so that it may load 4 bytes at any position. */
const INPUT_MARGIN = 15;
const HASH_FACTOR = 0x1e35a7bd;
/** After 32 misses the search advances by 2 bytes, after 32 more by 3, and so on. */
const FIRST_STRIDE = 32;
/** What is compared at once; copying takes two of these a step. */
const WORD_BYTES = 4;
const STEP_BYTES = 2 * WORD_BYTES;

/** Compresses `input` to the elements of a stream, which are written into `output` from `at` on; returns where they end. */
export function compressElements(input: Uint8Array, output: Uint8Array, at: number): number {
  const writer = new ElementWriter(output, at);
  for (let from = 0; from < input.length; from += FRAGMENT_BYTES) {
    compressFragment(input.subarray(from, from + FRAGMENT_BYTES), writer);
  }
  return writer.end;
}

/** Returns how many bits tell the slots of the hash table apart. */
export function tableBitsFor(fragmentLength: number): number {
  let bits = 8;
  while (bits < MAX_TABLE_BITS && 1 << bits < fragmentLength) bits++;
  return bits;
}

/** Where each hash was last seen in the fragment under way. Shared by all calls, which never overlap. */
const hashTable = new Uint16Array(1 << MAX_TABLE_BITS);

function compressFragment(input: Uint8Array, writer: ElementWriter): void {
  const length = input.length;
  const words = new DataView(input.buffer, input.byteOffset, length);
  const table = hashTable;
  const tableBits = tableBitsFor(length);
  table.fill(0, 0, 1 << tableBits);
  const shift = 32 - tableBits;
  const limit = length - INPUT_MARGIN;

  let literalStart = 0;
  let stride = FIRST_STRIDE;
  // An empty slot reads as position 0, which is why the search begins at 1.
  for (let at = 1; at < limit;) {
    const word = words.getInt32(at, true);
    const slot = Math.imul(word, HASH_FACTOR) >>> shift;
    const candidate = table[slot]!;
    table[slot] = at;
    if (words.getInt32(candidate, true) !== word) {
      at += stride++ >>> 5;
      continue;
    }
    const matchEnd = at + matchLength(words, { from: candidate, to: at });
    if (literalStart < at) writer.literal(words, { from: literalStart, to: at });
    writer.copy(at - candidate, matchEnd - at);
    at = literalStart = matchEnd;
    stride = FIRST_STRIDE;
    // The last position of a match often begins the next one.
    if (at < limit) table[Math.imul(words.getInt32(at - 1, true), HASH_FACTOR) >>> shift] = at - 1;
  }
  if (literalStart < length) writer.literal(words, { from: literalStart, to: length });
}

/** Returns how many bytes at `to` repeat those at `from`, which lies below it; the first four do. */
function matchLength(words: DataView, { from, to }: { from: number; to: number }): number {
  const length = words.byteLength;
  let end = to + WORD_BYTES;
  from += WORD_BYTES;
  while (end + WORD_BYTES <= length && words.getInt32(from, true) === words.getInt32(end, true)) {
    from += WORD_BYTES;
    end += WORD_BYTES;
  }
  while (end < length && words.getUint8(from) === words.getUint8(end)) {
    from++;
    end++;
  }
  return end - to;
}

/** Writes the elements of a stream. */
class ElementWriter {
  end: number;
  readonly #output: Uint8Array;
  readonly #words: DataView;

  constructor(output: Uint8Array, start: number) {
    this.end = start;
    this.#output = output;
    this.#words = new DataView(output.buffer, output.byteOffset, output.length);
  }

  literal(input: DataView, { from, to }: { from: number; to: number }): void {
    const output = this.#output;
    const last = to - from - 1;
    let end = this.end;
    if (last < 60) {
      output[end++] = last << 2;
    } else if (last < 0x100) {
      output[end++] = 60 << 2;
      output[end++] = last;
    } else {
      output[end++] = 61 << 2;
      output[end++] = last & 0xff;
      output[end++] = last >>> 8;
    }
    copySpan(input, this.#words, { from, to: end, length: to - from });
    this.end = end + to - from;
  }

  copy(offset: number, length: number): void {
    // What remains for the last element is at least 4, which its short form needs.
    for (; length >= 68; length -= 64) this.#longCopy(offset, 64);
    if (length > 64) {
      this.#longCopy(offset, 60);
      length -= 60;
    }
    if (length >= 12 || offset >= 2048) return this.#longCopy(offset, length);
    this.#output[this.end++] = ((offset >>> 8) << 5) | ((length - 4) << 2) | 1;
    this.#output[this.end++] = offset & 0xff;
  }

  #longCopy(offset: number, length: number): void {
    this.#output[this.end++] = ((length - 1) << 2) | 2;
    this.#output[this.end++] = offset & 0xff;
    this.#output[this.end++] = offset >>> 8;
  }
}

/** Fills `output` with what the elements give. Throws `MalformedError` unless they are well-formed and fill all of it. */
export function decompressElements(input: Uint8Array, output: Uint8Array): void {
  const inputWords = new DataView(input.buffer, input.byteOffset, input.length);
  const outputWords = new DataView(output.buffer, output.byteOffset, output.length);
  // An input that ends within an element's head moves `at` beyond its end, and that is checked before the head is used.
  let at = 0, end = 0;
  while (at < input.length) {
    const tag = input[at++]!;
    let length = (tag >>> 2) + 1;
    if ((tag & 3) === 0) {
      if (length > 60) {
        const lengthBytes = length - 60;
        length = littleEndian(input, { at, bytes: lengthBytes }) + 1;
        at += lengthBytes;
      }
      if (at > input.length || length > input.length - at || length > output.length - end) {
        malformed("Snappy literal out of bounds");
      }
      copySpan(inputWords, outputWords, { from: at, to: end, length });
      at += length;
    } else {
      let offset: number;
      if ((tag & 3) === 1) {
        length = ((tag >>> 2) & 7) + 4;
        offset = ((tag >>> 5) << 8) | input[at++]!;
      } else {
        const offsetBytes = (tag & 3) === 2 ? 2 : 4;
        offset = littleEndian(input, { at, bytes: offsetBytes });
        at += offsetBytes;
      }
      if (at > input.length || offset === 0 || offset > end || length > output.length - end) {
        malformed("Snappy copy out of bounds");
      }
      if (offset >= WORD_BYTES) copySpan(outputWords, outputWords, { from: end - offset, to: end, length });
      else for (let i = end; i < end + length; i++) output[i] = output[i - offset]!;
    }
    end += length;
  }
  if (end !== output.length) malformed("Snappy data shorter than it claims");
}

/**
 * Copies a span upwards, in whole steps as long as both sides have room for them: what is written beyond the span is
 * written again by the next element. Within one array, `from` lies at least a word below `to`.
 */
function copySpan(
  source: DataView,
  target: DataView,
  { from, to, length }: { from: number; to: number; length: number },
): void {
  const stop = to + length;
  if (stop + STEP_BYTES <= target.byteLength && from + length + STEP_BYTES <= source.byteLength) {
    for (; to < stop; from += STEP_BYTES, to += STEP_BYTES) {
      target.setInt32(to, source.getInt32(from, true), true);
      target.setInt32(to + WORD_BYTES, source.getInt32(from + WORD_BYTES, true), true);
    }
  } else {
    for (; to < stop; from++, to++) target.setUint8(to, source.getUint8(from));
  }
}

function littleEndian(input: Uint8Array, { at, bytes }: { at: number; bytes: number }): number {
  let value = 0;
  for (let i = at + bytes - 1; i >= at; i--) value = value * 256 + input[i]!;
  return value;
}
