/** Scanning a table without an object a record. */

import { EMPTY_BYTES, lossyText, oneUnitAByte } from "../../base/bytes.ts";
import type { Block } from "./block.ts";
import type { BlockMemory } from "./compression.ts";
import type { BlockRun } from "./block_run.ts";
import { RecordCursor, type ValuePlace } from "./records.ts";
import { kernelOnceItPays, MAX_STORED_BYTES, ROW_WORDS, type TableKernel } from "./table_kernel.ts";
import type { TableIndex } from "./table_index.ts";

/** What the kernel is given at once: enough to make its calls and copies cheap, little enough to stay in the processor's cache. */
const MAX_TAKEN_BYTES = 32 * 1024;

/**
 * Walks a table's records, reading ahead, past the cache. Key and value are there until the next one: the key in `keyBytes`
 * from `keyStart` to `keyEnd`, the value in `valueBytes`. Blocks take each other's place in one memory, though with other
 * bytes the arrays are others, too. It waits once for many blocks:
 *
 *     while (scan.next() || await scan.load()) { … scan.keyBytes … scan.valueStart … }
 *
 * Blocks are taken apart by the kernel, several at once. One that it does not take, as it takes none that is damaged, is
 * walked by a {@link RecordCursor}, which knows what to say of it.
 */
export class TableScan implements ValuePlace {
  keyBytes: Uint8Array = EMPTY_BYTES;
  keyStart = 0;
  keyEnd = 0;
  valueBytes: Uint8Array = EMPTY_BYTES;
  valueStart = 0;
  valueEnd = 0;
  readonly #index: TableIndex;
  readonly #run: BlockRun;
  /** A key to begin at, until there. */
  #start: Uint8Array | undefined;
  /** The block that comes next. */
  #block: number;
  /** What the kernel made of the blocks at hand: the next row, and where the last one ends. */
  #rows: Int32Array = new Int32Array(0);
  #row = 0;
  #rowsEnd = 0;
  #keyMemory: Uint8Array = EMPTY_BYTES;
  readonly #memory: BlockMemory = { bytes: EMPTY_BYTES };
  /** All keys at hand as one text, once it has been asked for. */
  #text: string | undefined;
  #hasAsciiKeys = false;
  readonly #cursor = new RecordCursor();
  /** Whether the cursor, and no row, has the current record. */
  #isInCursor = false;

  /** Begins at the first key that is `start` or sorts after it. */
  constructor(index: TableIndex, run: BlockRun, start?: Uint8Array) {
    this.#index = index;
    this.#run = run;
    this.#start = start;
    this.#block = start ? index.firstAtOrAfter(start) : 0;
  }

  /** Moves to the next record if its block has been read; `false` means "call {@link load}". */
  next(): boolean {
    const row = this.#row;
    if (row >= this.#rowsEnd) return this.#nextBlock();
    const rows = this.#rows;
    this.keyStart = this.keyEnd;
    this.keyEnd = rows[row]!;
    this.valueStart = rows[row + 1]!;
    this.valueEnd = rows[row + 2]!;
    this.#row = row + ROW_WORDS;
    return true;
  }

  /** Reads on and moves to the next record; returns `false` at the end. */
  async load(): Promise<boolean> {
    while (this.#block < this.#index.count) {
      await this.#run.read(this.#block);
      if (this.next()) return true;
    }
    return false;
  }

  /** Returns a copy of the current key. */
  key(): Uint8Array {
    return this.keyBytes.slice(this.keyStart, this.keyEnd);
  }

  /** Returns the text of the current key, with U+FFFD for what is no UTF-8. */
  keyText(): string {
    if (this.#isInCursor || !this.#hasAsciiKeys) {
      return lossyText(this.keyBytes.subarray(this.keyStart, this.keyEnd));
    }
    this.#text ??= oneUnitAByte(this.keyBytes, 0, this.keyBytes.length);
    return this.#text.slice(this.keyStart, this.keyEnd);
  }

  #nextBlock(): boolean {
    while (true) {
      if (this.#isInCursor && this.#cursor.next()) return this.#takeCursor();
      this.#isInCursor = false;
      if (this.#block >= this.#index.count || !this.#run.has(this.#block)) return false;
      if (this.#takeBlocks()) {
        if (this.#row < this.#rowsEnd) return this.next();
      } else this.#enterCursor(this.#run.block(this.#block, this.#memory)!);
    }
  }

  #takeCursor(): true {
    const cursor = this.#cursor;
    this.keyBytes = cursor.keyBytes;
    this.keyEnd = cursor.keyLength;
    this.valueBytes = cursor.valueBytes;
    this.valueStart = cursor.valueStart;
    this.valueEnd = cursor.valueEnd;
    return true;
  }

  #enterCursor(block: Block): void {
    const index = this.#index, i = this.#block++;
    const after = i > 0 ? index.separator(i - 1) : undefined;
    this.#cursor.enter(block, this.#start, { after, last: index.separator(i) });
    this.#start = undefined;
    this.#isInCursor = true;
    this.keyStart = 0;
  }

  /** Has the kernel take blocks apart; returns whether it took any. */
  #takeBlocks(): boolean {
    // A key to begin at is sought by the restart points, which the kernel does not look at.
    const kernel = this.#start ? undefined : kernelOnceItPays();
    if (!kernel) return false;
    const index = this.#index, first = this.#block, from = index.offset(first);
    let end = first + 1;
    while (this.#run.has(end) && index.end(end) - from <= MAX_TAKEN_BYTES) end++;
    if (index.end(end - 1) - from > MAX_STORED_BYTES) return false;
    kernel.begin(this.#run.stored(first, end));
    let rows = 0;
    for (; this.#block < end; this.#block++) {
      const count = kernel.open(index.offset(this.#block) - from, index.length(this.#block));
      if (count < 0 || !this.#isInBounds(kernel, { from: rows, to: rows + count })) break;
      rows += count;
    }
    if (this.#block === first) return false;
    this.#run.count(this.#block - first);
    this.#copyOut(kernel, rows);
    return true;
  }

  /** Whether a block's records lie between the separators around it. */
  #isInBounds(kernel: TableKernel, { from, to }: { from: number; to: number }): boolean {
    if (from === to) return true;
    const index = this.#index, block = this.#block;
    return (block === 0 || kernel.compareKey(from, index, block - 1) > 0) &&
      kernel.compareKey(to - 1, index, block) <= 0;
  }

  #copyOut(kernel: TableKernel, rows: number): void {
    const { keysBytes, contentBytes } = kernel;
    this.#keyMemory = roomFor(this.#keyMemory, keysBytes);
    this.#memory.bytes = roomFor(this.#memory.bytes, contentBytes);
    if (this.#rows.length < rows * ROW_WORDS) this.#rows = new Int32Array(2 * rows * ROW_WORDS);
    this.keyBytes = this.#keyMemory.subarray(0, keysBytes);
    this.valueBytes = this.#memory.bytes.subarray(0, contentBytes);
    kernel.copyKeys(this.keyBytes);
    kernel.copyContents(this.valueBytes);
    kernel.copyRows(this.#rows, rows);
    this.#hasAsciiKeys = kernel.hasAsciiKeys;
    this.#text = undefined;
    this.#row = this.keyEnd = 0;
    this.#rowsEnd = rows * ROW_WORDS;
  }
}

function roomFor(memory: Uint8Array, bytes: number): Uint8Array {
  return memory.length >= bytes ? memory : new Uint8Array(2 * bytes);
}
