/** `branch delete`: the name goes, its commits stay. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation } from "../locations.ts";
import { countStaged, stagedText } from "../losses.ts";

export async function run(
  { arguments: given, environment, messages, output, session }: Context,
): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const { repository } = location;
  const branch = nameOf(location, "branch");
  const store = await session.store();
  await store.getBranch(repository, branch);
  const staged = await countStaged(store, { repository, branch });
  if (staged > 0) await messages.confirm(`delete branch "${branch}" with its ${stagedText(staged)}`);
  await store.deleteBranch(repository, branch, environment.who());
  output.result({ id: branch, deleted: true }, `Deleted branch ${output.shown(branch)}`);
  return EXIT_OK;
}
