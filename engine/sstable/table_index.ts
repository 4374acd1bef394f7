/** The index of a table: where its data blocks lie, and the keys at which they end. */

import { corrupt } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { type Block, BlockCursor } from "./block.ts";
import { type BlockHandle, decodeHandle } from "./footer.ts";
import { decodeAt } from "./malformed.ts";
import { RecordDecoder, tableRecord } from "./records.ts";
import { BLOCK_TRAILER_BYTES, type TableFile } from "./table_file.ts";

const STEP = 1024;
/** An entry has three lengths, a trailer of 8 bytes behind its key, and a handle of at least two. */
const MIN_ENTRY_BYTES = 13;

/**
 * An index, parsed: a row a data block, in order.
 *
 * A separator is at least its block's last key and less than the next block's first; in tables that we write it is the
 * last key itself. Separators lie one behind the other in one array: half a million small ones would cost more.
 */
export class TableIndex {
  #count = 0;
  #offsets: Float64Array = new Float64Array(0);
  #lengths: Uint32Array = new Uint32Array(0);
  #separators: Uint8Array = new Uint8Array(0);
  /** Where each separator ends in `#separators`; it begins where the one before it ends. */
  #ends: Uint32Array = new Uint32Array(0);

  /** How many bytes the key that was last searched for has in common with all keys of the block that was found. */
  sharedPrefix = 0;

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

  /** All separators, one behind the other. */
  get separators(): Uint8Array {
    return this.#separators;
  }

  separatorStart(i: number): number {
    return i === 0 ? 0 : this.#ends[i - 1]!;
  }

  separatorEnd(i: number): number {
    return this.#ends[i]!;
  }

  /** Returns a view of a block's separator. */
  separator(i: number): Uint8Array {
    return this.#separators.subarray(i === 0 ? 0 : this.#ends[i - 1]!, this.#ends[i]!);
  }

  /** The bytes that it takes in memory, roughly. */
  get memoryBytes(): number {
    return this.#separators.length + this.#offsets.length * 16;
  }

  /** Adds the rows of an index block. */
  addBlock(block: Block, file: TableFile): void {
    const before = this.#count;
    const cursor = new BlockCursor(block);
    this.#reserveFor(block);
    while (cursor.next()) {
      if (cursor.shared > 0) {
        // Only foreign indexes share prefixes.
        this.#count = before;
        return this.#addDecoded(block, file);
      }
      this.#addSeparator(block, cursor.restStart, cursor.userKeyLength);
      this.#addHandleAt(cursor, file);
    }
  }

  /**
   * Returns the first block whose separator is `key` or sorts after it, or {@link count}.
   *
   * Neighbours in the order share long prefixes. What `key` shares with both ends of the part that is left, it shares with
   * all in between, so no byte of that is compared again.
   */
  firstAtOrAfter(key: Uint8Array): number {
    this.sharedPrefix = 0;
    const separators = this.#separators, ends = this.#ends;
    let low = 0, high = this.#count;
    let sharedLow = 0, sharedHigh = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle === 0 ? 0 : ends[middle - 1]!;
      const length = ends[middle]! - start;
      const common = length < key.length ? length : key.length;
      let at = sharedLow < sharedHigh ? sharedLow : sharedHigh;
      while (at < common && separators[start + at] === key[at]) at++;
      const isBelow = at < common ? separators[start + at]! < key[at]! : length < key.length;
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

  #addDecoded(block: Block, file: TableFile): void {
    const decoder = new RecordDecoder(block, { make: tableRecord });
    for (let entries = decoder.next(STEP); entries.length > 0; entries = decoder.next(STEP)) {
      for (const { key, value } of entries) {
        this.#addSeparator({ bytes: key, fail: (why) => block.fail(why) }, 0, key.length);
        const { offset, length } = decodeAt(block.place, () => decodeHandle(value));
        this.#addRow(offset, length, file);
      }
    }
  }

  /** Adds a separator that lies in some bytes. */
  #addSeparator(source: Pick<Block, "bytes" | "fail">, from: number, length: number): void {
    const { bytes } = source;
    const i = this.#count;
    const start = this.separatorStart(i);
    const end = start + length;
    if (end > MAX_BLOCK_BYTES) source.fail("keys that take more than a block may");
    this.#reserve(i + 1, end);
    const separators = this.#separators;
    // No view of each: an index has thousands.
    const last = i > 0 ? this.separatorStart(i - 1) : start;
    const common = Math.min(start - last, length);
    let at = 0;
    while (at < common && separators[last + at] === bytes[from + at]) at++;
    const isBehind = at < common ? separators[last + at]! < bytes[from + at]! : length > start - last;
    if (i > 0 && !isBehind) source.fail("keys out of order");
    for (let k = 0; k < length; k++) separators[start + k] = bytes[from + k]!;
    this.#ends[i] = end;
  }

  /** Adds the handle that is a cursor's value, to the separator that was added last. */
  #addHandleAt(cursor: BlockCursor, file: TableFile): void {
    const { bytes, place } = cursor.block, { valueStart, end } = cursor;
    const offset = shortVarint(bytes, valueStart, end);
    const length = shortVarint(bytes, varintEnd, end);
    if (offset >= 0 && length >= 0 && varintEnd === end) return this.#addRow(offset, length, file);
    const handle = decodeAt(place, () => decodeHandle(cursor.value()));
    this.#addRow(handle.offset, handle.length, file);
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
    const start = this.separatorStart(this.#count);
    this.#reserve(this.#count + more, Math.min(start + entriesEnd - more * MIN_ENTRY_BYTES, MAX_BLOCK_BYTES));
  }

  #reserve(count: number, separatorsEnd: number): void {
    if (count > this.#lengths.length) {
      const room = Math.max(count, this.#lengths.length * 2);
      this.#offsets = grown(this.#offsets, new Float64Array(room));
      this.#lengths = grown(this.#lengths, new Uint32Array(room));
      this.#ends = grown(this.#ends, new Uint32Array(room));
    }
    const room = this.#separators.length;
    if (separatorsEnd > room) {
      this.#separators = grown(this.#separators, new Uint8Array(Math.max(separatorsEnd, room * 2)));
    }
  }
}

/** Where the number that {@link shortVarint} returned ends. */
let varintEnd = 0;

/** Returns the varint of at most six bytes at `at`, or -1 when there is none. */
function shortVarint(bytes: Uint8Array, at: number, end: number): number {
  let value = 0, scale = 1;
  for (let i = at; i < end && i < at + 6; i++, scale *= 0x80) {
    const byte = bytes[i]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      varintEnd = i + 1;
      return value;
    }
  }
  return -1;
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}
