/**
 * Reads a database without LMDB.
 *
 * LMDB's native part, its JavaScript and its open take longer than all else that a short command does; they also need a
 * lock file that may be written. Reading the file's pages (`page_tree.ts`) needs no lock: a transaction never writes over a
 * page of the one before it. Transaction N + 1 writes its pages elsewhere and points a meta page to them; what it freed is
 * first written over by N + 2. So an answer out of state N is right if the meta pages, read after it, are what they were
 * when N was found. If not, it is thrown away and the file is read again.
 */

import { closeSync, openSync } from "node:fs";
import { asBuffer } from "../../base/bytes.ts";
import { hasSeals } from "./format.ts";
import { newestMeta, readMetaPagesInto } from "./meta_pages.ts";
import { Damage, type Meta, META_BYTES } from "./page.ts";
import { type EntryRange, PageTree, type StoredPage } from "./page_tree.ts";
import { damaged } from "./path_check.ts";
import { unseal } from "./seal.ts";

/** What {@link PageReader.read} returns when others wrote so fast that no state held. */
export const BUSY = Symbol("busy");

/** One state of a database. */
export class PageState {
  readonly meta: Meta;
  /** Whether values have seals. */
  readonly isSealed: boolean;
  readonly #tree: PageTree;

  constructor(tree: PageTree, isSealed: boolean) {
    this.meta = tree.meta;
    this.#tree = tree;
    this.isSealed = isSealed;
  }

  /** Returns the value of a key, in memory of its own. */
  get(key: Uint8Array): Uint8Array | undefined {
    const stored = this.#tree.find(key, this.isSealed);
    return stored && this.#valueOf(key, stored).slice();
  }

  /** Returns entries in byte order of their keys, which have their partition in front. */
  entries(range: EntryRange): StoredPage {
    const { entries, isLast } = this.#tree.entries(range, this.isSealed);
    return { entries: entries.map(({ key, value }) => ({ key, value: this.#valueOf(key, value) })), isLast };
  }

  #valueOf(key: Uint8Array, stored: Uint8Array): Uint8Array {
    if (!this.isSealed) return stored;
    const value = unseal(key, stored);
    if (!value) throw new Damage("a record does not bear its seal");
    return value;
  }
}

export class PageReader {
  /** The open file. */
  readonly handle: number;
  readonly #path: string;
  /** The meta pages as they were last seen, and memory for seeing them again. */
  #pages = new Uint8Array(2 * META_BYTES);
  #otherPages = new Uint8Array(2 * META_BYTES);
  readonly #scratch = new Uint8Array(4096 + META_BYTES);
  #isKnown = false;
  #state: PageState | undefined;
  #tree: PageTree | undefined;
  /** Known to be; a database never goes back. */
  #isSealed = false;

  /** Opens a file that LMDB made. Fails as the system does. */
  constructor(path: string) {
    this.#path = path;
    this.handle = openSync(path, "r");
  }

  /**
   * Reads in the state that was the newest when it was last asked, and asks then: if it still is, the answer is of now; if not, it
   * is read again, so many times. Damage may be what somebody is just writing over, and counts only if the state still
   * holds. Fails with `kv_corrupt`, `kv_too_new`.
   */
  read<T>(body: (state: PageState) => T, attempts: number): T | typeof BUSY {
    if (!this.#isKnown) this.#isNewest();
    for (let attempt = 0; attempt < attempts; attempt++) {
      let answer: T | undefined, failure: unknown;
      try {
        answer = body(this.#state ??= this.#newest());
      } catch (error) {
        failure = error;
        this.#state = this.#tree = undefined;
      }
      if (!this.#isNewest()) continue;
      if (failure instanceof Damage) throw damaged(this.#path, failure);
      if (failure !== undefined) throw failure;
      this.#isSealed = this.#state!.isSealed;
      return answer as T;
    }
    return BUSY;
  }

  close(): void {
    closeSync(this.handle);
  }

  /** Returns whether the meta pages are what they were, and takes them as they are now. */
  #isNewest(): boolean {
    const known = this.#pages, now = this.#otherPages;
    try {
      readMetaPagesInto(now, { file: this.handle, scratch: this.#scratch });
    } catch (error) {
      throw error instanceof Damage ? damaged(this.#path, error) : error;
    }
    // The runtime's own comparison.
    if (this.#isKnown && asBuffer(known).equals(now)) return true;
    this.#pages = now;
    this.#otherPages = known;
    this.#isKnown = true;
    this.#state = undefined;
    return false;
  }

  #newest(): PageState {
    this.#tree = new PageTree(this.handle, newestMeta(this.#pages), this.#tree);
    return new PageState(this.#tree, this.#isSealed || hasSeals(this.#tree));
  }
}
