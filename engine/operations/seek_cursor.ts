/** A cursor over sorted items in blocks that can leap ahead, past blocks that are then never read. */

import { compareBytes } from "../../base/bytes.ts";

export interface Keyed {
  readonly key: Uint8Array;
}

/** Yields items in key order, the first being the first at or after `start`. */
export type OpenAt<T extends Keyed> = (start: Uint8Array) => AsyncIterable<readonly T[]>;

/**
 * The pattern: `let item = cursor.peek() ?? await cursor.load();` then `cursor.advance()` or `cursor.seek(key)`. A leap
 * inside the block at hand costs a search in it; any other costs one opening of the source, however far it goes.
 */
export class SeekCursor<T extends Keyed> {
  readonly #open: OpenAt<T>;
  #start: Uint8Array;
  /** Absent before the first load and after a leap out of the block. */
  #blocks: AsyncIterator<readonly T[]> | undefined;
  #abandoned: AsyncIterator<readonly T[]> | undefined;
  #block: readonly T[] = [];
  #at = 0;
  #isAtEnd = false;

  constructor(open: OpenAt<T>, start: Uint8Array) {
    this.#open = open;
    this.#start = start;
  }

  /** Returns the current item if its block is loaded; `undefined` means "call {@link load}", unless it is at its end. */
  peek(): T | undefined {
    return this.#block[this.#at];
  }

  /** Whether there is no further item. Known only after a load that found none. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Loads blocks until there is a current item; returns it, or `undefined` at the end. */
  async load(): Promise<T | undefined> {
    while (this.#at >= this.#block.length && !this.#isAtEnd) {
      await this.#abandoned?.return?.();
      this.#abandoned = undefined;
      this.#blocks ??= this.#open(this.#start)[Symbol.asyncIterator]();
      const next = await this.#blocks.next();
      this.#isAtEnd = next.done === true;
      this.#block = next.done ? [] : next.value;
      this.#at = 0;
    }
    return this.#block[this.#at];
  }

  advance(): void {
    this.#at++;
  }

  /** Leaps to the first item at or after `key`, never backwards. */
  seek(key: Uint8Array): void {
    const last = this.#block.at(-1);
    if (last && compareBytes(last.key, key) >= 0) this.#at = this.#firstInBlock(key);
    else if (!this.#isAtEnd) {
      this.#abandoned ??= this.#blocks;
      this.#blocks = undefined;
      this.#block = [];
      this.#start = key;
    }
  }

  /** Ends the walk, so that the source may free what it holds. */
  async close(): Promise<void> {
    this.#isAtEnd = true;
    this.#block = [];
    await (this.#abandoned ?? this.#blocks)?.return?.();
    this.#abandoned = this.#blocks = undefined;
  }

  #firstInBlock(key: Uint8Array): number {
    let low = this.#at, high = this.#block.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(this.#block[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
