/** What `revert` and `cherry-pick` share: a branch, a commit, and which parent to compare with. */

import { commitJson } from "../drivers/store.ts";
import type { CommitInfo, PickOptions, Store } from "../drivers/store.ts";
import type { Context } from "./context.ts";
import { EXIT_OK } from "./exit_codes.ts";
import { branchOf, otherRef, refLocation, refOf, refUri } from "./locations.ts";
import { resolverOf } from "./merging/resolver.ts";
import { choicesOf } from "./merging/rules.ts";

export interface Pick {
  readonly store: Store;
  readonly repository: string;
  readonly branch: string;
  readonly ref: string;
  readonly options: PickOptions;
}

/** Reads the command line, picks, and shows the new commit. */
export async function runPick(
  context: Context,
  pick: (what: Pick) => Promise<CommitInfo>,
): Promise<number> {
  const { arguments: given, environment, output, session } = context;
  const [uri, commit] = given.positionals;
  const destination = refLocation(uri!);
  const source = otherRef(commit!, destination);
  const choices = await choicesOf(context);
  const store = await session.store();
  const { repository } = destination;
  const options = {
    committer: environment.who(),
    message: given.value("message"),
    parent: given.count("parent"),
    resolver: resolverOf({
      store,
      repository,
      choices,
      givenChoices: given.values("resolve").length,
      drivers: [],
      givenDrivers: 0,
      onLeft: () => {},
    }),
  };
  const branch = await branchOf(store, destination);
  const made = await pick({ store, repository, branch, ref: await refOf(store, source), options });
  output.result(commitJson(made), refUri(repository, made.id));
  return EXIT_OK;
}
