/** Which exit code an error ends the program with. */

import { CodedError, type ErrorKind } from "../base/errors.ts";

export const EXIT_OK = 0;
/** No error but a "no": `diff --exit-code` found a difference. */
export const EXIT_NO = 1;
/** `merge --preview` found conflicts: the code of the error that the merge would end with. */
export const EXIT_CONFLICT = 4;
/** Part of a batch failed, the rest is done. */
export const EXIT_PARTIAL = 7;

const BY_KIND: Record<ErrorKind, number> = {
  invalid: 2,
  not_found: 3,
  gone: 3,
  conflict: 4,
  exists: 4,
  precondition: 4,
  unauthenticated: 5,
  forbidden: 5,
  throttled: 8,
  unavailable: 8,
  unsupported: 9,
  corrupt: 10,
  internal: 70,
  canceled: 130,
};

/** The codes whose exit code is not that of their kind. */
const BY_CODE: Readonly<Record<string, number>> = {
  no_changes: 6,
  nothing_to_merge: 6,
};

/** Returns the exit code of an error; what is no {@link CodedError} counts as internal. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof CodedError)) return BY_KIND.internal;
  return BY_CODE[error.code] ?? BY_KIND[error.kind];
}
