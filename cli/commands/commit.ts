/** `commit`: the staged changes of a branch become its next commit. */

import { systemClock } from "../../base/clock.ts";
import { parseTime } from "../../base/time.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchOf, objectOrFolder, refLocation, refUri } from "../locations.ts";
import { commitJson } from "../render/commits.ts";

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const options = {
    message: given.value("message") ?? "",
    committer: environment.who(),
    metadata: given.pairs("meta"),
    date: dateOf(given.value("date")),
    allowEmpty: given.flag("allow-empty"),
    allowEmptyMessage: given.flag("allow-empty-message"),
    ...(given.flag("path") ? { paths: given.values("path").flatMap(objectOrFolder) } : {}),
  };
  const store = await session.store();
  const branch = await branchOf(store, location);
  const commit = await store.commit(location.repository, branch, options);
  output.result(commitJson(commit), refUri(location.repository, commit.id));
  return EXIT_OK;
}

/** Returns a TIME in whole seconds since the epoch: a commit's ID is made from those. */
function dateOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Math.floor(parseTime(text, systemClock.now()) / 1000);
}
