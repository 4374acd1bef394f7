/** `status`: what a commit of a branch would take. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchOf, refLocation } from "../locations.ts";
import { changesForm } from "../render/changes.ts";

export async function run({ arguments: given, messages, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const store = await session.store();
  const branch = await branchOf(store, location);
  const changes = store.status(location.repository, branch, { prefix: given.value("prefix") });
  const count = await output.list(changes, changesForm(output));
  if (count === 0 && output.json === "none") messages.note(`Nothing is staged on branch "${branch}"`);
  return EXIT_OK;
}
