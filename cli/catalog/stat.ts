/** `stat` over the catalog. */

import type { Catalog } from "../../catalog/catalog.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { entryJson, entryText } from "../render/entries.ts";
import { refuseOptions } from "./options.ts";

export async function stat({ arguments: given, output }: Context, catalog: Catalog): Promise<number> {
  refuseOptions(given, "stat", ["key"]);
  const uri = given.positionals[0]!;
  const entry = await catalog.stat(uri);
  output.result({ uri, ...entryJson({ path: entry.name, entry }) }, entryText(output, uri, entry));
  return EXIT_OK;
}
