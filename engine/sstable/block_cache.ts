/** Blocks that were read, kept in memory while there is room. */

import type { Block } from "./block.ts";

/** What a block takes beside its bytes, roughly. */
const OVERHEAD_BYTES = 300;

/** The places of one table's blocks in a cache. */
export type BlockSlots = (CachedBlock | undefined)[];

/** A block in a cache. */
export interface CachedBlock {
  readonly block: Block;
  readonly slots: BlockSlots;
  readonly index: number;
  /** Whether it was asked for since the cache last thought of dropping it. */
  isUsed: boolean;
}

/**
 * A cache of blocks, bounded in bytes, shared by any number of tables.
 *
 * Eviction goes round like the hand of a clock: a block that was used since the hand last passed stays for another round.
 * That is nearly least-recently-used, and a hit costs a flag instead of moving things in a list.
 */
export class BlockCache {
  readonly #maxBytes: number;
  readonly #entries: CachedBlock[] = [];
  #bytes = 0;
  #hand = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What the cached blocks take, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a block in its table's slots. */
  add(slots: BlockSlots, index: number, block: Block): void {
    const bytes = sizeOf(block);
    if (bytes > this.#maxBytes / 2) return;
    while (this.#bytes + bytes > this.#maxBytes) this.#dropOne();
    const entry = { block, slots, index, isUsed: false };
    slots[index] = entry;
    this.#entries.push(entry);
    this.#bytes += bytes;
  }

  #dropOne(): void {
    while (true) {
      if (this.#hand >= this.#entries.length) this.#hand = 0;
      const entry = this.#entries[this.#hand]!;
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#hand++;
        continue;
      }
      entry.slots[entry.index] = undefined;
      this.#bytes -= sizeOf(entry.block);
      // The last one takes its place: the order is no matter, only that the hand comes round to all.
      const last = this.#entries.pop()!;
      if (last !== entry) this.#entries[this.#hand] = last;
      return;
    }
  }
}

function sizeOf(block: Block): number {
  return block.bytes.length + OVERHEAD_BYTES;
}
