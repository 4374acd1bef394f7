/** `repo show`: one repository. */

import { repositoryJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { repositoryLocation } from "../locations.ts";
import { repositoryText } from "../render/refs.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = repositoryLocation(given.positionals[0]!);
  const repository = await (await session.store()).getRepository(location.repository);
  output.result(repositoryJson(repository), repositoryText(output, repository));
  return EXIT_OK;
}
