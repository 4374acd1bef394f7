/** `tag delete`: the name goes, the commit stays. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation } from "../locations.ts";

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const tag = nameOf(location, "tag");
  await (await session.store()).deleteTag(location.repository, tag, environment.who());
  output.result({ id: tag, deleted: true }, `Deleted tag ${output.shown(tag)}`);
  return EXIT_OK;
}
