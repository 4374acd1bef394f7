/** `stat`: what is known of an object. */

import { objectJson } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { objectLocation, refOf } from "../locations.ts";
import { statText } from "../render/objects.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, output, session } = context;
  const catalog = await catalogs.serving(given.positionals[0]!);
  if (catalog) return await (await import("../catalog/stat.ts")).stat(context, catalog);
  const location = objectLocation(given.positionals[0]!, given.value("key"));
  const store = await session.store();
  const stats = await store.stat(location.repository, await refOf(store, location), location.key);
  output.result(objectJson(stats), statText(output, stats));
  return EXIT_OK;
}
