/** `cache ls`: what was fetched. */

import { isBelow, itemsForm, sortedItems } from "../cache_items.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run({ arguments: given, catalogs, output }: Context): Promise<number> {
  const matches = given.positionals.length === 0 ? () => true : await isBelow(given.positionals, catalogs);
  const items = (await sortedItems(await catalogs.openCache())).filter(matches);
  await output.list(onePage(items), itemsForm(output));
  return EXIT_OK;
}

async function* onePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}
