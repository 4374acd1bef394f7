/** `branch create`: a new branch at a ref. */

import { refJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation, refOf, sourceOf } from "../locations.ts";
import { refText } from "../render/refs.ts";

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const { repository } = location;
  const source = sourceOf(given, location);
  const store = await session.store();
  const branch = await store.createBranch(
    repository,
    nameOf(location, "branch"),
    await refOf(store, source),
    environment.who(),
  );
  output.result(refJson(branch), refText(repository, branch));
  return EXIT_OK;
}
