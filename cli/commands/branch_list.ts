/** `branch list`: the branches of a repository. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { repositoryLocation } from "../locations.ts";
import { refsForm } from "../render/refs.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const { repository } = repositoryLocation(given.positionals[0]!);
  const store = await session.store();
  await output.list(store.listBranches(repository), refsForm(output));
  return EXIT_OK;
}
