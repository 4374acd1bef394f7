/** `cat`: an object's bytes on standard output, as they are. */

import { CodedError } from "../../base/errors.ts";
import type { ByteRange } from "../../drivers/object_store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { objectLocation, refOf } from "../locations.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, output, session } = context;
  const range = byteRange(given.value("range"));
  const catalog = await catalogs.serving(given.positionals[0]!);
  if (catalog) return await (await import("../catalog/cat.ts")).cat(context, catalog, range);
  const location = objectLocation(given.positionals[0]!, given.value("key"));
  const store = await session.store();
  const ref = await refOf(store, location);
  const { body } = await store.read(location.repository, ref, location.key, range ? { range } : {});
  for await (const piece of body) await output.bytes(piece);
  return EXIT_OK;
}

/** Reads `A-B` or `A-`. */
function byteRange(text: string | undefined): ByteRange | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,15})-(\d{1,15})?$/.exec(text);
  const start = Number(match?.[1]);
  const end = match?.[2] === undefined ? undefined : Number(match[2]);
  if (!match || (end !== undefined && end < start)) {
    throw new CodedError(
      "invalid",
      "invalid_range",
      `Cannot read the range "${text}": it must be A-B or A-, counted from 0, with B at least A`,
    );
  }
  return end === undefined ? { start } : { start, end };
}
