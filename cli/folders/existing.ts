/** What is on a branch already, asked for in the byte order of keys: a listing walked along, not a look-up a key. */

import { isCoded } from "../../base/errors.ts";
import type { ListItem, ObjectStats, Store } from "../../drivers/store.ts";
import { compareKeys } from "../../base/key_order.ts";

/**
 * Finds objects of a ref by ascending keys.
 *
 * Where the wanted keys lie far apart, pages between them are not read: after one page without use it looks the key up
 * and lists on from there. So it costs what is asked for, not what the ref holds.
 */
export class ExistingObjects {
  readonly #store: Store;
  readonly #repository: string;
  readonly #ref: string;
  readonly #prefix: string;
  #pages: AsyncIterator<readonly ListItem[]>;
  #page: readonly ListItem[] = [];
  #at = 0;
  #isAtEnd = false;

  constructor(store: Store, place: { repository: string; ref: string; prefix: string }) {
    this.#store = store;
    this.#repository = place.repository;
    this.#ref = place.ref;
    this.#prefix = place.prefix;
    this.#pages = this.#listAfter(undefined);
  }

  /**
   * Returns the object of a key that sorts after all keys asked for before. A promise only where a page has to be read:
   * waiting for each key would cost most of the time.
   */
  find(key: string): ObjectStats | undefined | Promise<ObjectStats | undefined> {
    const found = this.#advanceTo(key);
    return found === "beyond page" ? this.#findBeyond(key) : found;
  }

  async #findBeyond(key: string): Promise<ObjectStats | undefined> {
    for (let pagesRead = 0; !this.#isAtEnd; pagesRead++) {
      if (pagesRead === 2) return await this.#lookUp(key);
      await this.#nextPage();
      const found = this.#advanceTo(key);
      if (found !== "beyond page") return found;
    }
    return undefined;
  }

  #advanceTo(key: string): ObjectStats | undefined | "beyond page" {
    for (; this.#at < this.#page.length; this.#at++) {
      const item = this.#page[this.#at]!;
      if (item.kind !== "object") continue;
      const order = compareKeys(item.stats.path, key);
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
      return await this.#store.stat(this.#repository, this.#ref, key);
    } catch (error) {
      if (isCoded(error, "object_not_found")) return undefined;
      throw error;
    }
  }

  #listAfter(after: string | undefined): AsyncIterator<readonly ListItem[]> {
    const options = { prefix: this.#prefix, after };
    return this.#store.list(this.#repository, this.#ref, options)[Symbol.asyncIterator]();
  }
}
