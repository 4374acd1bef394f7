/** `branch create` over the catalog. */

import type { Catalog } from "../../catalog/catalog.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchSource } from "./refs.ts";

export async function branchCreate(
  { arguments: given, output }: Context,
  catalog: Catalog,
): Promise<number> {
  const uri = given.positionals[0]!;
  const from = await branchSource(given, catalog);
  await catalog.branch(uri, from);
  const { text } = await catalog.resolve(uri);
  output.result({ uri, branch: text, from }, output.shown(text));
  return EXIT_OK;
}
