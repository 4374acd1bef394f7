/** Reading one metarange: the ranges of a commit, and through them its records. */

import { compareBytes } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import type { TableReader } from "../sstable/mod.ts";
import type { TableFiles } from "./files.ts";
import { FileIdHasher } from "./ids.ts";
import { decodeRange, encodeRange, type RangeInfo } from "./range.ts";
import { decodeRecord, type ValueRecord } from "./record.ts";

/** The metarange ID of a repository's first commit, as in lakeFS: no file, no records. */
export const NO_METARANGE = "";

export class Metarange {
  readonly id: string;
  readonly #files: TableFiles;
  #loaded: Promise<{ ranges: readonly RangeInfo[]; canonicalId: string }> | undefined;

  constructor(files: TableFiles, id: string) {
    this.#files = files;
    this.id = id;
  }

  /** Returns the ranges in key order; they are read once. */
  async ranges(): Promise<readonly RangeInfo[]> {
    return (await this.#load()).ranges;
  }

  /** Returns whether the ID is the one that our formula gives. A metarange made by lakeFS has another. */
  async isOurs(): Promise<boolean> {
    return this.id === NO_METARANGE || (await this.#load()).canonicalId === this.id;
  }

  /** Returns the record of a key: metarange, then the one range that may hold it. */
  async get(key: Uint8Array): Promise<ValueRecord | undefined> {
    const range = await this.#rangeAtOrAfter(key);
    if (!range || compareBytes(key, range.minKey) < 0) return undefined;
    const value = await (await this.#openRange(range)).get(key);
    return value && decodeRecord(key, value, range.id);
  }

  /** Yields the records from `start` (inclusive) on, in key order. */
  async *records(start?: Uint8Array): AsyncGenerator<readonly ValueRecord[]> {
    const ranges = await this.ranges();
    for (let i = start ? firstRangeAt(ranges, start) : 0; i < ranges.length; i++) {
      yield* this.rangeRecords(ranges[i]!, start);
    }
  }

  /** Yields the records of one range, from `start` on. */
  async *rangeRecords(range: RangeInfo, start?: Uint8Array): AsyncGenerator<readonly ValueRecord[]> {
    const table = await this.#openRange(range);
    const from = start && compareBytes(start, range.minKey) > 0 ? start : undefined;
    for await (const block of table.blocks(from)) {
      yield block.map(({ key, value }) => decodeRecord(key, value, range.id));
    }
  }

  /** Opens a range; a sound file that is not the one the metarange describes is damage, too. */
  async #openRange(range: RangeInfo): Promise<TableReader> {
    const table = await this.#files.open(range.id);
    const { minKey = range.minKey, maxKey = range.maxKey, count = range.count } = table.userProperties;
    if (
      count !== range.count || compareBytes(minKey, range.minKey) !== 0 ||
      compareBytes(maxKey, range.maxKey) !== 0
    ) {
      corrupt(range.id, 0, "it holds other records than its metarange says");
    }
    return table;
  }

  async #rangeAtOrAfter(key: Uint8Array): Promise<RangeInfo | undefined> {
    if (this.id === NO_METARANGE) return undefined;
    if (this.#loaded) {
      const ranges = await this.ranges();
      return ranges[firstRangeAt(ranges, key)];
    }
    const found = await (await this.#files.open(this.id)).seek(key);
    return found && decodeRange(decodeRecord(found.key, found.value, this.id), this.id);
  }

  #load(): Promise<{ ranges: readonly RangeInfo[]; canonicalId: string }> {
    return this.#loaded ??= this.#read();
  }

  async #read(): Promise<{ ranges: readonly RangeInfo[]; canonicalId: string }> {
    if (this.id === NO_METARANGE) return { ranges: [], canonicalId: NO_METARANGE };
    const ranges: RangeInfo[] = [];
    const hasher = new FileIdHasher();
    const table = await this.#files.open(this.id);
    for await (const block of table.blocks()) {
      for (const { key, value } of block) {
        const record = decodeRecord(key, value, this.id);
        hasher.add(record.key, record.identity);
        ranges.push(decodeRange(record, this.id));
      }
    }
    return { ranges, canonicalId: hasher.finish() };
  }
}

/** Returns the index of the first range whose last key is at or after `key`. */
export function firstRangeAt(ranges: readonly RangeInfo[], key: Uint8Array): number {
  let low = 0, high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(ranges[middle]!.maxKey, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the metarange ID of a list of ranges. */
export function metarangeId(ranges: readonly RangeInfo[]): string {
  const hasher = new FileIdHasher();
  for (const range of ranges) {
    const record = encodeRange(range);
    hasher.add(record.key, record.identity);
  }
  return hasher.finish();
}
