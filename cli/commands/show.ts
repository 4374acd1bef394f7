/** `show`: one commit. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { refLocation, refOf } from "../locations.ts";
import { commitJson, commitText } from "../render/commits.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const store = await session.store();
  const commit = await store.getCommit(location.repository, await refOf(store, location));
  output.result(commitJson(commit), commitText(output, commit, { whole: true }));
  return EXIT_OK;
}
