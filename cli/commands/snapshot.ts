/** `snapshot`: a read-only copy of what a URI stands for now. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run({ arguments: given, catalogs, output, session }: Context): Promise<number> {
  const [uri, folder] = given.positionals as readonly [string, string];
  (await session.ownFolders()).refuse(folder, "place a snapshot in");
  const catalog = await catalogs.open();
  const path = await catalog.snapshot(uri, folder);
  output.result({ uri, path }, output.shown(path));
  return EXIT_OK;
}
