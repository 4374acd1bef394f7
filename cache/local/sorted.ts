/** Sorted streams that are read side by side. */

import { compareKeys } from "../../base/key_order.ts";

/** A sorted stream, read page by page as far as somebody asks. */
export class Sorted<T> {
  readonly #pages: AsyncIterator<readonly T[]>;
  readonly #pathOf: (item: T) => string;
  #page: readonly T[] = [];
  #at = 0;
  #isEnded = false;

  constructor(pages: AsyncIterable<readonly T[]>, pathOfItem: (item: T) => string) {
    this.#pages = pages[Symbol.asyncIterator]();
    this.#pathOf = pathOfItem;
  }

  /** Passes over what sorts before a path, or everything. Returns `false` when a page has to be loaded for that. */
  isAt(path: string | undefined, passed: (item: T) => void = () => {}): boolean {
    for (; this.#at < this.#page.length; this.#at++) {
      const item = this.#page[this.#at]!;
      if (path !== undefined && compareKeys(this.#pathOf(item), path) >= 0) return true;
      passed(item);
    }
    return this.#isEnded;
  }

  /** Takes the item that the stream stands at, if it has the path. */
  take(path: string): T | undefined {
    const item = this.#page[this.#at];
    if (item === undefined || this.#pathOf(item) !== path) return undefined;
    this.#at++;
    return item;
  }

  async load(): Promise<void> {
    const step = await this.#pages.next();
    if (step.done) this.#isEnded = true;
    else [this.#page, this.#at] = [step.value, 0];
  }

  async close(): Promise<void> {
    await this.#pages.return?.();
  }
}
