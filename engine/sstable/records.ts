/** Decodes a block's entries to records. */

import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { Block, BlockCursor } from "./block.ts";

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

/** What a block's keys must lie between, where that is known: more than `after`, at most `last`. */
export interface BlockBounds {
  readonly after?: Uint8Array | undefined;
  readonly last?: Uint8Array | undefined;
}

const FIRST_KEY_CAPACITY = 256;
/** One restart point, no entries. */
const NO_RECORDS = new Block(Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0), {
  keyForm: "record",
  place: { file: "", offset: 0 },
});

/** Makes what a caller wants of a record. The place is used again for the next one. */
export type MakeRecord<T> = (key: Uint8Array, place: ValuePlace) => T;

/** Makes a record of the table's own. */
export function tableRecord(key: Uint8Array, { valueBytes, valueStart, valueEnd }: ValuePlace): TableRecord {
  return { key, value: valueBytes.subarray(valueStart, valueEnd) };
}

/**
 * Walks records, block by block, without making anything of them: the current key lies in `keyBytes` up to `keyLength`,
 * until the next one takes its place, and its value lies in the block.
 *
 * Keys that do not ascend are damage, and so are entries that are no records, and keys outside a block's bounds.
 */
export class RecordCursor implements ValuePlace {
  keyBytes: Uint8Array = new Uint8Array(FIRST_KEY_CAPACITY);
  /** Negative in front of the first record. */
  keyLength = -1;
  readonly #entries: BlockCursor;
  #bounds: BlockBounds = {};
  /** A key to begin at, until there. */
  #start: Uint8Array | undefined;

  constructor(block = NO_RECORDS) {
    this.#entries = new BlockCursor(block);
  }

  get valueBytes(): Uint8Array {
    return this.#entries.block.bytes;
  }

  get valueStart(): number {
    return this.#entries.valueStart;
  }

  get valueEnd(): number {
    return this.#entries.end;
  }

  /** Returns a copy of the current key. */
  key(): Uint8Array {
    const { keyBytes, keyLength } = this;
    const key = new Uint8Array(keyLength);
    for (let i = 0; i < keyLength; i++) key[i] = keyBytes[i]!;
    return key;
  }

  /** Moves in front of a block's first record, or of the first one whose key is `start` or sorts after it. */
  enter(block: Block, start?: Uint8Array, bounds: BlockBounds = {}): void {
    const entries = this.#entries;
    entries.block = block;
    entries.end = entries.keyLength = 0;
    this.keyLength = -1;
    this.#bounds = bounds;
    this.#start = start;
    if (start) entries.seekRestart(start);
  }

  /** Moves to the next record of the block; returns `false`, and stays on the last one, when there is none. */
  next(): boolean {
    const entries = this.#entries;
    while (entries.next()) {
      if (entries.block.keyForm === "record") entries.checkIsRecord();
      const isFirst = this.keyLength < 0;
      this.#takeKey();
      if (isFirst) this.#checkFirst();
      if (!this.#start || this.#hasStarted(this.#start)) return true;
    }
    this.#checkLast();
    return false;
  }

  /** Puts the entry's key in place of the last one. Trailers, which take part in the sharing, come along behind it. */
  #takeKey(): void {
    const { block, shared, restStart, valueStart, keyLength: length } = this.#entries;
    const { bytes } = block;
    const userLength = length - block.trailerBytes;
    if (length > this.keyBytes.length) this.#grow(length);
    const key = this.keyBytes, lastLength = this.keyLength;

    const common = userLength < lastLength ? userLength : lastLength;
    let at = shared, from = restStart;
    while (at < common && key[at] === bytes[from]) at++, from++;
    const ascends = at < common ? bytes[from]! > key[at]! : userLength > lastLength;
    if (!ascends) block.fail("keys out of order");
    for (; from < valueStart; at++, from++) key[at] = bytes[from]!;
    this.keyLength = userLength;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(length * 2);
    grown.set(this.keyBytes);
    this.keyBytes = grown;
  }

  #hasStarted(start: Uint8Array): boolean {
    if (this.#compareTo(start) < 0) return false;
    this.#start = undefined;
    return true;
  }

  #checkFirst(): void {
    const { after } = this.#bounds;
    if (after && this.#compareTo(after) <= 0) this.#fail("keys that belong to an earlier block");
  }

  #checkLast(): void {
    const { last } = this.#bounds;
    if (last && this.keyLength >= 0 && this.#compareTo(last) > 0) {
      this.#fail("keys that belong to a later block");
    }
  }

  #compareTo(other: Uint8Array): number {
    const { keyBytes, keyLength } = this;
    const common = keyLength < other.length ? keyLength : other.length;
    for (let i = 0; i < common; i++) {
      const difference = keyBytes[i]! - other[i]!;
      if (difference !== 0) return difference;
    }
    return keyLength - other.length;
  }

  #fail(why: string): never {
    this.#entries.block.fail(why);
  }
}

/** Hands over a block's records in bounded portions, since a few entries of a hostile block can stand for any amount of memory. */
export class RecordDecoder<T = TableRecord> {
  readonly #block: Block;
  readonly #make: MakeRecord<T>;
  readonly #cursor: RecordCursor;
  #keyBytes = 0;

  constructor(block: Block, { start, make }: { start?: Uint8Array | undefined; make: MakeRecord<T> }) {
    this.#block = block;
    this.#make = make;
    this.#cursor = new RecordCursor(block);
    this.#cursor.enter(block, start);
  }

  /** Returns the next records, at most `limit`; none at the end. Keys of more bytes than a block may have are damage. */
  next(limit: number): T[] {
    const cursor = this.#cursor;
    const make = this.#make;
    const records: T[] = [];
    while (records.length < limit && cursor.next()) {
      this.#keyBytes += cursor.keyLength;
      if (this.#keyBytes > MAX_BLOCK_BYTES) this.#block.fail("keys that take more than a block may");
      records.push(make(cursor.key(), cursor));
    }
    return records;
  }
}
