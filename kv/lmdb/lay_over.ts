/** Laying newer entries over a page of a scan. */

import { compareBytes } from "../../base/bytes.ts";
import type { SortedMap } from "../sorted_map.ts";
import type { EntryRange, StoredEntry, StoredPage } from "./page_tree.ts";

/** Returns a page of a range with `newer` entries in their places, and in the place of older ones of the same keys. */
export function layOver(
  page: StoredPage,
  { newer, range }: { readonly newer: SortedMap; readonly range: EntryRange },
): StoredPage {
  const { limit, maxBytes } = range;
  const ours = entriesWithin(newer, page, range);
  if (ours.length === 0) return page;
  const theirs = page.entries;
  const entries: StoredEntry[] = [];
  let bytes = 0;
  for (let i = 0, j = 0; i < ours.length || j < theirs.length;) {
    if (entries.length >= limit || bytes >= maxBytes) return { entries, isLast: false };
    const order = i === ours.length
      ? 1
      : j === theirs.length
      ? -1
      : compareBytes(ours[i]!.key, theirs[j]!.key);
    const entry = order <= 0 ? ours[i++]! : theirs[j]!;
    if (order >= 0) j++;
    entries.push(entry);
    bytes += entry.key.length + entry.value.length;
  }
  return { entries, isLast: page.isLast };
}

/** Returns the newer entries of a range, up to the last of the page if more pages follow: the others are for those. */
function entriesWithin(newer: SortedMap, { entries, isLast }: StoredPage, range: EntryRange): StoredEntry[] {
  const last = isLast ? undefined : entries.at(-1)!.key;
  const found: StoredEntry[] = [];
  for (const { key, value } of newer.from(range.start)) {
    if (range.end && compareBytes(key, range.end) >= 0) break;
    if (last && compareBytes(key, last) > 0) break;
    // One more than fit tells that there are more.
    if (found.push({ key, value: value.slice() }) > range.limit) break;
  }
  return found;
}
