/** `branch create`: a new branch at a ref. */

import { refJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { nameOf, refLocation, refOf, sourceOf } from "../locations.ts";
import { refText } from "../render/refs.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, environment, output, session } = context;
  const catalog = await catalogs.serving(given.positionals[0]!);
  if (catalog) return await (await import("../catalog/branch_create.ts")).branchCreate(context, catalog);
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
