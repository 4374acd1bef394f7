/** `__complete`: what may stand next on a command line, one candidate a line. Anything wrong means no candidates. */

import { complete } from "../completion/complete.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, output } = context;
  let candidates: readonly string[] = [];
  try {
    candidates = await complete(given.positionals, context);
  } catch {
    // A half-typed line may name what is not there.
  }
  for (const candidate of candidates) output.line(candidate);
  return EXIT_OK;
}
