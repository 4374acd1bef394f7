/** Decodes a block's entries to records, in bounded portions. */

import { Buffer } from "node:buffer";
import { compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { type Block, BlockCursor } from "./block.ts";

/** A user key and its value. Both may be views of larger memory: keep copies, not records. */
export interface TableRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Keys are rebuilt side by side in pieces of memory of about this size. */
const SLAB_BYTES = 16 * 1024;

/**
 * Walks a block's records from the first key that is `start` or greater.
 *
 * A few entries of a hostile block can stand for any amount of memory, so records come in portions, and keys that add up
 * to more than a block may hold are damage. So are keys that do not ascend, and entries that are no records.
 */
export class RecordDecoder {
  readonly #cursor: BlockCursor;
  readonly #holdsRecords: boolean;
  #start: Uint8Array | undefined;
  #slab = EMPTY_BYTES;
  #slabEnd = 0;
  /** Where the last key, with its trailer, begins in the slab. */
  #lastKey = 0;
  #lastUserKeyLength = -1;
  #keyBytes = 0;

  constructor(block: Block, start?: Uint8Array) {
    this.#cursor = new BlockCursor(block);
    this.#holdsRecords = block.keyForm === "record";
    this.#start = start;
    if (start) this.#cursor.seekRestart(start);
  }

  /** Returns the next records, at most `limit`; none at the end. */
  next(limit: number): TableRecord[] {
    const cursor = this.#cursor;
    const block = cursor.block.bytes;
    const records: TableRecord[] = [];
    while (records.length < limit && cursor.next()) {
      const keyStart = this.#rebuildKey();
      const slab = this.#slab;
      const key = new Uint8Array(slab.buffer, slab.byteOffset + keyStart, this.#lastUserKeyLength);
      if (this.#start) {
        if (compareBytes(key, this.#start) < 0) continue;
        this.#start = undefined;
      }
      const { valueStart } = cursor;
      const value = new Uint8Array(block.buffer, block.byteOffset + valueStart, cursor.end - valueStart);
      records.push({ key, value });
    }
    return records;
  }

  /** Appends the current entry's key to the slab, checks it, and returns where it begins. */
  #rebuildKey(): number {
    const cursor = this.#cursor;
    const { shared, keyLength, userKeyLength, restStart } = cursor;
    const block = cursor.block.bytes;
    const lastSlab = this.#slab;
    const last = this.#lastKey;
    this.#reserve(keyLength);
    const slab = this.#slab;
    const at = this.#slabEnd;
    for (let i = 0; i < shared; i++) slab[at + i] = lastSlab[last + i]!;
    for (let from = restStart, to = at + shared; from < cursor.valueStart;) slab[to++] = block[from++]!;

    this.#checkOrder(lastSlab, at);
    if (this.#holdsRecords) cursor.checkIsRecord();
    this.#lastKey = at;
    this.#lastUserKeyLength = userKeyLength;
    this.#slabEnd = at + keyLength;
    return at;
  }

  #checkOrder(lastSlab: Uint8Array, at: number): void {
    const { shared, userKeyLength } = this.#cursor;
    const slab = this.#slab;
    const last = this.#lastKey;
    const lastLength = this.#lastUserKeyLength;
    const common = userKeyLength < lastLength ? userKeyLength : lastLength;
    let i = shared < common ? shared : common;
    while (i < common && slab[at + i] === lastSlab[last + i]) i++;
    const ascends = i < common ? slab[at + i]! > lastSlab[last + i]! : userKeyLength > lastLength;
    if (!ascends) this.#cursor.block.fail("keys out of order");
  }

  #reserve(keyLength: number): void {
    this.#keyBytes += keyLength;
    const { block, restStart } = this.#cursor;
    if (this.#keyBytes > MAX_BLOCK_BYTES) block.fail("keys that take more than a block may");
    if (this.#slabEnd + keyLength <= this.#slab.length) return;
    const expected = Math.min(SLAB_BYTES, block.entriesEnd - restStart);
    this.#slab = Buffer.allocUnsafeSlow(Math.max(keyLength, expected));
    this.#slabEnd = 0;
  }
}
