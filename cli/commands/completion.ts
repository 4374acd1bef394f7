/** `completion`: the script by which a shell asks for candidates. */

import { SCRIPTS } from "../completion/scripts.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run({ arguments: given, output }: Context): Promise<number> {
  const shell = given.positionals[0] as keyof typeof SCRIPTS;
  const script = SCRIPTS[shell];
  output.result({ shell, script }, script.trimEnd());
  return EXIT_OK;
}
