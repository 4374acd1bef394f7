/**
 * Which version of our own layout a database has. It is marked under a key that no partition has (`keys.ts` begins each with
 * a length of at least 1), so that it is the first of all:
 *
 *     version 1: no mark; values as they are
 *     version 2: the mark, and every value with a seal (`seal.ts`), that of the mark too
 *
 * The mark's value is the version in one byte. It is written in the transaction that first writes anything, and one that
 * finds a database of version 1 puts the seals on all its values: all of that lands, or nothing.
 */

import { CodedError } from "../../base/errors.ts";
import { Damage } from "./page.ts";
import { unseal } from "./seal.ts";

export const MARK_KEY: Uint8Array = Uint8Array.of(0, 0x74, 0x61, 0x72, 0x6e);
const VERSION = 2;
/** How many entries {@link checkUnmarked} is to be given. */
export const TELLING_ENTRIES = 8;
const BATCH = 1000;

export interface WholeEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Checks the mark of a database, as it is stored: where there is one, all values have seals.
 *
 * Fails with {@link Damage} if it is damaged, and with `kv_too_new`.
 */
export function checkMark(stored: Uint8Array): void {
  const value = unseal(MARK_KEY, stored);
  if (value?.length !== 1) throw new Damage("the mark of its version is unsound");
  if (value[0]! > VERSION) throw tooNew(value[0]!);
}

/**
 * Checks that a database without a mark never had one, by its first entries: some of them would bear seals. Four bytes that are
 * right by chance are rarer than a mark that was damaged. Fails with {@link Damage}.
 */
export function checkUnmarked(first: readonly WholeEntry[]): void {
  if (first.some(({ key, value }) => unseal(key, value))) {
    throw new Damage("the mark of its version is missing");
  }
}

function tooNew(version: number): CodedError {
  return new CodedError(
    "unsupported",
    "kv_too_new",
    `Cannot use the key-value store: its version is ${version}, and this version of tarn knows ${VERSION}`,
  );
}

/** Writes the mark, and all values that there are with their seals, in an open transaction; `put` seals. */
export function sealAll(database: {
  readonly entries: (start: Uint8Array, limit: number) => readonly WholeEntry[];
  readonly put: (key: Uint8Array, value: Uint8Array) => void;
}): void {
  for (let start: Uint8Array | undefined = Uint8Array.of(1); start;) {
    const page = database.entries(start, BATCH);
    for (const { key, value } of page) database.put(key, value);
    start = page.length < BATCH ? undefined : Uint8Array.from([...page.at(-1)!.key, 0]);
  }
  database.put(MARK_KEY, Uint8Array.of(VERSION));
}
