/** Reading blocks one after the other: ahead, and past the cache. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { crc32 } from "../../base/platform.ts";
import type { Block } from "./block.ts";
import type { BlockMemory } from "./compression.ts";
import type { TableFile } from "./table_file.ts";
import type { TableIndex } from "./table_index.ts";

/** A scan's first read, and what its reads grow to. Short scans read little, long ones read seldom. */
const FIRST_READ_BYTES = 64 * 1024;
const MAX_READ_BYTES = 1024 * 1024;

/** Data blocks that are read at once, more and more of them: for reading one after the other. */
export class BlockRun {
  readonly #file: TableFile;
  readonly #index: TableIndex;
  #bytes: Uint8Array = EMPTY_BYTES;
  /** What blocks are read into, one after the other: nothing of how they are stored outlives their opening. */
  #memory: Uint8Array = EMPTY_BYTES;
  #from = 0;
  #to = 0;
  #readBytes: number;

  constructor(file: TableFile, index: TableIndex, firstReadBytes = FIRST_READ_BYTES) {
    this.#file = file;
    this.#index = index;
    this.#readBytes = firstReadBytes;
  }

  /** Returns whether a block is among those that were read last. */
  has(i: number): boolean {
    return i >= this.#from && i < this.#to;
  }

  /** Returns a block if it is among those that were read last. */
  block(i: number, memory?: BlockMemory): Block | undefined {
    if (!this.has(i)) return undefined;
    const index = this.#index;
    const stored = this.#bytes.subarray(index.offset(i) - index.offset(this.#from));
    return this.#file.openBlock(index.handle(i), { keyForm: "record", stored, memory });
  }

  /** Returns the fingerprint of a block that is among those that were read last. */
  fingerprint(i: number): number {
    const index = this.#index, start = index.offset(this.#from);
    return crc32(this.#bytes.subarray(index.offset(i) - start, index.end(i) - start));
  }

  /** Returns blocks that are among those that were read last as they are stored, until more are read. */
  stored(from: number, to: number): Uint8Array {
    const index = this.#index, start = index.offset(this.#from);
    return this.#bytes.subarray(index.offset(from) - start, index.end(to - 1) - start);
  }

  /** Counts blocks that were opened somewhere else. */
  count(blocks: number): void {
    this.#file.countBlocks(blocks);
  }

  /** Reads a block and those behind it; returns it. */
  async load(i: number, memory?: BlockMemory): Promise<Block> {
    await this.read(i);
    return this.block(i, memory)!;
  }

  /** Reads a block and those behind it, in place of those that were read last. */
  async read(i: number): Promise<void> {
    const index = this.#index;
    const offset = index.offset(i);
    let to = i + 1;
    while (to < index.count && index.end(to) - offset <= this.#readBytes) to++;
    this.#readBytes = Math.min(this.#readBytes * 2, MAX_READ_BYTES);
    const bytes = index.end(to - 1) - offset;
    if (this.#memory.length < bytes) this.#memory = new Uint8Array(bytes * 5 / 4);
    this.#from = this.#to = 0;
    this.#bytes = await this.#file.readSound(index.handles(i, to), this.#memory);
    this.#from = i;
    this.#to = to;
  }
}
