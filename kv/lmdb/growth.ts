/**
 * Makes the database's file as long as a transaction will need it, before LMDB writes: lmdb-js 3.5.6 writes beyond a piece of
 * memory when a write fails (it notes what it tried in 100 bytes), and may end the process on a full disk.
 *
 * New pages come after the last one. How many there will be is estimated, rather too many than too few: each page on a way
 * that is changed is written anew, what is added may split pages, and the tree of free pages is written too. A file that is
 * longer than its last page is whole.
 */

import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { countFreePages } from "./free_pages.ts";
import { HEAD_BYTES } from "./page.ts";
import type { PageTree } from "./page_tree.ts";

/** For the ways that every transaction changes. */
const LEAST_PAGES = 8;
/** The file grows by this at least. */
const STEP_BYTES = 64 * 1024;
const ZEROS = new Uint8Array(STEP_BYTES);

/** What one transaction has come to. */
export class Growth {
  readonly #path: string;
  readonly #leaves = new Set<number>();
  #bytes = 0;
  #overflowPages = 0;
  /** Up to here there is room. */
  #pages = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes room for one more entry. Fails with the system's own error, the file being as it was. */
  add(tree: PageTree, { leaf, bytes }: { leaf: number; bytes: number }): void {
    const { pageSize } = tree.meta;
    this.#leaves.add(leaf);
    if (bytes > pageSize / 2 - HEAD_BYTES) this.#overflowPages += Math.ceil((HEAD_BYTES + bytes) / pageSize);
    // Of two halves of a page that was split, each may be but half full.
    else this.#bytes += 2 * bytes;
    const needed = this.#needed(tree);
    if (needed > this.#pages) this.#pages = this.#take(tree, needed);
  }

  #needed({ meta: { pageSize, main, free } }: PageTree): number {
    const ways = this.#leaves.size + Math.min(this.#leaves.size * main.depth, main.branchPages);
    const added = Math.ceil(this.#bytes / pageSize) + this.#overflowPages;
    const lists = free.branchPages + free.leafPages + free.overflowPages +
      Math.ceil((ways + added) * 8 / pageSize);
    return ways + added + lists + LEAST_PAGES;
  }

  /** Returns for how many pages there is room then. */
  #take(tree: PageTree, needed: number): number {
    const { lastPage, pageSize } = tree.meta;
    const end = (lastPage + 1 + needed) * pageSize;
    const file = openSync(this.#path, "r+");
    try {
      const { size } = fstatSync(file);
      let at = size;
      try {
        while (at < end) at += writeSync(file, ZEROS, 0, ZEROS.length, at);
      } catch (error) {
        ftruncateSync(file, size);
        // The pages that are free may do.
        if (countFreePages(tree) < 2 * needed) throw error;
        return needed;
      }
      return Math.floor(at / pageSize) - lastPage - 1;
    } finally {
      closeSync(file);
    }
  }
}
