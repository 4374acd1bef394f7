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
import { malformed } from "./malformed.ts";
import { varintAt } from "./varint.ts";

const FRAGMENT_BYTES = 1 << 16;
const MAX_TABLE_BITS = 14;
/** The search ends this far before the fragment does, so that it may load 4 bytes at any position. */
const INPUT_MARGIN = 15;
const HASH_FACTOR = 0x1e35a7bd;
/** After 32 misses the search advances by 2 bytes, after 32 more by 3, and so on. */
const FIRST_STRIDE = 32;
/** The densest element is a copy of 64 bytes in 3: no stream grows by more when it is decompressed. */
const MAX_EXPANSION = 64 / 3;
/** What is compared at once; copying takes two of these a step. */
const WORD_BYTES = 4;
const STEP_BYTES = 2 * WORD_BYTES;

/** Returns how many bytes {@link snappyCompress} may need for an input of this length. */
export function maxSnappyBytes(inputLength: number): number {
  return 32 + inputLength + Math.floor(inputLength / 6);
}

/** Compresses `input` to the start of `output`, which has room for {@link maxSnappyBytes}; returns the bytes written. */
export function snappyCompress(input: Uint8Array, output: Uint8Array): number {
  const writer = new ElementWriter(output);
  writer.streamLength(input.length);
  for (let at = 0; at < input.length; at += FRAGMENT_BYTES) {
    compressFragment(input.subarray(at, at + FRAGMENT_BYTES), writer);
  }
  return writer.end;
}

/**
 * Returns the decompressed data of a whole stream.
 *
 * Nothing is allocated before the length that the stream claims was found to be at most `maxBytes` and possible for a
 * stream of this size. Throws `MalformedError` on anything else than a well-formed stream.
 */
export function snappyDecompress(input: Uint8Array, maxBytes: number): Uint8Array {
  const { value: length, end: elementsStart } = varintAt(input, 0);
  if (length > maxBytes) malformed(`Snappy data of ${length} bytes, more than ${maxBytes}`);
  if (length > (input.length - elementsStart) * MAX_EXPANSION) {
    malformed("Snappy data that claims more than it can hold");
  }
  // Memory that is not cleared is several times as fast; the elements fill all of it or are malformed.
  const memory = Buffer.allocUnsafeSlow(length);
  // No Buffer: its views are slower to make, and there will be many.
  const output = new Uint8Array(memory.buffer, memory.byteOffset, length);
  decompressElements(input.subarray(elementsStart), output);
  return output;
}

/** Where each hash was last seen in the fragment under way. Shared by all calls, which never overlap. */
const hashTable = new Uint16Array(1 << MAX_TABLE_BITS);

function compressFragment(input: Uint8Array, writer: ElementWriter): void {
  const length = input.length;
  const words = new DataView(input.buffer, input.byteOffset, length);
  const table = hashTable;
  let tableBits = 8;
  while (tableBits < MAX_TABLE_BITS && 1 << tableBits < length) tableBits++;
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
  end = 0;
  readonly #output: Uint8Array;
  readonly #words: DataView;

  constructor(output: Uint8Array) {
    this.#output = output;
    this.#words = new DataView(output.buffer, output.byteOffset, output.length);
  }

  streamLength(length: number): void {
    for (; length >= 0x80; length >>>= 7) this.#output[this.end++] = (length & 0x7f) | 0x80;
    this.#output[this.end++] = length;
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

function decompressElements(input: Uint8Array, output: Uint8Array): void {
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
