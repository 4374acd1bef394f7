/**
 * Walking sorted sequences that arrive in blocks, with an `await` a block and not a record.
 *
 * The pattern: `let item = cursor.peek() ?? await cursor.load();` then `cursor.advance()`.
 */

/** A cursor over an async sequence of blocks. */
export class BlockCursor<T> {
  readonly #blocks: AsyncIterator<readonly T[]>;
  #block: readonly T[] = [];
  #at = 0;
  #ended = false;

  constructor(blocks: AsyncIterable<readonly T[]>) {
    this.#blocks = blocks[Symbol.asyncIterator]();
  }

  /** Returns the current item if its block is loaded; `undefined` means "call {@link load}". */
  peek(): T | undefined {
    return this.#block[this.#at];
  }

  /** Loads blocks until there is a current item; returns it, or `undefined` at the end. */
  async load(): Promise<T | undefined> {
    while (this.#at >= this.#block.length) {
      if (this.#ended) return undefined;
      const next = await this.#blocks.next();
      if (next.done) {
        this.#ended = true;
        this.#block = [];
      } else this.#block = next.value;
      this.#at = 0;
    }
    return this.#block[this.#at];
  }

  advance(): void {
    this.#at++;
  }

  /** Ends the walk early, so that the source may free what it holds. */
  async close(): Promise<void> {
    this.#ended = true;
    this.#block = [];
    await this.#blocks.return?.(undefined);
  }
}

/** Collects items and hands them over in blocks: for generators that make one item at a time. */
export class BlockCollector<T> {
  #items: T[] = [];
  readonly #size: number;

  constructor(size = 256) {
    this.#size = size;
  }

  /** Adds an item; returns a full block to yield, or `undefined`. */
  add(item: T): readonly T[] | undefined {
    this.#items.push(item);
    return this.#items.length >= this.#size ? this.take() : undefined;
  }

  /** Returns what is left, perhaps nothing. */
  take(): readonly T[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
