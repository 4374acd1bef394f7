/** The lists of free pages. */

import { Damage, type TreePage } from "./page.ts";
import type { PageTree } from "./page_tree.ts";

/**
 * Returns the free pages that an entry of the free tree lists. Under a transaction's number it says how many words follow, and
 * those: a page; a negative length, of which many pages from the next word on are free; or 0, a gap.
 */
export function freePages(
  page: TreePage,
  i: number,
  { value, lastPage }: { value: Uint8Array; lastPage: number },
): [first: number, pages: number][] {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const damage = () => new Damage(`node ${i} of page ${page.number} lists no free pages`);
  if (page.key(i).length !== 8 || value.length < 8 || value.length % 8 !== 0) throw damage();
  const found: [number, number][] = [];
  let length = 1;
  for (let at = 8; at < value.length; at += 8) {
    const word = Number(view.getBigInt64(at, true));
    if (word < 0) length = -word;
    if (word <= 0) continue;
    if (word < 2 || word + length - 1 > lastPage) throw damage();
    found.push([word, length]);
    length = 1;
  }
  return found;
}

/** Proves the structure of the tree of free pages, all of which a write may read; returns how many pages are free. */
export function countFreePages(tree: PageTree): number {
  const { free, lastPage } = tree.meta;
  const countBelow = (number: number, depth: number): number => {
    const page = tree.pageAt(number, { depth, tree: free });
    let count = 0;
    for (let i = 0; i < page.count; i++) {
      if (!page.isLeaf) count += countBelow(page.child(i), depth + 1);
      else {for (const [, pages] of freePages(page, i, { value: tree.value(page, i), lastPage })) {
          count += pages;
        }}
    }
    return count;
  };
  return free.root === undefined ? 0 : countBelow(free.root, 1);
}
