/** `branch restore`: a deleted branch, back where it was. */

import { refJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation } from "../locations.ts";
import { refText } from "../render/refs.ts";

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const { repository } = location;
  const name = nameOf(location, "branch");
  const store = await session.store();
  const branch = await store.restoreRef(repository, "branch", name, {
    who: environment.who(),
    id: given.value("id"),
  });
  output.result(refJson(branch), refText(repository, branch));
  return EXIT_OK;
}
