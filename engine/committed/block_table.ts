/**
 * What is known of each block of a range beside its bytes: enough to skip blocks that are equal and to copy blocks that did
 * not change, without decoding either.
 */

import { sha256Into } from "../../base/hashes.ts";
import { RECORD_ID_BYTES } from "./ids.ts";

/** A block's digest: the first 16 bytes of the SHA-256 over its record IDs. Equal digests, equal keys and identities. */
const DIGEST_WORDS = 4;
const RECORDS = 4, KEY_BYTES = 5, VALUE_BYTES = 6, WEIGHT = 7, BREAKS = 8, FINGERPRINT = 9;
const ROW_WORDS = 10;
const START_ROWS = 256;
const MAX_SPARE_WORDS = 256 * 1024;

export const BLOCK_ROW_BYTES = ROW_WORDS * 4;

/** Sums over neighbouring blocks. */
export interface BlockTotals {
  readonly records: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** The canonical size in bytes. */
  readonly weight: number;
}

export class BlockTable {
  readonly count: number;
  readonly #words: Uint32Array;
  #firstRecords: Uint32Array | undefined;

  /** `words` holds a row a block. */
  constructor(words: Uint32Array) {
    this.#words = words;
    this.count = words.length / ROW_WORDS;
  }

  /** The rows, as they are kept. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer, this.#words.byteOffset, this.#words.byteLength);
  }

  /** CRC-32 of the block as it is stored: it tells whether a file's block is the one that the row is about, and undamaged. */
  fingerprint(i: number): number {
    return this.#words[i * ROW_WORDS + FINGERPRINT]!;
  }

  /** Returns the first block from `from` on with a key that may end a range, or with which they weigh `room`; `to` if none before it does. */
  endOfQuiet(from: number, to: number, room: number): number {
    const words = this.#words;
    let i = from;
    for (let at = from * ROW_WORDS, left = room; i < to; i++, at += ROW_WORDS) {
      left -= words[at + WEIGHT]!;
      if (left <= 0 || words[at + BREAKS] !== 0) break;
    }
    return i;
  }

  /** Returns how many records of the range come before block `i`. */
  firstRecord(i: number): number {
    return (this.#firstRecords ??= this.#countRecords())[i]!;
  }

  /** Returns how many blocks from `i` on equal those of `other` from `j` on. */
  equalRun(i: number, other: BlockTable, j: number): number {
    const ours = this.#words, theirs = other.#words;
    const limit = Math.min(this.count - i, other.count - j);
    let run = 0;
    for (let a = i * ROW_WORDS, b = j * ROW_WORDS; run < limit; run++, a += ROW_WORDS, b += ROW_WORDS) {
      if (
        ours[a] !== theirs[b] || ours[a + 1] !== theirs[b + 1] || ours[a + 2] !== theirs[b + 2] ||
        ours[a + 3] !== theirs[b + 3]
      ) break;
    }
    return run;
  }

  /** Sums blocks `from` (inclusive) to `to` (exclusive). */
  totals(from: number, to: number): BlockTotals {
    const words = this.#words;
    let records = 0, keyBytes = 0, valueBytes = 0, weight = 0;
    for (let at = from * ROW_WORDS; at < to * ROW_WORDS; at += ROW_WORDS) {
      records += words[at + RECORDS]!;
      keyBytes += words[at + KEY_BYTES]!;
      valueBytes += words[at + VALUE_BYTES]!;
      weight += words[at + WEIGHT]!;
    }
    return { records, keyBytes, valueBytes, weight };
  }

  /** A view of the rows of blocks `from` to `to`. */
  rows(from: number, to: number): Uint32Array {
    return this.#words.subarray(from * ROW_WORDS, to * ROW_WORDS);
  }

  #countRecords(): Uint32Array {
    const counts = new Uint32Array(this.count + 1);
    for (let i = 0; i < this.count; i++) {
      counts[i + 1] = counts[i]! + this.#words[i * ROW_WORDS + RECORDS]!;
    }
    return counts;
  }
}

const NO_WORDS = new Uint32Array(0);
/** What the last table was built in. */
let spareWords: Uint32Array | undefined;

function takeSpare(): Uint32Array {
  const words = spareWords ?? new Uint32Array(START_ROWS * ROW_WORDS);
  spareWords = undefined;
  return words;
}

/** Builds a block table as a range is written or read. */
export class BlockTableBuilder {
  readonly #digest = new Uint8Array(RECORD_ID_BYTES);
  readonly #digestWords = new Uint32Array(this.#digest.buffer, 0, DIGEST_WORDS);
  #words = takeSpare();
  #end = 0;
  #records = 0;
  #keyBytes = 0;
  #valueBytes = 0;
  #weight = 0;
  #breaks = 0;

  /** Adds a record to the block under way. */
  add(record: { keyBytes: number; valueBytes: number; weight: number; isBreak: boolean }): void {
    this.#records++;
    this.#keyBytes += record.keyBytes;
    this.#valueBytes += record.valueBytes;
    this.#weight += record.weight;
    if (record.isBreak) this.#breaks++;
  }

  /** Ends the block under way. */
  endBlock({ recordIds, fingerprint }: { recordIds: Uint8Array; fingerprint: number }): void {
    sha256Into(recordIds, this.#digest);
    this.#reserve(ROW_WORDS);
    const words = this.#words, at = this.#end;
    words.set(this.#digestWords, at);
    words[at + RECORDS] = this.#records;
    words[at + KEY_BYTES] = this.#keyBytes;
    words[at + VALUE_BYTES] = this.#valueBytes;
    words[at + WEIGHT] = this.#weight;
    words[at + BREAKS] = this.#breaks;
    words[at + FINGERPRINT] = fingerprint;
    this.#end += ROW_WORDS;
    this.#records =
      this.#keyBytes =
      this.#valueBytes =
      this.#weight =
      this.#breaks =
        0;
  }

  /** Takes room for so many more rows and a few: growing step by step would take twice the memory. */
  expect(rows: number): void {
    const end = this.#end + rows * ROW_WORDS;
    if (end > this.#words.length) this.#grow(end + START_ROWS * ROW_WORDS);
  }

  /** Adds rows of another table. */
  addRows(rows: Uint32Array): void {
    this.#reserve(rows.length);
    this.#words.set(rows, this.#end);
    this.#end += rows.length;
  }

  /** How many records the block under way has. */
  get pendingRecords(): number {
    return this.#records;
  }

  /** Returns the table; nothing can be added afterwards. */
  finish(): BlockTable {
    const table = new BlockTable(this.#words.slice(0, this.#end));
    if (this.#words.length <= MAX_SPARE_WORDS) spareWords = this.#words;
    this.#words = NO_WORDS;
    return table;
  }

  #reserve(words: number): void {
    const end = this.#end + words;
    if (end > this.#words.length) this.#grow(Math.max(this.#words.length * 2, end));
  }

  #grow(words: number): void {
    const grown = new Uint32Array(words);
    grown.set(this.#words.subarray(0, this.#end));
    this.#words = grown;
  }
}
