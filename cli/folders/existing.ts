/** What is on a branch already, asked for in the byte order of keys: a listing walked along, not a look-up a key. */

import { compareBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { ListItem, ObjectStats, Store } from "../../drivers/store.ts";

/**
 * Finds objects of a branch by ascending keys.
 *
 * Where the wanted keys lie far apart, pages between them are not read: after one page without use it looks the key up
 * and lists on from there. So it costs what is asked for, not what the branch holds.
 */
export class ExistingObjects {
  readonly #store: Store;
  readonly #repository: string;
  readonly #branch: string;
  readonly #prefix: string;
  #pages: AsyncIterator<readonly ListItem[]>;
  #page: readonly ListItem[] = [];
  #at = 0;
  #isAtEnd = false;

  constructor(store: Store, place: { repository: string; branch: string; prefix: string }) {
    this.#store = store;
    this.#repository = place.repository;
    this.#branch = place.branch;
    this.#prefix = place.prefix;
    this.#pages = this.#listAfter(undefined);
  }

  /** Returns the object of a key that sorts after all keys asked for before. */
  async find(key: string): Promise<ObjectStats | undefined> {
    const wanted = utf8(key);
    for (let pagesRead = 0;; pagesRead++) {
      const found = this.#advanceTo(wanted);
      if (found !== "beyond page") return found;
      if (this.#isAtEnd) return undefined;
      if (pagesRead === 2) return await this.#lookUp(key);
      await this.#nextPage();
    }
  }

  #advanceTo(wanted: Uint8Array): ObjectStats | undefined | "beyond page" {
    for (; this.#at < this.#page.length; this.#at++) {
      const item = this.#page[this.#at]!;
      if (item.kind !== "object") continue;
      const order = compareBytes(utf8(item.stats.path), wanted);
      if (order === 0) return item.stats;
      if (order > 0) return undefined;
    }
    return "beyond page";
  }

  async #nextPage(): Promise<void> {
    const next = await this.#pages.next();
    this.#page = next.done ? [] : next.value;
    this.#at = 0;
    this.#isAtEnd = next.done === true;
  }

  async #lookUp(key: string): Promise<ObjectStats | undefined> {
    await this.#pages.return?.();
    this.#pages = this.#listAfter(key);
    this.#page = [];
    this.#at = 0;
    try {
      return await this.#store.stat(this.#repository, this.#branch, key);
    } catch (error) {
      if (isCoded(error, "object_not_found")) return undefined;
      throw error;
    }
  }

  #listAfter(after: string | undefined): AsyncIterator<readonly ListItem[]> {
    const options = { prefix: this.#prefix, after };
    return this.#store.list(this.#repository, this.#branch, options)[Symbol.asyncIterator]();
  }
}
