/** Options that a verb has for the embedded engine alone. */

import { CodedError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";

/** Fails with `invalid_argument` if one of these is given: it would be passed over in silence. */
export function refuseOptions(given: ParsedArguments, verb: string, names: readonly string[]): void {
  const name = names.find((name) => given.flag(name));
  if (name === undefined) return;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot run "${verb}" with "--${name}": that is for the embedded engine's lakefs:// alone`,
  );
}
