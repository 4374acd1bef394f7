/** `commit` over the catalog: the branch or folder that a URI is on; through a logical URI the commit remembers it. */

import { CodedError } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { refuseOptions } from "./options.ts";

export async function commit({ arguments: given, output }: Context, catalog: Catalog): Promise<number> {
  refuseOptions(given, "commit", ["date", "allow-empty", "allow-empty-message", "path"]);
  const uri = given.positionals[0]!;
  const message = given.value("message") ?? "";
  if (message.trim() === "") {
    throw new CodedError("invalid", "empty_message", `Cannot commit "${uri}": the message is empty`);
  }
  const metadata = given.pairs("meta");
  const pinned = await catalog.commit(uri, { message, metadata, isPartial: given.flag("partial") });
  output.result({ uri, pinned }, output.shown(pinned));
  return EXIT_OK;
}
