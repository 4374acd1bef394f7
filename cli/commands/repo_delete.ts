/** `repo delete`: a repository with everything in it. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { repositoryLocation } from "../locations.ts";

export async function run({ arguments: given, messages, output, session }: Context): Promise<number> {
  const { repository } = repositoryLocation(given.positionals[0]!);
  const store = await session.store();
  await store.getRepository(repository);
  await messages.confirm(`delete repository "${repository}" with its branches, tags and history`);
  await store.deleteRepository(repository);
  output.result({ id: repository, deleted: true }, `Deleted repository ${repository}`);
  return EXIT_OK;
}
