/** `ls` over the catalog: what lies directly in a folder, with `-r` all files below it; a file is shown itself. */

import { isCoded } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { entriesForm, type ListedEntry } from "../render/entries.ts";
import { refuseOptions } from "./options.ts";
import { filesBelow } from "./walk.ts";

export async function ls({ arguments: given, output }: Context, catalog: Catalog): Promise<number> {
  refuseOptions(given, "ls", ["delimiter", "after", "key"]);
  const uri = given.positionals[0]!;
  const pages = given.flag("recursive") ? filesBelow(catalog, uri) : entriesIn(catalog, uri);
  await output.list(orFile(pages, catalog, uri), entriesForm(output), { amount: given.count("amount") });
  return EXIT_OK;
}

async function* entriesIn(catalog: Catalog, uri: string): AsyncGenerator<readonly ListedEntry[]> {
  for await (const page of catalog.list(uri)) yield page.map((entry) => ({ path: entry.name, entry }));
}

/** Yields pages, or the file that a URI is if it is no folder. */
async function* orFile(
  pages: AsyncIterable<readonly ListedEntry[]>,
  catalog: Catalog,
  uri: string,
): AsyncGenerator<readonly ListedEntry[]> {
  let hasBegun = false;
  try {
    for await (const page of pages) {
      hasBegun = true;
      yield page;
    }
  } catch (error) {
    if (hasBegun || !isCoded(error, "object_not_found")) throw error;
    const entry = await catalog.stat(uri);
    if (entry.kind === "folder") throw error;
    yield [{ path: entry.name, entry }];
  }
}
