/** The index of a table: where its data blocks lie, and the keys at which they end. */

import { compareBytes } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { type Block, BlockCursor } from "./block.ts";
import { type BlockHandle, decodeHandle } from "./footer.ts";
import { decodeAt } from "./malformed.ts";
import { RecordDecoder, tableRecord } from "./records.ts";
import { BLOCK_TRAILER_BYTES, type TableFile } from "./table_file.ts";

const STEP = 1024;

/**
 * An index, parsed: a row a data block, in order.
 *
 * A separator is at least its block's last key and less than the next block's first; in tables that we write it is the
 * last key itself. Separators lie one behind the other in one array: half a million small ones would cost more.
 */
export class TableIndex {
  #count = 0;
  #offsets: Float64Array = new Float64Array(64);
  #lengths: Uint32Array = new Uint32Array(64);
  #separators: Uint8Array = new Uint8Array(4096);
  /** Where each separator ends in `#separators`; it begins where the one before it ends. */
  #ends: Uint32Array = new Uint32Array(64);

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
    while (cursor.next()) {
      if (cursor.shared > 0) {
        // Only foreign indexes share prefixes.
        this.#count = before;
        return this.#addDecoded(block, file);
      }
      const { bytes } = block;
      this.#add(bytes.subarray(cursor.restStart, cursor.restStart + cursor.userKeyLength), block);
      this.#addHandle(bytes.subarray(cursor.valueStart, cursor.end), { block, file });
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
        this.#add(key, block);
        this.#addHandle(value, { block, file });
      }
    }
  }

  #add(separator: Uint8Array, block: Block): void {
    const start = this.#count === 0 ? 0 : this.#ends[this.#count - 1]!;
    const end = start + separator.length;
    if (end > MAX_BLOCK_BYTES) block.fail("keys that take more than a block may");
    this.#reserve(end);
    this.#separators.set(separator, start);
    this.#ends[this.#count] = end;
    if (this.#count > 0 && compareBytes(this.separator(this.#count - 1), separator) >= 0) {
      block.fail("keys out of order");
    }
  }

  #addHandle(value: Uint8Array, { block, file }: { block: Block; file: TableFile }): void {
    const handle = decodeAt(block.place, () => decodeHandle(value));
    file.checkHandle(handle);
    // As every writer puts them: otherwise a small index could have one block read without end.
    const i = this.#count++;
    if (i > 0 && handle.offset < this.end(i - 1)) corrupt(file.name, handle.offset, "blocks out of order");
    this.#offsets[i] = handle.offset;
    this.#lengths[i] = handle.length;
  }

  #reserve(separatorsEnd: number): void {
    if (this.#count === this.#lengths.length) {
      this.#offsets = grown(this.#offsets, new Float64Array(this.#count * 2));
      this.#lengths = grown(this.#lengths, new Uint32Array(this.#count * 2));
      this.#ends = grown(this.#ends, new Uint32Array(this.#count * 2));
    }
    const room = this.#separators.length;
    if (separatorsEnd > room) {
      this.#separators = grown(this.#separators, new Uint8Array(Math.max(separatorsEnd, room * 2)));
    }
  }
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}
