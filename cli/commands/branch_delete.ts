/** `branch delete`: the name goes, its commits stay. */

import type { DiffItem } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation } from "../locations.ts";

export async function run(
  { arguments: given, environment, messages, output, session }: Context,
): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const { repository } = location;
  const branch = nameOf(location, "branch");
  const store = await session.store();
  if (await hasStaged(store.status(repository, branch, { amount: 1 }))) {
    await messages.confirm(`delete branch "${branch}" with its staged changes`);
  }
  await store.deleteBranch(repository, branch, environment.who());
  output.result({ id: branch, deleted: true }, `Deleted branch ${output.shown(branch)}`);
  return EXIT_OK;
}

async function hasStaged(changes: AsyncIterable<readonly DiffItem[]>): Promise<boolean> {
  for await (const page of changes) if (page.length > 0) return true;
  return false;
}
