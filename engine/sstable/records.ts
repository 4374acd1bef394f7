/** Decodes a block's entries to records, in bounded portions. */

import { compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { type Block, BlockCursor } from "./block.ts";

/** A user key, in memory of its own, and its value, which may be a view of its block's. */
export interface TableRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Where a value lies: in `valueBytes` from `valueStart` to `valueEnd`. */
export interface ValuePlace {
  readonly valueBytes: Uint8Array;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Makes what a caller wants of a record. The place is used again for the next one. */
export type MakeRecord<T> = (key: Uint8Array, place: ValuePlace) => T;

/** Makes a record of the table's own. */
export function tableRecord(key: Uint8Array, { valueBytes, valueStart, valueEnd }: ValuePlace): TableRecord {
  return { key, value: valueBytes.subarray(valueStart, valueEnd) };
}

/**
 * Walks a block's records from the first key that is `start` or sorts after it.
 *
 * A few entries of a hostile block can stand for any amount of memory, so records come in portions, and keys that add up
 * to more than a block may hold are damage. So are keys that do not ascend, and entries that are no records.
 */
export class RecordDecoder<T = TableRecord> {
  readonly #make: MakeRecord<T>;
  readonly #cursor: BlockCursor;
  readonly #holdsRecords: boolean;
  #start: Uint8Array | undefined;
  #lastKey: Uint8Array | undefined;
  /** Where the last key's trailer stands in the block. */
  #lastTrailer = 0;
  #keyBytes = 0;

  constructor(block: Block, { start, make }: { start?: Uint8Array | undefined; make: MakeRecord<T> }) {
    this.#make = make;
    this.#cursor = new BlockCursor(block);
    this.#holdsRecords = block.keyForm === "record";
    this.#start = start;
    if (start) this.#cursor.seekRestart(start);
  }

  /** Returns the next records, at most `limit`; none at the end. */
  next(limit: number): T[] {
    const cursor = this.#cursor;
    const make = this.#make;
    const records: T[] = [];
    while (records.length < limit && cursor.next()) {
      if (this.#holdsRecords) cursor.checkIsRecord();
      const key = this.#rebuildKey();
      if (this.#start) {
        if (compareBytes(key, this.#start) < 0) continue;
        this.#start = undefined;
      }
      records.push(make(key, cursor));
    }
    return records;
  }

  #rebuildKey(): Uint8Array {
    const cursor = this.#cursor;
    const { shared, restStart, userKeyLength } = cursor;
    const { bytes } = cursor.block;
    this.#keyBytes += userKeyLength;
    if (this.#keyBytes > MAX_BLOCK_BYTES) cursor.block.fail("keys that take more than a block may");

    const last = this.#lastKey ?? EMPTY_BYTES;
    const key = new Uint8Array(userKeyLength);
    const sharedWithKey = shared < last.length ? shared : last.length;
    let at = 0;
    for (; at < sharedWithKey; at++) key[at] = last[at]!;
    for (let from = this.#lastTrailer; at < shared; at++) key[at] = bytes[from++]!;
    for (let from = restStart; at < userKeyLength; at++) key[at] = bytes[from++]!;

    if (this.#lastKey && !ascends(last, { key, from: sharedWithKey })) cursor.block.fail("keys out of order");
    this.#lastKey = key;
    this.#lastTrailer = cursor.valueStart - cursor.block.trailerBytes;
    return key;
  }
}

/** Returns whether `key` sorts after `last`, when their first `from` bytes are equal. */
function ascends(last: Uint8Array, { key, from }: { key: Uint8Array; from: number }): boolean {
  const common = key.length < last.length ? key.length : last.length;
  let at = from;
  while (at < common && key[at] === last[at]) at++;
  return at < common ? key[at]! > last[at]! : key.length > last.length;
}
