/** Blocks in the kernel (`table_kernel.wat`, which tells the places): their checksums, taking them apart, storing them. */

import { KERNEL_MEMORY_BYTES, type KernelExports, loadKernel } from "./kernel.ts";
import type { TableIndex } from "./table_index.ts";
import { tableBitsFor } from "./snappy_elements.ts";

const CRC_TABLES = 1024 * 1024;
const STATE = 1056 * 1024;
const STORED = 1088 * 1024;
const ROWS = 1216 * 1024;
const KEYS = 1344 * 1024;
const CONTENTS = 1536 * 1024;
const POLYNOMIAL = 0x82f63b78;

/** What {@link TableKernel.store} works in: Snappy's part of the memory. */
const INPUT = 32 * 1024;
const OUTPUT = 288 * 1024;
/** Larger ones are compressed in several fragments, which is not done here. */
const MAX_STORED_CONTENT = 64 * 1024;

/** Left free behind what is read, which the kernel's steps reach into. */
const SLACK_BYTES = 16;
export const MAX_STORED_BYTES = ROWS - STORED - SLACK_BYTES;
/** Words of a row: where its key ends, where its value begins and where that ends. A key begins where the last one ends. */
export const ROW_WORDS = 3;

/** Making the kernel takes as long as so many blocks do without it. */
const FIRST_BLOCKS = 100;

let kernel: TableKernel | undefined;
let blocks = 0;

/** Returns the kernel, which the first call makes. */
export function loadTableKernel(): TableKernel {
  return kernel ??= new TableKernel(loadKernel());
}

/** Returns the kernel, but not for the first blocks of a process: short commands do without. */
export function kernelOnceItPays(): TableKernel | undefined {
  return blocks++ < FIRST_BLOCKS ? undefined : loadTableKernel();
}

export class TableKernel {
  readonly #exports: KernelExports;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;

  constructor(exports: KernelExports) {
    this.#exports = exports;
    this.#bytes = new Uint8Array(exports.memory.buffer, 0, KERNEL_MEMORY_BYTES);
    this.#words = new Int32Array(exports.memory.buffer, 0, KERNEL_MEMORY_BYTES / 4);
    this.#makeTables();
  }

  /** Takes neighbouring blocks in, as they are stored, at most {@link MAX_STORED_BYTES}; forgets those that were opened. */
  begin(stored: Uint8Array): void {
    this.#bytes.set(stored, STORED);
    const state = STATE / 4;
    this.#words[state] = CONTENTS;
    this.#words[state + 1] = KEYS;
    this.#words[state + 2] = ROWS;
  }

  /**
   * Opens the block that lies at `start` of what was taken in and has `length` bytes, its type and checksum not counted.
   * Returns how many records it has, or -1, having done nothing, when somebody else must look at it: it is damaged,
   * unusual, or the room is used up.
   */
  open(start: number, length: number): number {
    return this.#exports.open(STORED + start, length);
  }

  /** How many bytes the contents of the opened blocks have. */
  get contentBytes(): number {
    return this.#words[STATE / 4]! - CONTENTS;
  }

  get keysBytes(): number {
    return this.#words[STATE / 4 + 1]! - KEYS;
  }

  /** Whether the keys of the opened blocks are ASCII. */
  get hasAsciiKeys(): boolean {
    return this.#exports.isAscii(KEYS, KEYS + this.keysBytes) !== 0;
  }

  /** Copies the keys of the opened blocks, one behind the other. */
  copyKeys(into: Uint8Array): void {
    into.set(this.#bytes.subarray(KEYS, this.#words[STATE / 4 + 1]!));
  }

  copyContents(into: Uint8Array): void {
    into.set(this.#bytes.subarray(CONTENTS, this.#words[STATE / 4]!));
  }

  /** Copies {@link ROW_WORDS} numbers a record: places in the keys and in the contents. */
  copyRows(into: Int32Array, rows: number): void {
    into.set(this.#words.subarray(ROWS / 4, ROWS / 4 + rows * ROW_WORDS));
  }

  /** Compares the key of a row with the separator of a block. */
  compareKey(row: number, index: TableIndex, block: number): number {
    const at = ROWS / 4 + row * ROW_WORDS;
    const start = row === 0 ? KEYS : KEYS + this.#words[at - ROW_WORDS]!;
    return index.compareKey(this.#bytes, { start, end: KEYS + this.#words[at]! }, block);
  }

  fitsStore(length: number): boolean {
    return length <= MAX_STORED_CONTENT;
  }

  /** Writes a block as it is stored, with its type and checksum, to the start of `output`; returns where it ends. */
  store(block: Uint8Array, output: Uint8Array): number {
    this.#bytes.set(block, INPUT);
    const end = this.#exports.store(INPUT, INPUT + block.length, OUTPUT, tableBitsFor(block.length));
    output.set(this.#bytes.subarray(OUTPUT, end));
    return end - OUTPUT;
  }

  #makeTables(): void {
    const words = this.#words, tables = CRC_TABLES / 4;
    for (let byte = 0; byte < 256; byte++) {
      let crc = byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
      words[tables + byte] = crc;
    }
    for (let i = 256; i < 8 * 256; i++) {
      const shorter = words[tables + i - 256]!;
      words[tables + i] = (shorter >>> 8) ^ words[tables + (shorter & 0xff)]!;
    }
  }
}
