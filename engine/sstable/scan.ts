/** Scanning a table without an object a record. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import type { Block } from "./block.ts";
import type { BlockMemory } from "./compression.ts";
import type { BlockRun } from "./reader.ts";
import { RecordCursor } from "./records.ts";
import type { TableIndex } from "./table_index.ts";

/**
 * Walks a table's records, reading ahead, past the cache. Key and value are there until the next one: blocks take each
 * other's place in one memory, though each comes as an array of its own. It waits once for many blocks:
 *
 *     while (scan.next() || await scan.load()) { … scan.keyBytes … scan.valueStart … }
 */
export class TableScan extends RecordCursor {
  readonly #index: TableIndex;
  readonly #run: BlockRun;
  readonly #start: Uint8Array | undefined;
  readonly #first: number;
  readonly #memory: BlockMemory = { bytes: EMPTY_BYTES };
  /** The block that comes next. */
  #block: number;
  /** The separator of the block before it. */
  #before: Uint8Array | undefined;

  /** Begins at the first key that is `start` or sorts after it. */
  constructor(index: TableIndex, run: BlockRun, start?: Uint8Array) {
    super();
    this.#index = index;
    this.#run = run;
    this.#start = start;
    this.#first = this.#block = start ? index.firstAtOrAfter(start) : 0;
    if (this.#first > 0) this.#before = index.separator(this.#first - 1);
  }

  /** Moves to the next record if its block has been read; `false` means "call {@link load}". */
  override next(): boolean {
    while (!super.next()) {
      const isIn = this.#block < this.#index.count;
      const block = isIn ? this.#run.block(this.#block, this.#memory) : undefined;
      if (!block) return false;
      this.#enterNext(block);
    }
    return true;
  }

  /** Reads on and moves to the next record; returns `false` at the end. */
  async load(): Promise<boolean> {
    while (this.#block < this.#index.count) {
      this.#enterNext(await this.#run.load(this.#block, this.#memory));
      if (this.next()) return true;
    }
    return false;
  }

  #enterNext(block: Block): void {
    const i = this.#block++;
    const last = this.#index.separator(i);
    this.enter(block, i === this.#first ? this.#start : undefined, { after: this.#before, last });
    this.#before = last;
  }
}
