/** `show`: one commit. */

import { changesOfCommit } from "../commit_changes.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { foldOf } from "../folding.ts";
import { refLocation, refOf } from "../locations.ts";
import { entryJson, entryText } from "../render/commits.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const store = await session.store();
  const { repository } = location;
  const commit = await store.getCommit(repository, await refOf(store, location));
  const entry = given.flag("stat")
    ? { commit, stat: await changesOfCommit(store, { repository, commit, fold: foldOf(given, undefined) }) }
    : { commit };
  output.result(entryJson(entry), entryText(output, entry, { whole: true }));
  return EXIT_OK;
}
