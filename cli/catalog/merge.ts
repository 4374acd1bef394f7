/** `merge` over the catalog: `merge DST --from REF`, or `merge SRC DST`. */

import { CodedError } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { MergeStrategy } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { refuseOptions } from "./options.ts";
import { refNamed } from "./refs.ts";

const EMBEDDED_OPTIONS = [
  "preview",
  "depth",
  "resolve",
  "driver",
  "driver-markers",
  "squash",
  "keep-staged",
];

export async function merge(
  { arguments: given, output }: Context,
  catalog: Catalog,
  strategy: MergeStrategy | undefined,
): Promise<number> {
  refuseOptions(given, "merge", EMBEDDED_OPTIONS);
  const { uri, source } = sidesOf(given.positionals, given.value("from"));
  const from = await refNamed(source, { by: uri, catalog });
  const pinned = await catalog.merge(uri, from, {
    message: given.value("message"),
    metadata: given.pairs("meta"),
    strategy,
  });
  output.result({ uri, from, pinned }, output.shown(pinned));
  return EXIT_OK;
}

function sidesOf(
  [first, second]: readonly string[],
  from: string | undefined,
): { uri: string; source: string } {
  if (second === undefined && from !== undefined) return { uri: first!, source: from };
  if (second !== undefined && from === undefined) return { uri: second, source: first! };
  const problem = from === undefined ? "the source is missing" : "the source is given twice";
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot run "merge": ${problem}; write tarn merge SRC DST | tarn merge DST --from REF`,
  );
}
