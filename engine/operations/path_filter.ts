/** Which keys some paths stand for: each an object, or all under a prefix that ends in "/". */

import { afterKey, afterPrefix, compareBytes, utf8 } from "../../base/bytes.ts";
import type { KeyBounds, Metarange, RangeInfo } from "../committed/mod.ts";
import { pathKey } from "../objects/mod.ts";

export class PathFilter {
  /** What the paths cover, in key order; no two overlap. */
  readonly bounds: readonly KeyBounds[];

  /** `objects` and `prefixes` are what they are, whatever they end in. Fails with `invalid_path`. */
  constructor(
    paths: readonly string[],
    { objects = [], prefixes = [] }: { objects?: readonly string[]; prefixes?: readonly string[] } = {},
  ) {
    const wanted = [
      ...paths.map((path) => path.endsWith("/") ? prefixBounds(pathKey(path)) : keyBounds(path)),
      ...objects.map(keyBounds),
      ...prefixes.map((prefix) => prefixBounds(utf8(prefix))),
    ].sort((a, b) => compareBytes(a.start, b.start));
    const merged: PathBounds[] = [];
    for (const next of wanted) {
      const last = merged.at(-1);
      if (!last || (last.end && compareBytes(last.end, next.start) < 0)) merged.push(next);
      else if (last.end && (!next.end || compareBytes(next.end, last.end) > 0)) {
        merged[merged.length - 1] = { start: last.start, ...(next.end ? { end: next.end } : {}) };
      }
    }
    this.bounds = merged;
  }

  /** Whether a key is one of those that the paths stand for. */
  includes(key: Uint8Array): boolean {
    const { bounds } = this;
    let low = 0, high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(bounds[middle]!.start!, key) <= 0) low = middle + 1;
      else high = middle;
    }
    const { end } = low === 0 ? { end: key } : bounds[low - 1]!;
    return end === undefined || compareBytes(key, end) < 0;
  }
}

interface PathBounds extends KeyBounds {
  readonly start: Uint8Array;
}

function keyBounds(path: string): PathBounds {
  const start = pathKey(path);
  return { start, end: afterKey(start) };
}

function prefixBounds(start: Uint8Array): PathBounds {
  const end = afterPrefix(start);
  return { start, ...(end ? { end } : {}) };
}

/**
 * Whether both metaranges have the same ranges wherever a key within the bounds may be: then nothing differs there, and no
 * range need be opened to know it.
 */
export async function sharesRanges(left: Metarange, right: Metarange, within: KeyBounds): Promise<boolean> {
  if (left.id === right.id) return true;
  const older = await left.ranges(), newer = await right.ranges();
  let a = firstWithin(older, within), b = firstWithin(newer, within);
  while (true) {
    const one = rangeWithin(older[a++], within), other = rangeWithin(newer[b++], within);
    if (one?.id !== other?.id) return false;
    if (!one) return true;
  }
}

/** Returns the index of the first range that ends at or after the bounds' start. */
function firstWithin(ranges: readonly RangeInfo[], { start }: KeyBounds): number {
  if (!start) return 0;
  let low = 0, high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(ranges[middle]!.maxKey, start) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rangeWithin(range: RangeInfo | undefined, { end }: KeyBounds): RangeInfo | undefined {
  return range && end && compareBytes(range.minKey, end) >= 0 ? undefined : range;
}
