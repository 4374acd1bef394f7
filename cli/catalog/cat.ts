/** `cat` over the catalog: the file is fetched whole, as it is now, and read from there. */

import * as fs from "node:fs";
import { CodedError } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ByteRange } from "../../drivers/object_store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { type OpenFile, openNamed } from "../folders/local_files.ts";
import { readDescriptor } from "../streams.ts";
import { refuseOptions } from "./options.ts";

export async function cat(
  { arguments: given, output }: Context,
  catalog: Catalog,
  range: ByteRange | undefined,
): Promise<number> {
  refuseOptions(given, "cat", ["key"]);
  const uri = given.positionals[0]!;
  await catalog.fetchAnd(await catalog.calls.target(uri), async (path) => {
    const file = await openNamed(path);
    try {
      for await (const piece of bytesOf(uri, file, range)) await output.bytes(piece);
    } finally {
      fs.closeSync(file.descriptor);
    }
  });
  return EXIT_OK;
}

async function* bytesOf(
  uri: string,
  { descriptor, stat }: OpenFile,
  range: ByteRange | undefined,
): AsyncGenerator<Uint8Array> {
  const refuse = (code: "folder_in_the_way" | "invalid_range", why: string): never => {
    throw new CodedError("invalid", code, `Cannot read "${uri}": ${why}`, { details: { uri } });
  };
  if (stat.isDirectory()) refuse("folder_in_the_way", "it is a folder");
  const { start, end = Infinity } = range ?? { start: 0 };
  if (range && start >= stat.size) {
    refuse("invalid_range", `it has ${stat.size} bytes, and none from ${start} on`);
  }
  let at = start;
  for await (const piece of readDescriptor(descriptor, () => at)) {
    at += piece.length;
    yield at > end + 1 ? piece.subarray(0, piece.length - (at - end - 1)) : piece;
    if (at > end) return;
  }
}
