/** `tag restore`: a deleted tag, back where it was. */

import { refJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation } from "../locations.ts";
import { refText } from "../render/refs.ts";

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const { repository } = location;
  const name = nameOf(location, "tag");
  const store = await session.store();
  const tag = await store.restoreRef(repository, "tag", name, {
    who: environment.who(),
    id: given.value("id"),
  });
  output.result(refJson(tag), refText(repository, tag));
  return EXIT_OK;
}
