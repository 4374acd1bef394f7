/**
 * Which version of our own layout a database has. It is marked under a key that no partition has (`keys.ts` begins each with
 * a length of at least 1), so that it is the first of all:
 *
 *     version 1: no mark; values as they are
 *     version 2: the mark, and every value with a seal (`seal.ts`), that of the mark too
 *     version 3: as 2, and there is a journal whose records may be newer (`journal.ts`); when it is taken away this is 2 again
 *
 * The mark's value is the version in one byte. It is written in the transaction that first writes anything, and one that
 * finds a database of version 1 puts the seals on all its values: all of that lands, or nothing.
 */

import { CodedError } from "../../base/errors.ts";
import { afterKey } from "../../base/bytes.ts";
import { Damage } from "./page.ts";
import type { PageTree, StoredEntry } from "./page_tree.ts";
import { unseal } from "./seal.ts";

export const MARK_KEY: Uint8Array = Uint8Array.of(0, 0x74, 0x61, 0x72, 0x6e);
/** Of a database without a journal, and with one. */
export const [PLAIN_VERSION, JOURNAL_VERSION] = [2, 3];
const FIRST_ENTRIES = { start: Uint8Array.of(0), end: undefined, maxBytes: Infinity };
const BATCH = 1000;
/** By so many entries an older database is known from one whose mark is damaged. */
const TELLING_ENTRIES = 8;

/**
 * Returns whether the values of a state have seals: where there is a mark, all do.
 *
 * Fails with {@link Damage} if the mark is damaged, or is missing where there was one, and with `kv_too_new`.
 */
export function hasSeals(tree: PageTree): boolean {
  const mark = tree.find(MARK_KEY, false);
  if (mark) checkMark(mark);
  else refuseSealed(tree.entries({ ...FIRST_ENTRIES, limit: TELLING_ENTRIES }, false).entries);
  return mark !== undefined;
}

/** Returns the version that a mark tells. */
function checkMark(stored: Uint8Array): number {
  const value = unseal(MARK_KEY, stored);
  if (value?.length !== 1) throw new Damage("the mark of its version is unsound");
  if (value[0]! > JOURNAL_VERSION) throw tooNew(value[0]!);
  return value[0]!;
}

/** Returns whether a state says that there is a journal. Fails as {@link hasSeals}. */
export function hasJournal(tree: PageTree): boolean {
  const mark = tree.find(MARK_KEY, false);
  return mark !== undefined && checkMark(mark) === JOURNAL_VERSION;
}

/** Four bytes that are right by chance are rarer than a mark that was damaged. */
function refuseSealed(first: readonly StoredEntry[]): void {
  if (first.some(({ key, value }) => unseal(key, value))) {
    throw new Damage("the mark of its version is missing");
  }
}

function tooNew(version: number): CodedError {
  return new CodedError(
    "unsupported",
    "kv_too_new",
    `Cannot use the key-value store: its version is ${version}, and this version of tarn knows ${JOURNAL_VERSION}`,
  );
}

/** Has all values that a state holds put again, with their seals, and the mark, in an open transaction. */
export function sealAll(tree: PageTree, put: (key: Uint8Array, value: Uint8Array) => void): void {
  for (let start: Uint8Array | undefined = FIRST_ENTRIES.start; start;) {
    const page = tree.entries({ ...FIRST_ENTRIES, start, limit: BATCH }, false);
    for (const { key, value } of page.entries) put(key, value);
    start = page.isLast ? undefined : afterKey(page.entries.at(-1)!.key);
  }
  put(MARK_KEY, Uint8Array.of(PLAIN_VERSION));
}
