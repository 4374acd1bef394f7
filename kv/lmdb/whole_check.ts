/**
 * Checks a database whole: every page that its trees lead to, every key's order, every seal, the counts that the meta page
 * gives, and that no page is in two places or listed as free as well, which is how a write would destroy what is in use.
 *
 * It is a loop over everything, for who asks for that: `checkDatabase`, and the one write that seals an older database.
 */

import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { hasJournal, hasSeals } from "./format.ts";
import { freePages } from "./free_pages.ts";
import { Journal } from "./journal.ts";
import type { JournalExtent } from "./journal_file.ts";
import { readMeta } from "./meta_pages.ts";
import { Damage, type Meta, type TreeMeta, type TreePage } from "./page.ts";
import { PageTree, proveBounds } from "./page_tree.ts";
import { damaged } from "./path_check.ts";
import { openWriterLock } from "./writer_lock.ts";

export interface DatabaseCounts {
  /** Pages in use, and such as are free. */
  readonly pages: number;
  readonly freePages: number;
  readonly entries: number;
  /** Whether values have seals, so that they were checked as well. */
  readonly isSealed: boolean;
  /** What of the journal is newer than the database, where there is one; `missing` where one should be. */
  readonly journal: JournalExtent | "missing" | undefined;
}

/**
 * Checks the database in `folder`, in whatever state it is; others that write wait meanwhile.
 *
 * Fails with `kv_corrupt`, `kv_journal_corrupt`, `kv_too_new`, or the system's own error if the file cannot be read.
 */
export async function checkDatabase(folder: string): Promise<DatabaseCounts> {
  const path = join(folder, "data.mdb");
  const file = openSync(path, "r");
  try {
    const lock = await openWriterLock(folder, true);
    try {
      return lock.holding(() => checkFile(file, folder));
    } finally {
      lock.close();
    }
  } catch (error) {
    if (error instanceof Damage) throw damaged(path, error);
    throw error;
  } finally {
    closeSync(file);
  }
}

function checkFile(file: number, folder: string): DatabaseCounts {
  const tree = new PageTree(file, readMeta(file));
  const isSealed = hasSeals(tree);
  return { ...proveWhole(tree, { isSealed }), isSealed, journal: checkJournal(tree, folder) };
}

function checkJournal(tree: PageTree, folder: string): JournalExtent | "missing" | undefined {
  const state = { meta: tree.meta, hasJournal: hasJournal(tree) };
  if (!state.hasJournal) return undefined;
  const journal = new Journal(folder, false);
  try {
    return journal.extentOver(state) ?? "missing";
  } finally {
    journal.close();
  }
}

/** Checks all that one state of a database leads to. Fails with {@link Damage}. */
export function proveWhole(
  tree: PageTree,
  { isSealed }: { isSealed: boolean },
): { pages: number; freePages: number; entries: number } {
  const { meta } = tree;
  const taken = new TakenPages(meta);
  const onData = (page: TreePage, i: number) => tree.proveEntry(page, i, isSealed);
  const data = walkTree(tree, meta.main, { taken, isOrdered: true, onEntry: onData });
  const lists: [number, number][] = [];
  const free = walkTree(tree, meta.free, {
    taken,
    // Its keys are numbers, and few.
    isOrdered: false,
    onEntry: (page, i) => {
      lists.push(...freePages(page, i, { value: tree.value(page, i), lastPage: meta.lastPage }));
    },
  });
  let freeCount = 0;
  for (const [first, pages] of lists) {
    taken.take(first, pages);
    freeCount += pages;
  }
  return { pages: 2 + data.pages + free.pages, freePages: freeCount, entries: data.entries };
}

/** Each page may be taken once. */
class TakenPages {
  readonly #bits: Uint8Array;
  readonly #lastPage: number;

  constructor({ lastPage }: Meta) {
    // A damaged number must not take memory: no file has as many pages.
    if (lastPage > 2 ** 36) throw new Damage("the meta page that counts is unsound");
    this.#bits = new Uint8Array((lastPage >> 3) + 1);
    this.#lastPage = lastPage;
  }

  take(first: number, pages = 1): void {
    for (let number = first; number < first + pages; number++) {
      const bit = 1 << (number & 7), at = Math.floor(number / 8);
      if (number > this.#lastPage || (this.#bits[at]! & bit) !== 0) {
        throw new Damage(`page ${number} is in two places`);
      }
      this.#bits[at]! |= bit;
    }
  }
}

interface Walk {
  readonly taken: TakenPages;
  readonly isOrdered: boolean;
  readonly onEntry: (page: TreePage, i: number) => void;
}

function walkTree(
  tree: PageTree,
  root: TreeMeta,
  { taken, isOrdered, onEntry }: Walk,
): { pages: number; entries: number } {
  let branches = 0, leaves = 0, overflows = 0, entries = 0;
  const walk = (number: number, depth: number, [low, high]: (Uint8Array | undefined)[]): void => {
    taken.take(number);
    const page = tree.pageAt(number, { depth, tree: root });
    if (isOrdered) page.proveOrder();
    if (isOrdered) proveBounds(page, low, high);
    if (page.isLeaf) leaves++;
    else branches++;
    for (let i = 0; i < page.count; i++) {
      if (!page.isLeaf) {
        walk(page.child(i), depth + 1, [
          i > 0 ? page.key(i) : low,
          i + 1 < page.count ? page.key(i + 1) : high,
        ]);
        continue;
      }
      const overflow = page.overflow(i);
      if (overflow) taken.take(overflow.first, overflow.pages);
      overflows += overflow?.pages ?? 0;
      entries++;
      onEntry(page, i);
    }
  };
  if (root.root !== undefined) walk(root.root, 1, [undefined, undefined]);
  const isCounted = branches === root.branchPages && leaves === root.leafPages && entries === root.entries &&
    overflows === root.overflowPages;
  if (!isCounted) throw new Damage("its pages are not as many as the meta page says");
  return { pages: branches + leaves + overflows, entries };
}
