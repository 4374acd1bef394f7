/**
 * Walking a metarange record by record while being able to step over whole ranges and whole blocks unread.
 *
 * The cursor stands before a range that is not opened, or before a block that is not read, or on a record:
 *
 *     ranges   [a……f]   [g……m]           [n……z]
 *     blocks            [g h][i k l][m]
 *                     ^ before a range: nextKey = g, skipRange() steps to n without reading
 *                            ^ at a block's start: skipBlocks(1) steps to m without reading; load() reads the block
 *                               ^ on a record: nextKey is its key
 */

import { compareBytes } from "../../base/bytes.ts";
import { firstRangeAt, type Metarange } from "./metarange.ts";
import type { OpenRange } from "./open_range.ts";
import type { RangeInfo } from "./range.ts";
import type { KnownId } from "./range_writer.ts";
import type { ValueRecord } from "./record.ts";

/** Keys from `start` (inclusive) to `end` (exclusive). */
export interface KeyBounds {
  readonly start?: Uint8Array;
  readonly end?: Uint8Array;
}

const NO_RECORDS: readonly ValueRecord[] = [];

export class RangeCursor {
  readonly #metarange: Metarange;
  readonly #ranges: readonly RangeInfo[];
  readonly #bounds: KeyBounds;
  #index: number;
  #open: OpenRange | undefined;
  #block = 0;
  /** Of the current block, once it is read. */
  #records: readonly ValueRecord[] | undefined;
  #at = 0;
  /** Where the records within the bounds begin in the current block. */
  #first = 0;

  private constructor(metarange: Metarange, ranges: readonly RangeInfo[], bounds: KeyBounds) {
    this.#metarange = metarange;
    this.#ranges = ranges;
    this.#bounds = bounds;
    this.#index = bounds.start ? firstRangeAt(ranges, bounds.start) : 0;
  }

  /** Opens a cursor on the records within the bounds. */
  static async open(metarange: Metarange, bounds: KeyBounds = {}): Promise<RangeCursor> {
    return new RangeCursor(metarange, await metarange.ranges(), bounds);
  }

  get isAtEnd(): boolean {
    return this.#index >= this.#ranges.length;
  }

  /** The range that the cursor stands before or in. */
  get range(): RangeInfo | undefined {
    return this.#ranges[this.#index];
  }

  /** The last key of the range before the current one. */
  get lastKeyBefore(): Uint8Array | undefined {
    return this.#ranges[this.#index - 1]?.maxKey;
  }

  get isInLastRange(): boolean {
    return this.#index === this.#ranges.length - 1;
  }

  /** The range that the cursor stands before, if it is unopened and lies wholly within the bounds. */
  get wholeRange(): RangeInfo | undefined {
    const range = this.#open ? undefined : this.#ranges[this.#index];
    if (!range) return undefined;
    const { start, end } = this.#bounds;
    if (start && compareBytes(range.minKey, start) < 0) return undefined;
    if (end && compareBytes(range.maxKey, end) >= 0) return undefined;
    return range;
  }

  /** The range that the cursor stands in, opened. */
  get opened(): OpenRange | undefined {
    return this.#open;
  }

  /** The block that the cursor stands before or in. */
  get block(): number {
    return this.#block;
  }

  /** Whether the cursor is in an open range and no record of its current block has been stepped over. */
  get isAtBlockStart(): boolean {
    return this.#open !== undefined && this.#at === this.#first;
  }

  /** Whether the cursor is before a range, or before or in a block of which no record has been stepped over. */
  get isAtStart(): boolean {
    return this.#at === this.#first;
  }

  /** The key that comes next, if that is known without reading. */
  get nextKey(): Uint8Array | undefined {
    return this.#records ? this.#records[this.#at]?.key : this.wholeRange?.minKey;
  }

  /** Returns the key that comes next, reading if need be; `undefined` at the end. */
  async loadKey(): Promise<Uint8Array | undefined> {
    return this.isAtEnd ? undefined : (await this.load())?.key;
  }

  /** Returns the record at the cursor, if its block has been read. */
  peek(): ValueRecord | undefined {
    return this.#records?.[this.#at];
  }

  /** The known ID of the record at the cursor. */
  get knownId(): KnownId | undefined {
    const ids = this.#open?.recordIds;
    if (!ids) return undefined;
    const { blocks, info } = this.#open!;
    return { ids, index: blocks!.firstRecord(this.#block) + this.#at, range: info.id };
  }

  /** Steps over the range that the cursor stands before. */
  skipRange(): void {
    this.#index++;
  }

  /** Opens the range that the cursor stands before, if it does. */
  async openRange(): Promise<void> {
    const range = this.#ranges[this.#index];
    if (this.#open || !range) return;
    const open = await this.#metarange.openRange(range);
    this.#open = open;
    const { start } = this.#bounds;
    this.#toBlock(start ? open.table.index.firstAtOrAfter(start) : 0);
  }

  /** Steps over blocks, unread if the current one is not read. */
  skipBlocks(count: number): void {
    this.#toBlock(this.#block + count);
  }

  /** Returns the record at the cursor, opening its range and reading its block if need be; `undefined` at the end. */
  async load(): Promise<ValueRecord | undefined> {
    while (!this.isAtEnd) {
      await this.openRange();
      // Nothing of the range may lie within the bounds.
      if (!this.#open) continue;
      this.#records ??= await this.#read();
      const record = this.#records[this.#at];
      if (record) return record;
      this.#toBlock(this.#block + 1);
    }
    return undefined;
  }

  /** Steps to the next record; {@link peek} has it unless its block must be loaded. */
  advance(): void {
    if (++this.#at < this.#records!.length) return;
    this.#toBlock(this.#block + 1);
  }

  #toBlock(block: number): void {
    this.#block = block;
    this.#records = undefined;
    this.#at = this.#first = 0;
    const open = this.#open!;
    if (block >= open.blockCount) {
      this.#open = undefined;
      this.#block = 0;
      this.#index++;
      return;
    }
    const { end } = this.#bounds;
    if (end && block > 0 && compareBytes(open.table.index.separator(block - 1), end) >= 0) this.#stop();
  }

  /** Returns the current block's records up to the end of the bounds, and stands on the first one within them. */
  async #read(): Promise<readonly ValueRecord[]> {
    const records = await this.#open!.records(this.#block);
    const { start, end } = this.#bounds;
    while (
      start && this.#first < records.length && compareBytes(records[this.#first]!.key, start) < 0
    ) this.#first++;
    this.#at = this.#first;
    if (!end || records.length === 0 || compareBytes(records.at(-1)!.key, end) < 0) return records;
    return records.filter(({ key }) => compareBytes(key, end) < 0);
  }

  #stop(): void {
    this.#open = undefined;
    this.#records = NO_RECORDS;
    this.#index = this.#ranges.length;
  }
}
