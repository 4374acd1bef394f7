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
import { nameOfBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { SortedMap } from "../sorted_map.ts";
import { hasJournal, hasSeals } from "./format.ts";
import type { Journal } from "./journal.ts";
import { UNSETTLED } from "./journal_file.ts";
import { layOver } from "./lay_over.ts";
import { MetaPagesReader, newestMeta } from "./meta_pages.ts";
import { Damage, type Meta } from "./page.ts";
import { type EntryRange, PageTree, type StoredPage } from "./page_tree.ts";
import { damaged } from "./path_check.ts";
import { unseal } from "./seal.ts";

/** What {@link PageReader.read} returns when others wrote so fast that no state held. */
export const BUSY = Symbol("busy");

/** While nobody writes: the state that was last seen, and then the newest. */
export const UNDISTURBED_ATTEMPTS = 2;

/** How many answers a state keeps, and up to what size. */
const MAX_ANSWERS = 256;
const MAX_ANSWER_BYTES = 1024;

/** One state of a database, with what is laid over it. */
export class PageState {
  readonly meta: Meta;
  /** Records of the journal, which are newer. */
  newer: SortedMap | undefined;
  /** Whether values have seals. */
  readonly isSealed: boolean;
  readonly #tree: PageTree;
  /** What was asked for before, by the key's bytes as characters: who serves many asks for the same few records. */
  readonly #answers = new Map<string, Uint8Array | undefined>();

  constructor(tree: PageTree, isSealed: boolean) {
    this.meta = tree.meta;
    this.#tree = tree;
    this.isSealed = isSealed;
  }

  /** Returns the value of a key; nobody may change it. */
  get(key: Uint8Array): Uint8Array | undefined {
    const name = nameOfBytes(key);
    const newer = this.newer?.getNamed(name);
    if (newer) return newer;
    const known = this.#answers.get(name);
    if (known || this.#answers.has(name)) return known;
    const stored = this.#tree.find(key, this.isSealed);
    const value = stored && this.#valueOf(key, stored).slice();
    if ((value?.length ?? 0) <= MAX_ANSWER_BYTES) {
      if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear();
      this.#answers.set(name, value);
    }
    return value;
  }

  /** Returns entries in byte order of their keys, which have their partition in front. */
  entries(range: EntryRange): StoredPage {
    const { entries, isLast } = this.#tree.entries(range, this.isSealed);
    const page = {
      entries: entries.map(({ key, value }) => ({ key, value: this.#valueOf(key, value) })),
      isLast,
    };
    return this.newer ? layOver(page, { newer: this.newer, range }) : page;
  }

  get hasJournal(): boolean {
    return hasJournal(this.#tree);
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
  readonly #metaPages: MetaPagesReader;
  readonly #journal: Journal | undefined;
  #state: PageState | undefined;
  #tree: PageTree | undefined;
  /** Known to be; a database never goes back. */
  #isSealed = false;

  /** Opens a file that LMDB made. Fails as the system does. */
  constructor(path: string, { mayMap = true, journal }: { mayMap?: boolean; journal?: Journal } = {}) {
    this.#path = path;
    this.handle = openSync(path, "r");
    this.#metaPages = new MetaPagesReader(this.handle, mayMap);
    this.#journal = journal;
  }

  /**
   * Reads in the state that was the newest when it was last asked, and asks then: if it still is, the answer is of now; if not, it
   * is read again, so many times. Damage may be what somebody is just writing over, and counts only if the state still
   * holds; so does a journal that is just being begun, if `isUndisturbed`: nobody writes meanwhile.
   * Fails with `kv_corrupt`, `kv_journal_corrupt`, `kv_too_new`.
   */
  read<T>(
    body: (state: PageState) => T,
    { attempts, isUndisturbed = false }: { readonly attempts: number; readonly isUndisturbed?: boolean },
  ): T | typeof BUSY {
    if (!this.#metaPages.seen) this.#isNewest();
    for (let attempt = 0; attempt < attempts; attempt++) {
      let answer: T | undefined, failure: unknown;
      try {
        const state = this.#state ??= this.#newest();
        const newer = isUndisturbed ? this.#journal?.overUndisturbed(state) : this.#journal?.over(state);
        if (newer === UNSETTLED) return BUSY;
        state.newer = newer;
        answer = body(state);
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

  /** Returns the newest state, to one who holds the lock of writers. Fails as {@link read}. */
  newest(): PageState {
    return this.readNewest((state) => state);
  }

  /** Reads in the newest state, for one who holds the lock of writers. Fails as {@link read}. */
  readNewest<T>(body: (state: PageState) => T): T {
    const answer = this.read(body, { attempts: UNDISTURBED_ATTEMPTS, isUndisturbed: true });
    if (answer !== BUSY) return answer;
    throw new CodedError("internal", "internal", "Broken invariant: others write while the lock is held");
  }

  close(): void {
    closeSync(this.handle);
    this.#journal?.close();
  }

  /** Returns whether the state is still the newest, and lets it go if not. */
  #isNewest(): boolean {
    try {
      if (!this.#metaPages.look()) return true;
    } catch (error) {
      throw error instanceof Damage ? damaged(this.#path, error) : error;
    }
    this.#state = undefined;
    return false;
  }

  #newest(): PageState {
    this.#tree = new PageTree(this.handle, newestMeta(this.#metaPages.seen!), this.#tree);
    return new PageState(this.#tree, this.#isSealed || hasSeals(this.#tree));
  }
}
