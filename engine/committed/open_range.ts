/** An open range: its file, and, where it can have one, its side. */

import type { BlockRun, TableReader } from "../sstable/mod.ts";
import type { BlockTable } from "./block_table.ts";
import type { OlderIds } from "./ids.ts";
import type { RangeInfo } from "./range.ts";
import { decodeRecordAt, type ValueRecord } from "./record.ts";

/** Around a change a block or two are read, of 4 KiB before compression. */
const FIRST_READ_BYTES = 16 * 1024;

export interface OpenRangeParts {
  readonly table: TableReader;
  readonly blocks: BlockTable | undefined;
  readonly loadIds: (into?: Uint8Array) => Promise<Uint8Array | undefined>;
  /** Finds out anew, by reading the file, what is known of its blocks. */
  readonly renewBlocks: () => Promise<BlockTable | undefined>;
}

export class OpenRange implements OlderIds {
  readonly info: RangeInfo;
  readonly table: TableReader;
  readonly #parts: OpenRangeParts;
  #blocks: BlockTable | undefined;
  #ids: Uint8Array | undefined;
  /** Whether they lie in memory that the caller gave. */
  #isGiven = false;
  #run: BlockRun | undefined;
  #lastBlock = -2;

  constructor(info: RangeInfo, parts: OpenRangeParts) {
    this.info = info;
    this.table = parts.table;
    this.#parts = parts;
    this.#blocks = parts.blocks;
  }

  /** What is known of the blocks, if anything is. */
  get blocks(): BlockTable | undefined {
    return this.#blocks;
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
    if (!this.blocks) return;
    this.#ids ??= await this.#parts.loadIds(into);
    this.#isGiven = into !== undefined && this.#ids?.buffer === into.buffer;
  }

  /** Whether they lie in the memory that {@link loadRecordIds} was given, and nobody took it over. */
  get hasIdsOfCaller(): boolean {
    return this.#isGiven;
  }

  /** To be called by who takes that memory over, and says from then on where they lie. */
  giveIdsAway(): void {
    this.#isGiven = false;
  }

  moveIds(to: Uint8Array): void {
    this.#ids = to;
  }

  /**
   * Whether stored blocks, from block `from` on and before block `to`, are those that {@link blocks} is about. Fails with
   * `corrupt_file` when one is damaged.
   */
  holds(from: number, to: number, stored: Uint8Array): boolean {
    const { table } = this;
    const other = table.firstOther(stored, { from, to, known: this.#blocks! });
    if (other < to) table.checkStored(other, { from, stored });
    return other === to;
  }

  /**
   * Finds out anew what is known of the blocks: it was about another file of the same ID, whose objects lie elsewhere but
   * whose blocks happen to end in the same places.
   */
  async renewBlocks(): Promise<void> {
    this.#ids = undefined;
    this.#blocks = await this.#parts.renewBlocks();
  }

  /** Returns a block's records. Blocks that are asked for one after the other are read ahead. */
  async records(i: number): Promise<readonly ValueRecord[]> {
    const isNext = i === this.#lastBlock + 1;
    this.#lastBlock = i;
    const { table, info } = this;
    let block = table.cachedBlock(i) ?? this.#run?.block(i);
    if (!block) {
      if (isNext) block = await (this.#run ??= table.readAhead(FIRST_READ_BYTES)).load(i);
      else block = await table.readBlock(i);
    }
    return table.recordsOf(block, i, (key, place) => decodeRecordAt(key, place, info.id));
  }
}
