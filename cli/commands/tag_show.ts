/** `tag show`: where a tag points. */

import { refJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation } from "../locations.ts";
import { refText } from "../render/refs.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const { repository } = location;
  const tag = await (await session.store()).getTag(repository, nameOf(location, "tag"));
  output.result(refJson(tag), refText(repository, tag));
  return EXIT_OK;
}
