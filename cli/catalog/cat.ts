/** `cat` over the catalog: the file is fetched whole, and read from there. */

import { CodedError } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ByteRange } from "../../drivers/object_store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { refuseOptions } from "./options.ts";

const BLOCK_BYTES = 1024 * 1024;

export async function cat(
  { arguments: given, output }: Context,
  catalog: Catalog,
  range: ByteRange | undefined,
): Promise<number> {
  refuseOptions(given, "cat", ["key"]);
  const uri = given.positionals[0]!;
  await using file = await catalog.openFile(uri);
  const { start, end = file.sizeBytes - 1 } = range ?? { start: 0 };
  if (range && start >= file.sizeBytes) {
    throw new CodedError(
      "invalid",
      "invalid_range",
      `Cannot read bytes ${start}-${range.end ?? ""} of "${uri}": it has ${file.sizeBytes} bytes`,
    );
  }
  const stop = Math.min(end + 1, file.sizeBytes);
  for (let at = start; at < stop; at += BLOCK_BYTES) {
    await output.bytes(await file.readBlock(at, Math.min(BLOCK_BYTES, stop - at)));
  }
  return EXIT_OK;
}
