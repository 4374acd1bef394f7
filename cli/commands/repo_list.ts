/** `repo list`: the repositories, by name. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { repositoriesForm } from "../render/refs.ts";

export async function run({ output, messages, session }: Context): Promise<number> {
  const store = await session.store();
  const count = await output.list(store.listRepositories(), repositoriesForm(output));
  if (count === 0 && output.terminal) messages.note("There are no repositories");
  return EXIT_OK;
}
