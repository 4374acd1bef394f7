/** `rm` over the catalog: one object, or with `-r` all files below a URI. */

import { CodedError } from "../../base/errors.ts";
import { runInFlight } from "../../base/in_flight.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { checkNotRecursive } from "../folders/recursive.ts";
import { counted } from "../render/sizes.ts";
import { refuseOptions } from "./options.ts";
import { filesBelow, type WalkedEntry } from "./walk.ts";

export async function rm(context: Context, catalog: Catalog): Promise<number> {
  const { arguments: given, output } = context;
  refuseOptions(given, "rm", ["key", "dry-run"]);
  const uri = given.positionals[0]!;
  if (given.flag("recursive")) return await removeAll(context, catalog);
  checkNotRecursive(given);
  await catalog.delete(uri);
  output.result({ uri, removed: 1 }, `Removed ${output.shown(uri)}`);
  return EXIT_OK;
}

async function removeAll(
  { arguments: given, messages, output }: Context,
  catalog: Catalog,
): Promise<number> {
  const uri = given.positionals[0]!;
  await catalog.checkWritable(uri);
  let removed = 0;
  await runInFlight(flat(filesBelow(catalog, uri)), async (file) => {
    await catalog.delete(file.uri);
    removed++;
    messages.progress(() => `Removing: ${counted(removed, "object")}`);
  });
  if (removed === 0) {
    throw new CodedError("not_found", "object_not_found", `Cannot remove "${uri}": nothing is there`);
  }
  output.result({ uri, removed }, `Removed ${counted(removed, "object")}`);
  return EXIT_OK;
}

async function* flat(pages: AsyncIterable<readonly WalkedEntry[]>): AsyncGenerator<WalkedEntry> {
  for await (const page of pages) yield* page;
}
