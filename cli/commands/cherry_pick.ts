/** `cherry-pick`: the change of one commit, made again on a branch. */

import type { Context } from "../context.ts";
import { runPick } from "../pick.ts";

export async function run(context: Context): Promise<number> {
  return await runPick(
    context,
    ({ store, repository, branch, ref, options }) => store.cherryPick(repository, branch, ref, options),
  );
}
