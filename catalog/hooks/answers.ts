/** Whether what a hook answers is what its spot answers with: it may come from code that no compiler has seen. */

import type { Entry } from "../../drivers/catalog_store.ts";
import { isWellFormed } from "../../base/bytes.ts";
import type { Spot, SpotAnswers } from "./spots.ts";

type Check<T> = (value: unknown) => value is T;

const isText: Check<string> = (value): value is string =>
  typeof value === "string" && value !== "" && isWellFormed(value) && !value.includes("\0");

const isNothing: Check<undefined> = (value): value is undefined => value === undefined || value === null;

export const isEntry: Check<Entry> = (value): value is Entry => {
  if (typeof value !== "object" || value === null) return false;
  const { name, kind, sizeBytes, version, sha256, modifiedMs } = value as Record<string, unknown>;
  return typeof name === "string" && (kind === "file" || kind === "folder") &&
    [sizeBytes, modifiedMs].every((number) => number === undefined || typeof number === "number") &&
    [version, sha256].every((text) => text === undefined || typeof text === "string");
};

const isPages: Check<AsyncIterable<readonly Entry[]>> = (value): value is AsyncIterable<readonly Entry[]> =>
  typeof (value as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === "function";

const isOpenedFile: Check<SpotAnswers["open"]> = (value): value is SpotAnswers["open"] => {
  const { path, sizeBytes } = (value ?? {}) as Record<string, unknown>;
  return isText(path) && Number.isSafeInteger(sizeBytes);
};

const isBytes: Check<Uint8Array> = (value): value is Uint8Array => value instanceof Uint8Array;

const CHECKS: { readonly [S in Spot]: Check<SpotAnswers[S]> } = {
  session: isNothing,
  resolve: isText,
  pin: isText,
  stat: isEntry,
  list: isPages,
  fetch: isText,
  put: isEntry,
  delete: isNothing,
  commit: isText,
  branch: isNothing,
  merge: isText,
  snapshot: isText,
  open: isOpenedFile,
  read_block: isBytes,
  close: isNothing,
};

/** Returns whether a value is what a spot answers with. */
export function isAnswer<S extends Spot>(spot: S, value: unknown): value is SpotAnswers[S] {
  return CHECKS[spot](value);
}
