/**
 * Reads a database without LMDB: all that a command needs which writes nothing.
 *
 * LMDB's native part, its JavaScript and its open take longer than all else that a short command does; they also need a
 * lock file that may be written. Reading the file's pages (`page_tree.ts`) needs no lock: a transaction never writes over a
 * page of the one before it. Transaction N + 1 writes its pages elsewhere and points a meta page to them; what it freed is
 * first written over by N + 2. So an answer out of state N is right if the meta pages, read after it, are what they were
 * when N was found. If not, it is thrown away and the file is read again.
 */

import { closeSync, openSync } from "node:fs";
import { asBuffer } from "../../base/bytes.ts";
import { checkMark, checkUnmarked, MARK_KEY, TELLING_ENTRIES } from "./format.ts";
import { Damage, type Meta, META_BYTES } from "./page.ts";
import { newestMeta, PageTree, readMetaPagesInto, type StoredPage } from "./page_tree.ts";
import { damaged } from "./path_check.ts";
import { unseal } from "./seal.ts";

/** How often a file is read again that somebody writes to at the same time. */
const ATTEMPTS = 8;
const FIRST_ENTRIES = { start: Uint8Array.of(0), end: undefined, limit: TELLING_ENTRIES };

/** Keys from `start` (inclusive) to `end` (exclusive, or without end); no more than are asked for. */
export interface PageRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly limit: number;
  /** The last entry is the one with which keys and values reach this many bytes. */
  readonly maxBytes?: number;
}

/** What {@link PageReader} returns when others wrote so fast that no state could be read: LMDB has to be asked. */
export const BUSY = Symbol("busy");

/** Its calls fail with `kv_corrupt` and `kv_too_new`. */
export class PageReader {
  readonly #path: string;
  readonly #file: number;
  /** The meta pages as they were last seen, and memory for seeing them again. */
  #pages = new Uint8Array(2 * META_BYTES);
  #otherPages = new Uint8Array(2 * META_BYTES);
  readonly #scratch = new Uint8Array(4096 + META_BYTES);
  #isKnown = false;
  #meta: Meta | undefined;
  #tree: PageTree | undefined;
  /** Known to be; a database never goes back. */
  #isSealed = false;

  /** Opens a file that LMDB made. Fails as the system does. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "r");
  }

  /** Returns the value of a key, in memory of its own. */
  get(key: Uint8Array): Uint8Array | undefined | typeof BUSY {
    return this.#reading((tree, sealed) => {
      const stored = tree.find(key, sealed);
      return stored && valueOf(key, stored, sealed).slice();
    });
  }

  /** Returns entries in byte order of their keys. */
  entries({ maxBytes = Infinity, ...range }: PageRange): StoredPage | typeof BUSY {
    return this.#reading((tree, sealed) => {
      const { entries, isLast } = tree.entries({ ...range, maxBytes }, sealed);
      return {
        entries: entries.map(({ key, value }) => ({ key, value: valueOf(key, value, sealed) })),
        isLast,
      };
    });
  }

  close(): void {
    closeSync(this.#file);
  }

  /**
   * Reads in the state that was the newest when it was last asked, and asks then: if it still is, the answer is of now.
   * Damage may be what somebody is just writing over, and counts only if the state still holds.
   */
  #reading<T>(body: (tree: PageTree, isSealed: boolean) => T): T | typeof BUSY {
    if (!this.#isKnown) this.#isNewest();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      let answer: T | undefined, failure: unknown, sealed = false;
      try {
        const tree = this.#treeOf();
        sealed = this.#learn(tree);
        answer = body(tree, sealed);
      } catch (error) {
        failure = error;
        this.#tree = undefined;
      }
      if (!this.#isNewest()) continue;
      if (failure instanceof Damage) throw damaged(this.#path, failure);
      if (failure !== undefined) throw failure;
      this.#isSealed = sealed;
      return answer as T;
    }
    return BUSY;
  }

  /** Returns whether the meta pages are what they were, and takes them as they are now. */
  #isNewest(): boolean {
    const known = this.#pages, now = this.#otherPages;
    try {
      readMetaPagesInto(now, { file: this.#file, scratch: this.#scratch });
    } catch (error) {
      throw error instanceof Damage ? damaged(this.#path, error) : error;
    }
    // The runtime's own comparison.
    if (this.#isKnown && asBuffer(known).equals(now)) return true;
    this.#pages = now;
    this.#otherPages = known;
    this.#isKnown = true;
    this.#meta = undefined;
    return false;
  }

  #treeOf(): PageTree {
    const meta = this.#meta ??= newestMeta(this.#pages);
    if (this.#tree?.meta.transaction !== meta.transaction) {
      this.#tree = new PageTree(this.#file, meta, this.#tree);
    }
    return this.#tree;
  }

  /** Finds out whether values have seals in a state. */
  #learn(tree: PageTree): boolean {
    if (this.#isSealed) return true;
    const mark = tree.find(MARK_KEY, false);
    if (mark) checkMark(mark);
    else checkUnmarked(tree.entries({ ...FIRST_ENTRIES, maxBytes: Infinity }, false).entries);
    return mark !== undefined;
  }
}

function valueOf(key: Uint8Array, stored: Uint8Array, sealed: boolean): Uint8Array {
  if (!sealed) return stored;
  const value = unseal(key, stored);
  if (!value) throw new Damage("a record does not bear its seal");
  return value;
}
