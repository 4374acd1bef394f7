/** `blame`: the commit that last changed each object. */

import { CodedError } from "../../base/errors.ts";
import type { BlameItem } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { keyLocation, objectOrFolder, type RefLocation, refOf } from "../locations.ts";
import { blameForm } from "../render/blame.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const { repository, key } = location;
  const store = await session.store();
  const items = store.blame(repository, await refOf(store, location), {
    ...(key === undefined ? {} : { paths: objectOrFolder(key) }),
    allParents: given.flag("all-parents"),
  });
  await output.list(key === undefined ? items : orNotFound(items, location), blameForm(output));
  return EXIT_OK;
}

/** A key under which nothing is committed was mistyped, or is not committed yet. */
async function* orNotFound(
  pages: AsyncIterable<readonly BlameItem[]>,
  { text, ref, key }: RefLocation,
): AsyncGenerator<readonly BlameItem[]> {
  let isEmpty = true;
  for await (const page of pages) {
    if (page.length > 0) isEmpty = false;
    yield page;
  }
  if (!isEmpty) return;
  throw new CodedError(
    "not_found",
    "object_not_found",
    `Cannot blame "${text}": no commit has anything under "${key}"`,
    { details: { path: key, ...(ref === undefined ? {} : { ref }) } },
  );
}
