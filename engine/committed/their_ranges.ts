/**
 * Ranges of a merge's source that can stand in for a range of its destination, by ID and unread.
 *
 *     base         … P] [a……M] [n…
 *     destination  … P] [a……M] [n…      the same range as in the base: only the source changed anything here
 *     source       … P] [a…c] [d……M] […  so between the boundaries P and M that all three share, its ranges are the result
 */

import { compareBytes } from "../../base/bytes.ts";
import { type Chunking, endsRange } from "./chunking.ts";
import { firstRangeAt, type Metarange } from "./metarange.ts";
import type { RangeInfo } from "./range.ts";

/** A range, the last key before it, and whether none follows it. */
export interface RangePlace {
  readonly range: RangeInfo;
  readonly before: Uint8Array | undefined;
  readonly isLast: boolean;
}

export class TheirRanges {
  readonly #base: readonly RangeInfo[];
  readonly #source: readonly RangeInfo[];
  readonly #chunking: Chunking;

  private constructor(
    ranges: { readonly base: readonly RangeInfo[]; readonly source: readonly RangeInfo[] },
    chunking: Chunking,
  ) {
    this.#base = ranges.base;
    this.#source = ranges.source;
    this.#chunking = chunking;
  }

  /** Returns `undefined` when the source's ranges end elsewhere than ours do: it was made by lakeFS. */
  static async open(
    { base, source }: { readonly base: Metarange; readonly source: Metarange },
    chunking: Chunking,
  ): Promise<TheirRanges | undefined> {
    if (!await source.isOurs()) return undefined;
    return new TheirRanges({ base: await base.ranges(), source: await source.ranges() }, chunking);
  }

  /** Returns what takes the place of a range of the destination, or `undefined` when that takes reading. */
  standIns({ range, before, isLast }: RangePlace): readonly RangeInfo[] | undefined {
    const base = this.#base, source = this.#source;
    const inBase = firstRangeAt(base, range.maxKey);
    if (base[inBase]?.id !== range.id || !isSameKey(base[inBase - 1]?.maxKey, before)) return undefined;
    if (isLast !== (inBase === base.length - 1)) return undefined;
    const start = before ? firstRangeAt(source, before) + 1 : 0;
    if (!isSameKey(source[start - 1]?.maxKey, before)) return undefined;
    if (isLast) return source.slice(start);
    const last = firstRangeAt(source, range.maxKey), end = source[last];
    // A last range ends where the records do, which is no boundary when others follow.
    if (
      !end || !isSameKey(end.maxKey, range.maxKey) || !endsRange(end.maxKey, end.sizeBytes, this.#chunking)
    ) {
      return undefined;
    }
    return source.slice(start, last + 1);
  }
}

function isSameKey(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a && b ? compareBytes(a, b) === 0 : a === b;
}
