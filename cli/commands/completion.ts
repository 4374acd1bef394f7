/** `completion`: the script by which a shell asks for candidates. */

import { CodedError } from "../../base/errors.ts";
import { SCRIPTS } from "../completion/scripts.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { closest } from "../../base/suggestions.ts";

export async function run({ arguments: given, output }: Context): Promise<number> {
  const shell = given.positionals[0]!;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) {
    const known = Object.keys(SCRIPTS);
    const near = closest(shell, known);
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot complete for "${shell}": known are ${known.join(", ")}`,
      { details: near === undefined ? {} : { suggestion: near } },
    );
  }
  output.result({ shell, script }, script.trimEnd());
  return EXIT_OK;
}
