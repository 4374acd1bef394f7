/** `merge`: the last commit of a ref into a branch, or what that would do. */

import { CodedError } from "../../base/errors.ts";
import type { MergeOptions, MergeStrategy } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_CONFLICT, EXIT_OK } from "../exit_codes.ts";
import { foldOf } from "../folding.ts";
import { branchOf, otherRef, type RefLocation, refLocation, refOf, refUri } from "../locations.ts";
import { resolverOf } from "../merging/resolver.ts";
import { choicesOf, driversOf } from "../merging/rules.ts";
import { countsText } from "../render/changes.ts";
import { closest } from "../suggestions.ts";

const STRATEGIES: readonly MergeStrategy[] = ["source-wins", "dest-wins"];
/** How many files are named that a merge driver left. */
const MAX_LEFT_NAMED = 20;

export async function run(context: Context): Promise<number> {
  const { arguments: given, output, session } = context;
  const sides = sidesOf(given.positionals, given.value("from"));
  const { repository } = sides.destination;
  const strategy = strategyOf(given.value("strategy"));
  const choices = await choicesOf(context);
  const store = await session.store();
  const drivers = await driversOf(context);
  const branch = await branchOf(store, sides.destination), source = await refOf(store, sides.source);
  const options: MergeOptions = {
    committer: context.environment.who(),
    message: given.value("message"),
    metadata: given.pairs("meta"),
    strategy,
    squash: given.flag("squash"),
    keepStaged: given.flag("keep-staged"),
    resolver: resolverOf({ store, repository, choices, drivers, onLeft: namesLeft(context) }),
  };
  if (given.flag("preview")) {
    const { showPreview } = await import("../merging/preview.ts");
    const pages = store.previewMerge(repository, source, branch, options);
    return await showPreview(output, pages, foldOf(given, undefined)) > 0 ? EXIT_CONFLICT : EXIT_OK;
  }
  const { reference, summary } = await store.merge(repository, source, branch, options);
  const uri = refUri(repository, reference);
  output.result({ reference, summary }, output.terminal ? `${uri} (${countsText(summary)})` : uri);
  return EXIT_OK;
}

/** Says why merge drivers left conflicts, of the first ones. */
function namesLeft({ messages }: Context): (path: string, why: string) => void {
  let count = 0;
  return (path, why) => {
    if (count++ < MAX_LEFT_NAMED) messages.note(`${path}: ${why}`);
  };
}

function sidesOf(
  positionals: readonly string[],
  from: string | undefined,
): { source: RefLocation; destination: RefLocation } {
  const [first, second] = positionals;
  if ((second === undefined) === (from === undefined)) {
    const problem = from === undefined ? "the source is missing" : "the source is given twice";
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot run "merge": ${problem}; write tarn merge SRC DST | tarn merge DST --from REF`,
    );
  }
  const destination = refLocation(second ?? first!);
  return { source: otherRef(from ?? first!, destination), destination };
}

function strategyOf(text: string | undefined): MergeStrategy | undefined {
  if (text === undefined) return undefined;
  const strategy = STRATEGIES.find((known) => known === text);
  if (strategy) return strategy;
  const near = closest(text, STRATEGIES);
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use the strategy "${text}": known are ${STRATEGIES.join(" and ")}`,
    { details: near === undefined ? {} : { suggestion: near } },
  );
}
