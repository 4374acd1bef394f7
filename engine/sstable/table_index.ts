/** The index of a table: where its data blocks lie, and the keys at which they end. */

import { asBuffer, compareBytes, EMPTY_BYTES, startsWithBytes } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import type { Block } from "./block.ts";
import { type BlockHandle, decodeHandle } from "./footer.ts";
import { commonPrefix } from "./index_prefix.ts";
import { decodeAt } from "./malformed.ts";
import { RecordDecoder, tableRecord } from "./records.ts";
import { BLOCK_TRAILER_BYTES, type TableFile } from "./table_file.ts";

const STEP = 1024;
/** With its trailer; so that its length takes two bytes at most. */
const MAX_PLAIN_KEY_BYTES = 1024;
/** An entry has three lengths, a trailer of 8 bytes behind its key, and a handle of at least two. */
const MIN_ENTRY_BYTES = 13;

/**
 * An index, parsed: a row a data block, in order.
 *
 * A separator is at least its block's last key and less than the next block's first; in tables that we write it is the
 * last key itself. What all of them begin with is kept once, what follows it lies one behind the other in one array: half a
 * million small ones would cost more.
 */
export class TableIndex {
  #count = 0;
  #offsets: Float64Array = new Float64Array(0);
  #lengths: Uint32Array = new Uint32Array(0);
  readonly #prefix: Uint8Array;
  /** What follows the prefix in each separator. */
  #suffixes: Uint8Array = EMPTY_BYTES;
  /** Where that ends; it begins where the one before it ends. */
  #ends: Uint32Array = new Uint32Array(0);

  /** How many bytes the key that was last searched for has in common with all keys of the block that was found. */
  sharedPrefix = 0;

  /** An index without rows, for separators that begin with a prefix. */
  private constructor(prefix: Uint8Array) {
    this.#prefix = prefix;
  }

  /** Returns the index that some blocks hold, one after the other. */
  static of(blocks: readonly Block[], file: TableFile): TableIndex {
    const index = new TableIndex(commonPrefix(blocks));
    if (blocks.every((block) => index.#addPlain(block, file))) return index;
    const decoded = new TableIndex(EMPTY_BYTES);
    for (const block of blocks) decoded.#addDecoded(block, file);
    return decoded;
  }

  /** How many data blocks there are. */
  get count(): number {
    return this.#count;
  }

  /** Where a block begins in the file. */
  offset(i: number): number {
    return this.#offsets[i]!;
  }

  /** A block's stored bytes, without its trailer. */
  length(i: number): number {
    return this.#lengths[i]!;
  }

  /** Where a block ends in the file, its trailer included. */
  end(i: number): number {
    return this.#offsets[i]! + this.#lengths[i]! + BLOCK_TRAILER_BYTES;
  }

  handle(i: number): BlockHandle {
    return { offset: this.#offsets[i]!, length: this.#lengths[i]! };
  }

  /** Returns where blocks `from` (inclusive) to `to` (exclusive) lie. */
  handles(from: number, to: number): BlockHandle[] {
    return Array.from({ length: to - from }, (_, at) => this.handle(from + at));
  }

  /** What all separators begin with. */
  get prefix(): Uint8Array {
    return this.#prefix;
  }

  /** What follows that in the separators, one behind the other. */
  get suffixes(): Uint8Array {
    return this.#suffixes;
  }

  suffixStart(i: number): number {
    return i === 0 ? 0 : this.#ends[i - 1]!;
  }

  suffixEnd(i: number): number {
    return this.#ends[i]!;
  }

  /** Returns a block's separator. */
  separator(i: number): Uint8Array {
    const prefix = this.#prefix, suffixes = this.#suffixes;
    const start = this.suffixStart(i), end = this.#ends[i]!;
    const out = new Uint8Array(prefix.length + end - start);
    let at = 0;
    for (; at < prefix.length; at++) out[at] = prefix[at]!;
    for (let k = start; k < end; k++) out[at++] = suffixes[k]!;
    return out;
  }

  /** Compares a key that lies in some bytes with a block's separator. */
  compareKey(bytes: Uint8Array, { start, end }: { start: number; end: number }, i: number): number {
    const prefix = this.#prefix, suffixes = this.#suffixes, suffixStart = this.suffixStart(i);
    const length = end - start, otherLength = prefix.length + this.#ends[i]! - suffixStart;
    const common = length < otherLength ? length : otherLength;
    let at = 0;
    for (; at < common && at < prefix.length; at++) {
      const difference = bytes[start + at]! - prefix[at]!;
      if (difference !== 0) return difference;
    }
    for (const toSuffix = suffixStart - prefix.length; at < common; at++) {
      const difference = bytes[start + at]! - suffixes[toSuffix + at]!;
      if (difference !== 0) return difference;
    }
    return length - otherLength;
  }

  /** The bytes that it takes in memory, roughly. */
  get memoryBytes(): number {
    return this.#suffixes.length + this.#offsets.length * 16;
  }

  /** Returns the first block behind `from` that ends beyond a place in the file, or `to` if none before it does. */
  firstBeyond(place: number, { from, to }: { from: number; to: number }): number {
    let low = from + 1, high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.end(middle) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Returns the first block whose separator is `key` or sorts after it, or {@link count}.
   *
   * Neighbours in the order share long prefixes. What `key` shares with both ends of the part that is left, it shares with
   * all in between, so no byte of that is compared again.
   */
  firstAtOrAfter(key: Uint8Array): number {
    this.sharedPrefix = 0;
    const prefix = this.#prefix, prefixLength = prefix.length;
    let inPrefix = 0;
    while (inPrefix < prefixLength && prefix[inPrefix] === key[inPrefix]) inPrefix++;
    if (inPrefix < prefixLength) {
      const isBelow = inPrefix < key.length && prefix[inPrefix]! < key[inPrefix]!;
      return isBelow ? this.#count : 0;
    }
    const suffixes = this.#suffixes, ends = this.#ends;
    let low = 0, high = this.#count;
    let sharedLow = 0, sharedHigh = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      // Where it would begin if the prefix lay in front of it.
      const start = (middle === 0 ? 0 : ends[middle - 1]!) - prefixLength;
      const length = ends[middle]! - start;
      const common = length < key.length ? length : key.length;
      let at = sharedLow < sharedHigh ? sharedLow : sharedHigh;
      if (at < prefixLength) at = prefixLength;
      while (at < common && suffixes[start + at] === key[at]) at++;
      const isBelow = at < common ? suffixes[start + at]! < key[at]! : length < key.length;
      if (isBelow) {
        low = middle + 1;
        sharedLow = at;
      } else {
        high = middle;
        sharedHigh = at;
      }
    }
    this.sharedPrefix = sharedLow < sharedHigh ? sharedLow : sharedHigh;
    return low;
  }

  /**
   * Adds rows as we write them: keys are whole, all numbers short. Returns `false` when there are others, or damage. A short
   * command runs this once, before it is compiled: so it is one loop, which leaves to the runtime's calls what it can. Keys
   * ascend, so all of them begin with the prefix if the first and the last do.
   */
  #addPlain(block: Block, file: TableFile): boolean {
    this.#reserveFor(block);
    const { bytes, entriesEnd, trailerBytes } = block, source = asBuffer(bytes);
    const offsets = this.#offsets, lengths = this.#lengths, ends = this.#ends, lastBlockEnd = file.blocksEnd;
    const suffixes = asBuffer(this.#suffixes), prefixLength = this.#prefix.length;
    let count = this.#count, end = this.suffixStart(count);
    let before = count > 0 ? asBuffer(this.separator(count - 1)) : source, last = 0, lastEnd = before.length;
    let blockEnd = count > 0 ? this.end(count - 1) : 0;
    for (let at = 0; at < entriesEnd; count++) {
      if (count === lengths.length || bytes[at++] !== 0) return false;
      let rest = bytes[at++]!;
      if (rest >= 0x80) rest += (bytes[at++]! - 1) * 0x80;
      const handleBytes = bytes[at++]!, key = at, keyEnd = at + rest - trailerBytes;
      at += rest + handleBytes;
      if (rest > MAX_PLAIN_KEY_BYTES || keyEnd < key || handleBytes >= 0x80 || at > entriesEnd) return false;
      const suffix = key + prefixLength;
      if (suffix > keyEnd || end + keyEnd - suffix > suffixes.length) return false;
      if (count > 0 && source.compare(before, last, lastEnd, key, keyEnd) <= 0) return false;
      source.copy(suffixes, end, suffix, keyEnd);
      before = source;
      last = key;
      lastEnd = keyEnd;
      end += keyEnd - suffix;

      let from = keyEnd + trailerBytes, byte = bytes[from++]!, offset = byte & 0x7f;
      for (let scale = 0x80; byte >= 0x80; scale *= 0x80) offset += ((byte = bytes[from++]!) & 0x7f) * scale;
      byte = bytes[from++]!;
      let length = byte & 0x7f;
      for (let scale = 0x80; byte >= 0x80; scale *= 0x80) length += ((byte = bytes[from++]!) & 0x7f) * scale;
      if (from !== at || offset < blockEnd || offset + length > lastBlockEnd || length > MAX_BLOCK_BYTES) {
        return false;
      }
      blockEnd = offset + length + BLOCK_TRAILER_BYTES;
      ends[count] = end;
      offsets[count] = offset;
      lengths[count] = length;
    }
    if (count > this.#count && !startsWithBytes(source.subarray(last, lastEnd), this.#prefix)) return false;
    this.#count = count;
    return true;
  }

  #addDecoded(block: Block, file: TableFile): void {
    const decoder = new RecordDecoder(block, { make: tableRecord });
    for (let entries = decoder.next(STEP); entries.length > 0; entries = decoder.next(STEP)) {
      for (const { key, value } of entries) {
        this.#addSeparator(block, key);
        const { offset, length } = decodeAt(block.place, () => decodeHandle(value));
        this.#addRow(offset, length, file);
      }
    }
  }

  #addSeparator(block: Block, key: Uint8Array): void {
    const i = this.#count;
    const start = this.suffixStart(i), end = start + key.length;
    if (end > MAX_BLOCK_BYTES) block.fail("keys that take more than a block may");
    if (i > 0 && compareBytes(this.separator(i - 1), key) >= 0) block.fail("keys out of order");
    this.#reserve(i + 1, end);
    this.#suffixes.set(key, start);
    this.#ends[i] = end;
  }

  #addRow(offset: number, length: number, file: TableFile): void {
    file.checkExtent(offset, length);
    // As every writer puts them: otherwise a small index could have one block read without end.
    const i = this.#count++;
    if (i > 0 && offset < this.end(i - 1)) corrupt(file.name, offset, "blocks out of order");
    this.#offsets[i] = offset;
    this.#lengths[i] = length;
  }

  /** Makes room for a block of ours, in which each entry is a restart point, at once and with little to spare. */
  #reserveFor(block: Block): void {
    const { restartCount, entriesEnd } = block;
    const more = Math.min(restartCount, Math.floor(entriesEnd / MIN_ENTRY_BYTES));
    const start = this.suffixStart(this.#count);
    const suffixesEnd = start + entriesEnd - more * (MIN_ENTRY_BYTES + this.#prefix.length);
    this.#reserve(this.#count + more, Math.max(start, Math.min(suffixesEnd, MAX_BLOCK_BYTES)));
  }

  #reserve(count: number, separatorsEnd: number): void {
    if (count > this.#lengths.length) {
      const room = Math.max(count, this.#lengths.length * 2);
      this.#offsets = grown(this.#offsets, new Float64Array(room));
      this.#lengths = grown(this.#lengths, new Uint32Array(room));
      this.#ends = grown(this.#ends, new Uint32Array(room));
    }
    const room = this.#suffixes.length;
    if (separatorsEnd > room) {
      this.#suffixes = grown(this.#suffixes, new Uint8Array(Math.max(separatorsEnd, room * 2)));
    }
  }
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}
