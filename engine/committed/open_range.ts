/** An open range: its file, and, where it can have one, its side. */

import type { BlockRun, TableReader } from "../sstable/mod.ts";
import type { BlockTable } from "./block_table.ts";
import type { RangeInfo } from "./range.ts";
import { decodeRecordAt, type ValueRecord } from "./record.ts";

export class OpenRange {
  readonly info: RangeInfo;
  readonly table: TableReader;
  readonly blocks: BlockTable | undefined;
  readonly #loadIds: (into?: Uint8Array) => Promise<Uint8Array | undefined>;
  #ids: Uint8Array | undefined;
  #run: BlockRun | undefined;
  #lastBlock = -2;

  constructor(
    info: RangeInfo,
    parts: {
      readonly table: TableReader;
      readonly blocks: BlockTable | undefined;
      readonly loadIds: (into?: Uint8Array) => Promise<Uint8Array | undefined>;
    },
  ) {
    this.info = info;
    this.table = parts.table;
    this.blocks = parts.blocks;
    this.#loadIds = parts.loadIds;
  }

  get blockCount(): number {
    return this.table.index.count;
  }

  /** The record IDs, once {@link loadRecordIds} has loaded them. */
  get recordIds(): Uint8Array | undefined {
    return this.#ids;
  }

  /** Loads them, into `into` if it has room. */
  async loadRecordIds(into?: Uint8Array): Promise<void> {
    if (this.blocks) this.#ids ??= await this.#loadIds(into);
  }

  /** Returns a block's records. Blocks that are asked for one after the other are read ahead. */
  async records(i: number): Promise<readonly ValueRecord[]> {
    const isNext = i === this.#lastBlock + 1;
    this.#lastBlock = i;
    const { table, info } = this;
    let block = table.cachedBlock(i) ?? this.#run?.block(i);
    if (!block) {
      if (isNext) block = await (this.#run ??= table.readAhead()).load(i);
      else block = await table.block(i);
    }
    return table.recordsOf(block, i, (key, place) => decodeRecordAt(key, place, info.id));
  }
}
