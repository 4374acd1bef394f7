/**
 * Walking a metarange record by record while being able to step over whole ranges unread.
 *
 * The cursor stands either before a range that is not opened, whose first key it knows all the same, or on a record:
 *
 *     ranges   [a……f]   [g……m]   [n……z]
 *                     ^ before: nextKey = g, skipRange() steps to n without reading
 *                         ^ on a record: nextKey is its key
 */

import { compareBytes } from "../../base/bytes.ts";
import { BlockCursor } from "./cursor.ts";
import { firstRangeAt, type Metarange } from "./metarange.ts";
import type { RangeInfo } from "./range.ts";
import type { ValueRecord } from "./record.ts";

/** Keys from `start` (inclusive) to `end` (exclusive). */
export interface KeyBounds {
  readonly start?: Uint8Array;
  readonly end?: Uint8Array;
}

export class RangeCursor {
  readonly #metarange: Metarange;
  readonly #ranges: readonly RangeInfo[];
  readonly #bounds: KeyBounds;
  #index: number;
  #records: BlockCursor<ValueRecord> | undefined;

  private constructor(metarange: Metarange, ranges: readonly RangeInfo[], bounds: KeyBounds) {
    this.#metarange = metarange;
    this.#ranges = ranges;
    this.#bounds = bounds;
    this.#index = bounds.start ? firstRangeAt(ranges, bounds.start) : 0;
  }

  /** Opens a cursor on the records within the bounds. */
  static async open(metarange: Metarange, bounds: KeyBounds = {}): Promise<RangeCursor> {
    const cursor = new RangeCursor(metarange, await metarange.ranges(), bounds);
    await cursor.#settle();
    return cursor;
  }

  /** The range that the cursor stands before, if it is unopened and lies wholly within the bounds. */
  get wholeRange(): RangeInfo | undefined {
    if (this.#records) return undefined;
    const range = this.#ranges[this.#index];
    if (!range) return undefined;
    const { start, end } = this.#bounds;
    if (start && compareBytes(range.minKey, start) < 0) return undefined;
    if (end && compareBytes(range.maxKey, end) >= 0) return undefined;
    return range;
  }

  /** Whether no record of the current range has been stepped over. */
  get isBeforeRange(): boolean {
    return this.#records === undefined;
  }

  /** The range that the cursor stands before or in. */
  get range(): RangeInfo | undefined {
    return this.#ranges[this.#index];
  }

  get isInLastRange(): boolean {
    return this.#index === this.#ranges.length - 1;
  }

  /** The key that comes next, or `undefined` at the end. */
  get nextKey(): Uint8Array | undefined {
    return this.#records ? this.#records.peek()!.key : this.wholeRange?.minKey;
  }

  /** Steps over the range that the cursor stands before. */
  async skipRange(): Promise<void> {
    this.#index++;
    await this.#settle();
  }

  /** Returns the record at the cursor, opening its range if need be; `undefined` at the end. */
  async record(): Promise<ValueRecord | undefined> {
    if (!this.#records && this.wholeRange) await this.#openRange();
    return this.#records?.peek();
  }

  /** Returns the record at the cursor if its range is open. */
  peek(): ValueRecord | undefined {
    return this.#records?.peek();
  }

  /** Steps to the next record; returns false when the caller must await {@link settle} before going on. */
  advance(): boolean {
    this.#records!.advance();
    return this.#records!.peek() !== undefined && !this.#isPastEnd();
  }

  /** Loads what {@link advance} could not reach without waiting. */
  async settle(): Promise<void> {
    if ((await this.#records!.load()) === undefined) {
      this.#records = undefined;
      this.#index++;
    }
    await this.#settle();
  }

  /** Makes true what the getters rely on: on a record within the bounds, or before a whole range, or at the end. */
  async #settle(): Promise<void> {
    while (this.#index < this.#ranges.length) {
      if (!this.#records && this.wholeRange) return;
      if (!this.#records) await this.#openRange();
      if (!this.#records) continue;
      if (this.#isPastEnd()) await this.#stop();
      return;
    }
  }

  async #openRange(): Promise<void> {
    const { start } = this.#bounds;
    const records = new BlockCursor(this.#metarange.rangeRecords(this.#ranges[this.#index]!, start));
    if ((await records.load()) === undefined) this.#index++;
    else this.#records = records;
  }

  #isPastEnd(): boolean {
    const { end } = this.#bounds;
    const record = this.#records?.peek();
    return end !== undefined && record !== undefined && compareBytes(record.key, end) >= 0;
  }

  async #stop(): Promise<void> {
    await this.#records?.close();
    this.#records = undefined;
    this.#index = this.#ranges.length;
  }
}
