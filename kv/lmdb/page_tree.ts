/**
 * The trees of one state of the file, read past LMDB: the ways through them that LMDB will take are walked first, because
 * where a page is damaged LMDB may touch memory that is not there, or answer wrongly. Everything here fails with {@link Damage}.
 *
 * What is checked on a way: each page is the one it should be, sound in itself, and of keys, in order, between the separators above
 * it. Whether keys and values are true is for their seals to tell (`seal.ts`). A damaged key that is still in order leads only
 * the search for itself astray, to the place where it is: so where a key is not found, its neighbours are unsealed, and if it would be
 * the first or last of its page, the next page is looked at too. For a damaged separator the line is drawn in the same way.
 */

import {
  Damage,
  HEAD_BYTES,
  type Meta,
  OVERFLOW_FLAG,
  readFully,
  type TreeMeta,
  TreePage,
  u64,
} from "./page.ts";
import { unseal } from "./seal.ts";

/** Branches whose bytes are kept: each leads to dozens of pages. */
const MAX_BRANCHES = 1024;
/** Leaves that are known to be sound, by number alone. */
const MAX_SOUND_LEAVES = 100_000;
/** Leaves whose bytes are kept, so that one and those beside it are read once. */
const LEAF_SLOTS = 16;

interface Step {
  readonly page: TreePage;
  index: number;
}

/** The branches from the root to a leaf, each with the place that is taken there. */
interface Way {
  readonly steps: Step[];
  leaf: number;
}

/** A key of the database, with its partition, and what is stored under it. */
export interface StoredEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Some of a range's entries, and whether these are all that it has. */
export interface StoredPage {
  readonly entries: StoredEntry[];
  readonly isLast: boolean;
}

/** Keys from `start` on: up to `end`, and not more than `limit` of them or of `maxBytes`. */
export interface EntryRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly limit: number;
  readonly maxBytes: number;
}

export class PageTree {
  readonly meta: Meta;
  readonly #file: number;
  /** Shared with the trees of earlier states. */
  readonly #branches: Map<number, TreePage>;
  /** The one that was used last comes last. */
  readonly #leaves: TreePage[] = [];
  /**
   * Leaves that were found sound, in this state or an earlier one, and have all values in them. One that was written since
   * is fresh, and not feared.
   */
  readonly #soundLeaves: Set<number>;

  /** `earlier` is the tree of an earlier state of the same file. */
  constructor(file: number, meta: Meta, earlier?: PageTree) {
    this.#file = file;
    this.meta = meta;
    this.#branches = earlier ? earlier.#branches : new Map();
    this.#soundLeaves = earlier ? earlier.#soundLeaves : new Set();
  }

  /**
   * Proves the way to where a key of the data is, or belongs, and to its value; returns the number of the leaf there, 0 in an
   * empty tree.
   */
  proveWay(key: Uint8Array): number {
    return this.#proveWay(this.#wayTo(key), key);
  }

  #proveWay(way: Way, key: Uint8Array): number {
    if (way.leaf === 0 || this.#soundLeaves.has(way.leaf)) return way.leaf;
    const leaf = this.#leafOf(way);
    const i = leaf.hasOverflows ? leaf.lowerBound(key) : leaf.count;
    if (i < leaf.count) this.#proveOverflow(leaf, i);
    return way.leaf;
  }

  /** Proves that a key is not missing because of damage; `isSealed` says whether values have seals. */
  proveAbsence(key: Uint8Array, isSealed: boolean): void {
    const way = this.#wayTo(key);
    if (way.leaf === 0) return;
    const leaf = this.#leafOf(way);
    const i = leaf.lowerBound(key);
    // Another process may have stored it meanwhile.
    if (i < leaf.count && leaf.compare(i, key) === 0) return;
    this.#proveNeighbours(way, { leaf, index: i, isSealed });
  }

  /** Proves the way to a key as {@link proveWay}, and what deleting it may touch: pages beside are joined with those on it. */
  proveDeletion(key: Uint8Array): number {
    const way = this.#wayTo(key);
    const { steps } = way;
    for (let at = 0; at < steps.length; at++) {
      const { page, index } = steps[at]!;
      for (const beside of [index - 1, index + 1]) {
        if (beside < 0 || beside >= page.count) continue;
        const above = [...steps.slice(0, at), { page, index: beside }];
        if (at + 1 < steps.length) this.#branchBelow(above);
        else if (!this.#soundLeaves.has(page.child(beside))) this.#leafBelow(above);
      }
    }
    return this.#proveWay(way, key);
  }

  /**
   * Returns what is stored under a key; it holds until something else is read. That there is nothing is proved as by
   * {@link proveAbsence}.
   */
  find(key: Uint8Array, isSealed: boolean): Uint8Array | undefined {
    const way = this.#wayTo(key);
    if (way.leaf === 0) return undefined;
    const leaf = this.#leafOf(way);
    const index = leaf.lowerBound(key);
    if (index < leaf.count && leaf.compare(index, key) === 0) return this.value(leaf, index);
    this.#proveNeighbours(way, { leaf, index, isSealed });
    return undefined;
  }

  /** Returns stored entries, in memory of their own; the last is the one with which they reach `maxBytes`. */
  entries({ start, end, limit, maxBytes }: EntryRange, isSealed: boolean): StoredPage {
    const found: StoredEntry[] = [];
    const all = { entries: found, isLast: true };
    const way = this.#wayTo(start);
    if (way.leaf === 0) return all;
    let leaf = this.#leafOf(way);
    let index = leaf.lowerBound(start);
    this.#proveNeighbours(way, { leaf, index, isSealed });
    for (let bytes = 0;; index++) {
      if (index >= leaf.count) {
        if (!this.#move(way, 1)) return all;
        leaf = this.#leafOf(way);
        index = 0;
      }
      if (end && leaf.compare(index, end) >= 0) {
        this.proveEntry(leaf, index, isSealed);
        return all;
      }
      const key = leaf.key(index).slice(), value = this.value(leaf, index).slice();
      bytes += key.length + value.length;
      if (found.push({ key, value }) >= limit || bytes >= maxBytes) return { entries: found, isLast: false };
    }
  }

  /** Reads a page of a tree at a depth, the root's being 1. */
  pageAt(number: number, { depth, tree }: { depth: number; tree: TreeMeta }): TreePage {
    return this.#readInto(new TreePage(this.meta.pageSize), { number, isLeaf: depth === tree.depth });
  }

  /** Returns the value of a leaf's node, from its own pages if it has any. */
  value(page: TreePage, i: number): Uint8Array {
    const overflow = page.overflow(i);
    if (!overflow) return page.value(i);
    this.#proveOverflow(page, i);
    const bytes = new Uint8Array(overflow.size);
    if (!readFully(this.#file, bytes, overflow.first * this.meta.pageSize + HEAD_BYTES)) {
      throw new Damage(`page ${overflow.first} is cut short`);
    }
    return bytes;
  }

  /** Proves the seal of a leaf's entry, if it has one. */
  proveEntry(page: TreePage, i: number, isSealed: boolean): void {
    const value = this.value(page, i);
    if (isSealed && !unseal(page.key(i), value)) {
      throw new Damage(`node ${i} of page ${page.number} does not bear its seal`);
    }
  }

  #wayTo(key: Uint8Array): Way {
    const { main } = this.meta;
    const steps: Step[] = [];
    if (main.root === undefined) return { steps, leaf: 0 };
    while (steps.length + 1 < main.depth) {
      const page = this.#branchBelow(steps);
      steps.push({ page, index: page.childOf(key) });
    }
    return { steps, leaf: this.#below(steps) };
  }

  /** Returns the number of the page that steps lead to. */
  #below(steps: readonly Step[]): number {
    // As plain as can be: what is loaded for the first time costs a short command.
    const { length } = steps;
    if (length === 0) return this.meta.main.root!;
    const { page, index } = steps[length - 1]!;
    return page.child(index);
  }

  #branchBelow(steps: readonly Step[]): TreePage {
    const number = this.#below(steps);
    const { transaction, pageSize } = this.meta;
    const kept = this.#branches.get(number);
    if (kept?.seenIn === transaction) return kept;
    const isStill = kept?.isStill(this.#file) ?? false;
    const page = isStill ? kept! : this.#readInto(new TreePage(pageSize), { number, isLeaf: false });
    if (!isStill) this.#proveNew(page, steps);
    page.seenIn = transaction;
    if (this.#branches.size >= MAX_BRANCHES) this.#branches.clear();
    this.#branches.set(number, page);
    return page;
  }

  #leafOf({ steps }: Way): TreePage {
    return this.#leafBelow(steps);
  }

  #leafBelow(steps: readonly Step[]): TreePage {
    const number = this.#below(steps);
    const page = this.#recentLeaf(number);
    if (page.number === number) return page;
    this.#readInto(page, { number, isLeaf: true });
    if (this.#soundLeaves.has(number)) return page;
    this.#proveNew(page, steps);
    if (page.hasOverflows) return page;
    if (this.#soundLeaves.size >= MAX_SOUND_LEAVES) this.#soundLeaves.clear();
    this.#soundLeaves.add(number);
    return page;
  }

  /**
   * Returns the kept leaf of this number, or else the one that was used longest ago, to be read into. Who works on a leaf
   * looks at those beside it, and must not lose it by that.
   */
  #recentLeaf(number: number): TreePage {
    const leaves = this.#leaves;
    let at = leaves.findIndex((kept) => kept.number === number);
    if (at < 0 && leaves.length < LEAF_SLOTS) at = leaves.push(new TreePage(this.meta.pageSize)) - 1;
    const [page] = leaves.splice(Math.max(at, 0), 1);
    leaves.push(page!);
    return page!;
  }

  #readInto(page: TreePage, { number, isLeaf }: { number: number; isLeaf: boolean }): TreePage {
    page.read(this.#file, number, this.meta);
    if (page.isLeaf === isLeaf) return page;
    page.number = 0;
    throw new Damage(`page ${number} is at the wrong depth`);
  }

  #proveNew(page: TreePage, steps: readonly Step[]): void {
    try {
      page.proveOrder();
      this.#proveSteps(page, steps);
    } catch (error) {
      // It is not to be taken for one that was proved.
      page.number = 0;
      throw error;
    }
  }

  /** Proves that a page is the one that steps lead to. */
  #proveSteps(page: TreePage, steps: readonly Step[]): void {
    let low: Uint8Array | undefined, high: Uint8Array | undefined;
    for (let at = 0; at < steps.length; at++) {
      const { page: above, index } = steps[at]!;
      if (index > 0) low = above.key(index);
      if (index + 1 < above.count) high = above.key(index + 1);
    }
    // Each of our transactions writes to the data.
    const isRoot = steps.length === 0;
    if (isRoot && page.transaction !== this.meta.transaction) {
      throw new Damage("the root of the data is another one");
    }
    proveBounds(page, low, high);
  }

  /** Proves the entries before and at a place in a leaf, which may be in the leaves beside it. */
  #proveNeighbours(
    way: Way,
    { leaf, index, isSealed }: { leaf: TreePage; index: number; isSealed: boolean },
  ): void {
    if (index < leaf.count) this.proveEntry(leaf, index, isSealed);
    if (index > 0) this.proveEntry(leaf, index - 1, isSealed);
    if (index === leaf.count) {
      const next = this.#beside(way, 1);
      if (next) this.proveEntry(next, 0, isSealed);
    }
    if (index === 0) {
      const previous = this.#beside(way, -1);
      if (previous) this.proveEntry(previous, previous.count - 1, isSealed);
    }
  }

  #beside(way: Way, direction: 1 | -1): TreePage | undefined {
    const moved = { steps: way.steps.map((step) => ({ ...step })), leaf: way.leaf };
    return this.#move(moved, direction) ? this.#leafOf(moved) : undefined;
  }

  /** Moves to the leaf beside; returns whether there is one. */
  #move(way: Way, direction: 1 | -1): boolean {
    const { steps } = way;
    const { length } = steps;
    let at = length - 1;
    while (at >= 0 && !isInside(steps[at]!, direction)) at--;
    if (at < 0) return false;
    steps[at]!.index += direction;
    steps.length = at + 1;
    while (steps.length < length) {
      const page = this.#branchBelow(steps);
      steps.push({ page, index: direction === 1 ? 0 : page.count - 1 });
    }
    way.leaf = this.#below(steps);
    return true;
  }

  /** Returns the size of a value that lies on pages of its own; 0 of others. */
  #proveOverflow(page: TreePage, i: number): number {
    const overflow = page.overflow(i);
    if (!overflow) return 0;
    const { first, pages, transaction, size } = overflow;
    const { pageSize } = this.meta;
    const head = new Uint8Array(HEAD_BYTES), last = new Uint8Array(1);
    const isThere = readFully(this.#file, head, first * pageSize) &&
      readFully(this.#file, last, first * pageSize + HEAD_BYTES + size - 1);
    if (!isThere) throw new Damage(`page ${first} is missing`);
    const view = new DataView(head.buffer);
    const isSound = u64(view, 0) === first && u64(view, 8) === transaction &&
      view.getUint16(18, true) === OVERFLOW_FLAG && view.getUint32(20, true) === pages;
    if (!isSound) throw new Damage(`page ${first} is not the one that page ${page.number} leads to`);
    return size;
  }
}

function isInside({ page, index }: Step, direction: 1 | -1): boolean {
  return direction === 1 ? index + 1 < page.count : index > 0;
}

/** Fails unless the keys of a page are between the separators around it. */
export function proveBounds(page: TreePage, low: Uint8Array | undefined, high: Uint8Array | undefined): void {
  // A branch's first key means nothing.
  const first = page.isLeaf ? 0 : 1;
  if (first >= page.count) return;
  const isWithin = (!low || page.compare(first, low) >= 0) &&
    (!high || page.compare(page.count - 1, high) < 0);
  if (!isWithin) throw new Damage(`page ${page.number} holds keys of another one`);
}
