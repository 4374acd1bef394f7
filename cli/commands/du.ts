/** `du`: how many objects and bytes are in each folder under a URI. */

import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { objectsAt, orNotFound } from "../folders/objects_at.ts";
import { folderPrefix } from "../folders/recursive.ts";
import { type FolderTotal, totalsOf } from "../folders/tree.ts";
import { keyLocation, objectUri, refOf } from "../locations.ts";
import type { ListForm, Output } from "../output.ts";
import { counted, humanSize } from "../render/sizes.ts";
import type { Field } from "../tables/fields.ts";

const USUAL_DEPTH = 1;

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const depth = given.count("depth", 0) ?? USUAL_DEPTH;
  const store = await session.store();
  const ref = await refOf(store, location);
  const objects = orNotFound(objectsAt(store, { ...location, ref }), { ...location, ref });
  const totals = totalsOf(objects, folderPrefix(location.key));
  const uriOf = (path: string) => objectUri(location.repository, ref, path);
  await output.list(upTo(totals, depth), totalForm(output, uriOf));
  return EXIT_OK;
}

async function* upTo(
  totals: AsyncIterable<readonly FolderTotal[]>,
  depth: number,
): AsyncGenerator<readonly FolderTotal[]> {
  for await (const page of totals) yield page.filter((total) => total.depth <= depth);
}

const TOTAL_FIELDS: readonly Field<FolderTotal>[] = [
  { name: "path", type: "text", of: ({ path }) => path },
  { name: "path_type", type: "text", of: () => "common_prefix" },
  { name: "size_bytes", type: "integer", of: ({ sizeBytes }) => sizeBytes },
  { name: "count", type: "integer", of: ({ count }) => count },
];

/** Returns the form of totals: `BYTES\tOBJECTS\tURI` where nobody reads along. */
function totalForm(output: Output, uriOf: (path: string) => string): ListForm<FolderTotal> {
  return {
    fields: TOTAL_FIELDS,
    json: ({ path, count, sizeBytes }) => ({
      path,
      path_type: "common_prefix",
      size_bytes: sizeBytes,
      count,
    }),
    line: ({ path, count, sizeBytes }) =>
      output.terminal
        ? `${humanSize(sizeBytes).padStart(10)}  ${counted(count, "object").padStart(16)}  ${uriOf(path)}`
        : `${sizeBytes}\t${count}\t${uriOf(path)}`,
  };
}
