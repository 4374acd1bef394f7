/** `revert`: a new commit that undoes another. */

import type { Context } from "../context.ts";
import { runPick } from "../pick.ts";

export async function run(context: Context): Promise<number> {
  return await runPick(
    context,
    ({ store, repository, branch, ref, options }) => store.revert(repository, branch, ref, options),
  );
}
