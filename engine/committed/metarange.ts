/** Reading one metarange: the ranges of a commit, and through them its records. */

import { compareBytes } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { NOT_CACHED, type TableReader } from "../sstable/mod.ts";
import type { TableFiles } from "./files.ts";
import { RecordIds } from "./ids.ts";
import type { OpenRange } from "./open_range.ts";
import { decodeRange, encodeRange, type RangeInfo } from "./range.ts";
import { copyRecordAt, decodeRecord, decodeRecordAt, type ValueRecord } from "./record.ts";
import { RecordScan } from "./record_scan.ts";

/** The metarange ID of a repository's first commit, as in lakeFS: no file, no records. */
export const NO_METARANGE = "";
/** So many look-ups cost less than reading all ranges. */
const FIRST_LOOKS = 4;

export class Metarange {
  readonly id: string;
  readonly #files: TableFiles;
  #loading: Promise<readonly RangeInfo[]> | undefined;
  #ranges: readonly RangeInfo[] | undefined;
  #isOurs: boolean | undefined;
  #looked = 0;
  /** Tables that hold what the metarange says of them. */
  readonly #checked = new WeakSet<TableReader>();

  constructor(files: TableFiles, id: string) {
    this.#files = files;
    this.id = id;
  }

  /** Returns the ranges in key order; they are read once. */
  async ranges(): Promise<readonly RangeInfo[]> {
    return this.#ranges ??= await (this.#loading ??= this.#read());
  }

  /** Returns whether the ID is the one that our formula gives. A metarange made by lakeFS has another. */
  async isOurs(): Promise<boolean> {
    return this.#isOurs ??= this.id === NO_METARANGE || metarangeId(await this.ranges()) === this.id;
  }

  /** Returns the record of a key: metarange, then the one range that may hold it. Its bytes are the caller's own. */
  async get(key: Uint8Array): Promise<ValueRecord | undefined> {
    const ranges = this.#ranges;
    const range = ranges ? ranges[firstRangeAt(ranges, key)] : await this.#rangeAtOrAfter(key);
    if (!range || compareBytes(key, range.minKey) < 0) return undefined;
    const found = (this.#opened(range) ?? await this.#open(range)).find(key);
    const place = found instanceof Promise ? await found : found;
    return place && copyRecordAt(key, place, range.id);
  }

  /** Returns what {@link get} does if that needs no reading. */
  peek(key: Uint8Array): ValueRecord | undefined | typeof NOT_CACHED {
    const ranges = this.#ranges;
    if (!ranges) return NOT_CACHED;
    const range = ranges[firstRangeAt(ranges, key)];
    if (!range || compareBytes(key, range.minKey) < 0) return undefined;
    const table = this.#opened(range);
    const place = table ? table.peek(key) : NOT_CACHED;
    return typeof place === "object" ? copyRecordAt(key, place, range.id) : place;
  }

  /** Returns the first record whose key is `key` or sorts after it. */
  async seek(key: Uint8Array): Promise<ValueRecord | undefined> {
    await this.ranges();
    const range = await this.#rangeAtOrAfter(key);
    const found = range && await (await this.#open(range)).seek(key);
    return found && decodeRecord(found.key, found.value, range.id);
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
    const table = await this.#open(range);
    const from = start && compareBytes(start, range.minKey) > 0 ? start : undefined;
    yield* table.blocksOf((key, place) => decodeRecordAt(key, place, range.id), from);
  }

  /** Starts walking the records from `start` (inclusive) on, without an object a record. */
  async scan(start?: Uint8Array): Promise<RecordScan> {
    const ranges = await this.ranges();
    const from = start ? firstRangeAt(ranges, start) : 0;
    return new RecordScan(ranges.slice(from), { open: (range) => this.#open(range), start });
  }

  /** Opens a range to be walked block by block. */
  async openRange(range: RangeInfo): Promise<OpenRange> {
    return await this.#files.openRange(range, {
      table: await this.#open(range),
      isOurs: await this.isOurs(),
    });
  }

  /** Opens a range's table. Fails with `missing_file`, `corrupt_file`. */
  async table(range: RangeInfo): Promise<TableReader> {
    return await this.#open(range);
  }

  /** Returns a range's table if it is open and has been checked. */
  #opened(range: RangeInfo): TableReader | undefined {
    const table = this.#files.opened(range.id);
    return table && this.#checked.has(table) ? table : undefined;
  }

  /** Opens a range; a sound file that is not the one the metarange describes is damage, too. */
  async #open(range: RangeInfo): Promise<TableReader> {
    const table = await this.#files.open(range.id);
    const { minKey = range.minKey, maxKey = range.maxKey, count = range.count } = table.userProperties;
    if (
      count !== range.count || compareBytes(minKey, range.minKey) !== 0 ||
      compareBytes(maxKey, range.maxKey) !== 0
    ) {
      corrupt(`_lakefs/${range.id}`, 0, "it holds other records than its metarange says");
    }
    this.#checked.add(table);
    return table;
  }

  async #rangeAtOrAfter(key: Uint8Array): Promise<RangeInfo | undefined> {
    if (this.id === NO_METARANGE) return undefined;
    if (this.#ranges || this.#looked++ >= FIRST_LOOKS) {
      const ranges = await this.ranges();
      return ranges[firstRangeAt(ranges, key)];
    }
    const found = await (await this.#files.open(this.id)).seek(key);
    return found && decodeRange(decodeRecord(found.key, found.value, this.id), this.id);
  }

  async #read(): Promise<readonly RangeInfo[]> {
    if (this.id === NO_METARANGE) return [];
    const ranges: RangeInfo[] = [];
    const table = await this.#files.open(this.id);
    for await (const block of table.blocks()) {
      for (const { key, value } of block) {
        ranges.push(decodeRange(decodeRecord(key, value, this.id), this.id));
      }
    }
    return ranges;
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
  const ids = new RecordIds(ranges.length);
  for (const range of ranges) {
    const record = encodeRange(range);
    ids.add(record.key, record.identity);
  }
  return ids.fileId();
}
