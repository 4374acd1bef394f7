/** Scanning a metarange without an object a record. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import type { TableReader, TableScan } from "../sstable/mod.ts";
import type { RangeInfo } from "./range.ts";
import { findParts, type ValueParts } from "./record.ts";

/**
 * Walks records in key order. Until the next one, the current key lies in `keyBytes` from `keyStart` to `keyEnd`, and
 * identity and data lie in `bytes`; with other bytes the arrays are others, too. It waits once for many blocks:
 *
 *     while (scan.next() || await scan.load()) { … scan.keyBytes … scan.dataStart … }
 */
export class RecordScan implements ValueParts {
  keyBytes: Uint8Array = EMPTY_BYTES;
  keyStart = 0;
  keyEnd = 0;
  bytes: Uint8Array = EMPTY_BYTES;
  identityStart = 0;
  identityEnd = 0;
  dataStart = 0;
  dataEnd = 0;
  readonly #ranges: readonly RangeInfo[];
  readonly #open: (range: RangeInfo) => Promise<TableReader>;
  readonly #start: Uint8Array | undefined;
  #range = -1;
  #table: TableScan | undefined;

  /** `start` may lie in the first of the ranges. */
  constructor(
    ranges: readonly RangeInfo[],
    options: { open: (range: RangeInfo) => Promise<TableReader>; start?: Uint8Array | undefined },
  ) {
    this.#ranges = ranges;
    this.#open = options.open;
    this.#start = options.start;
  }

  /** The range that the current record is in. */
  get rangeId(): string {
    return this.#ranges[this.#range]!.id;
  }

  /** Returns the text of the current key, with U+FFFD for what is no UTF-8. */
  keyText(): string {
    return this.#table!.keyText();
  }

  /** Moves to the next record if its block has been read; `false` means "call {@link load}". */
  next(): boolean {
    return this.#table !== undefined && this.#table.next() && this.#take(this.#table);
  }

  /** Reads on and moves to the next record; returns `false` at the end. */
  async load(): Promise<boolean> {
    while (true) {
      if (this.#table && await this.#table.load()) return this.#take(this.#table);
      this.#table = undefined;
      if (this.#range + 1 >= this.#ranges.length) return false;
      const table = await this.#open(this.#ranges[++this.#range]!);
      this.#table = table.scan(this.#range === 0 ? this.#start : undefined);
    }
  }

  #take(table: TableScan): true {
    this.keyBytes = table.keyBytes;
    this.keyStart = table.keyStart;
    this.keyEnd = table.keyEnd;
    this.bytes = table.valueBytes;
    findParts(table, this.rangeId, this);
    return true;
  }
}
