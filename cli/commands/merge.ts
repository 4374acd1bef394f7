/** `merge`: the last commit of a ref into a branch. */

import { CodedError } from "../../base/errors.ts";
import type { MergeStrategy } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchOf, otherRef, type RefLocation, refLocation, refOf, refUri } from "../locations.ts";
import { countsText } from "../render/changes.ts";
import { closest } from "../suggestions.ts";

const STRATEGIES: readonly MergeStrategy[] = ["source-wins", "dest-wins"];

export async function run({ arguments: given, environment, output, session }: Context): Promise<number> {
  const { source, destination } = sidesOf(given.positionals, given.value("from"));
  const options = {
    committer: environment.who(),
    message: given.value("message"),
    metadata: given.pairs("meta"),
    strategy: strategyOf(given.value("strategy")),
  };
  const store = await session.store();
  const { repository } = destination;
  const branch = await branchOf(store, destination);
  const merged = await store.merge(repository, await refOf(store, source), branch, options);
  const { reference, summary } = merged;
  const uri = refUri(repository, reference);
  output.result({ reference, summary }, output.terminal ? `${uri} (${countsText(summary)})` : uri);
  return EXIT_OK;
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
