/**
 * Where the record IDs of a range come from: two versions of a range have nearly all of them in common, so the newer list is kept
 * as runs of the older one, with the few that are new between them.
 *
 *     older   A B C D E F G        kept of the newer: 0–2, one new, 4–6
 *     newer   A B C x E F G
 *
 * A list that such runs refer to is always kept whole: runs of runs are joined ({@link joinedRuns}).
 */

import { RECORD_ID_BYTES } from "./ids.ts";

/** In place of where a run begins in the older list: it is none of it. */
const NEW = 0xffff_ffff;
/** With more runs, or when more than this part is new, or when it is short, a list is kept whole. */
const MOST_RUNS = 1024;
const MOST_NEW = 1 / 8;
const LEAST_RECORDS = 2048;

/** Runs, each where it begins in the list of the range `base`, or {@link NEW}, and how many IDs it has. */
export interface Runs {
  readonly base: string;
  readonly pairs: Uint32Array;
}

/** A list of record IDs as it is kept: `news` are those that the base does not have. */
export interface DerivedIds extends Runs {
  readonly news: Uint8Array;
}

/** Takes down where IDs come from while they are listed. */
export class RunRecorder {
  #base: string | undefined;
  /** Whether they come from one list, and not in too many runs. */
  #isSimple = true;
  readonly #pairs: number[] = [];

  addNew(): void {
    this.#add(NEW, 1);
  }

  addKnown(base: string, from: number, count: number): void {
    this.#base ??= base;
    if (this.#base !== base) this.#isSimple = false;
    this.#add(from, count);
  }

  /** Returns the runs, or `undefined` if they are not simple. */
  runs(): Runs | undefined {
    if (this.#base === undefined || !this.#isSimple) return undefined;
    return { base: this.#base, pairs: Uint32Array.from(this.#pairs) };
  }

  #add(from: number, count: number): void {
    if (!this.#isSimple) return;
    append(this.#pairs, from, count);
    this.#isSimple = this.#pairs.length <= 2 * MOST_RUNS;
  }
}

/** Returns runs of a list that is itself kept as runs, as runs of the list that those are of. */
export function joinedRuns({ pairs }: Runs, over: Runs): Runs {
  const joined: number[] = [];
  let at = 0, start = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    let from = pairs[i]!, left = pairs[i + 1]!;
    if (from === NEW) append(joined, NEW, left);
    // Both lists are in the order of keys, so runs ascend.
    while (from !== NEW && left > 0 && at < over.pairs.length) {
      const overFrom = over.pairs[at]!, overCount = over.pairs[at + 1]!;
      const skipped = from - start;
      if (skipped >= overCount) {
        start += overCount;
        at += 2;
        continue;
      }
      const count = Math.min(left, overCount - skipped);
      append(joined, overFrom === NEW ? NEW : overFrom + skipped, count);
      from += count;
      left -= count;
    }
  }
  return { base: over.base, pairs: Uint32Array.from(joined) };
}

/** Returns how a list is kept as runs, or `undefined` when it is better kept whole. */
export function derivedIds(ids: Uint8Array, { base, pairs }: Runs): DerivedIds | undefined {
  const records = ids.length / RECORD_ID_BYTES, newCount = countNew(pairs);
  if (records < LEAST_RECORDS || pairs.length / 2 > MOST_RUNS || newCount > records * MOST_NEW) {
    return undefined;
  }
  const news = new Uint8Array(newCount * RECORD_ID_BYTES);
  forEachNew({ pairs, news }, (bytes, at) => bytes.set(ids.subarray(at, at + bytes.length)));
  return { base, pairs, news };
}

/** Returns how many bytes the list has. */
export function derivedBytes({ pairs }: Pick<DerivedIds, "pairs">): number {
  let records = 0;
  for (let i = 1; i < pairs.length; i += 2) records += pairs[i]!;
  return records * RECORD_ID_BYTES;
}

/** Whether the numbers fit each other, as those that were written do. */
export function isWellFormed({ pairs, news }: DerivedIds): boolean {
  return countNew(pairs) * RECORD_ID_BYTES === news.length;
}

/** A part of the base's list, and where in the memory for the list it goes. */
export interface Part {
  readonly offset: number;
  readonly into: Uint8Array;
}

/**
 * Returns what to read of the base's list into the memory for a list. Where only something in it was replaced, that is one
 * part, over which {@link putNews} then puts what is new.
 */
export function partsOfBase({ pairs }: DerivedIds, list: Uint8Array): Part[] {
  const parts: { offset: number; at: number; end: number }[] = [];
  let at = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    const end = at + pairs[i + 1]! * RECORD_ID_BYTES;
    if (pairs[i] !== NEW) {
      const offset = pairs[i]! * RECORD_ID_BYTES, last = parts[parts.length - 1];
      if (last && offset - last.offset === at - last.at) last.end = end;
      else parts.push({ offset, at, end });
    }
    at = end;
  }
  return parts.map(({ offset, at, end }) => ({ offset, into: list.subarray(at, end) }));
}

/** Puts the IDs that the base does not have into their places. */
export function putNews(derived: DerivedIds, list: Uint8Array): void {
  forEachNew(derived, (bytes, at) => list.set(bytes, at));
}

function countNew(pairs: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === NEW) count += pairs[i + 1]!;
  return count;
}

/** Calls back with the bytes of each run of new IDs, and where they begin in the list. */
function forEachNew(
  { pairs, news }: Pick<DerivedIds, "pairs" | "news">,
  callback: (bytes: Uint8Array, at: number) => void,
): void {
  for (let i = 0, at = 0, end = 0; i < pairs.length; i += 2) {
    const length = pairs[i + 1]! * RECORD_ID_BYTES;
    if (pairs[i] === NEW) callback(news.subarray(end, end += length), at);
    at += length;
  }
}

/** Adds a run, to the last one if it goes on there. */
function append(pairs: number[], from: number, count: number): void {
  const last = pairs.length - 2;
  const next = last < 0 ? undefined : pairs[last] === NEW ? NEW : pairs[last]! + pairs[last + 1]!;
  if (from === next) pairs[last + 1]! += count;
  else pairs.push(from, count);
}
