/** `merge`: the last commit of a ref into a branch, or what that would do. */

import { CodedError, isCoded } from "../../base/errors.ts";
import { looksLikeUri } from "../../base/uri.ts";
import type { MergeOptions, MergePreviewItem } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_CONFLICT, EXIT_OK } from "../exit_codes.ts";
import { foldOf } from "../folding.ts";
import { branchOf, otherRef, type RefLocation, refLocation, refOf, refUri } from "../locations.ts";
import { type ChosenResolver, resolverOf } from "../merging/resolver.ts";
import { choicesOf, driversOf } from "../merging/rules.ts";
import { countsText } from "../render/changes.ts";
import { MERGE_STRATEGIES } from "../verbs/choices.ts";

/** How many files are named that a merge driver left. */
const MAX_LEFT_NAMED = 20;

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, output, session } = context;
  const strategy = given.choice("strategy", MERGE_STRATEGIES);
  for (const text of given.positionals) {
    const catalog = await catalogs.serving(text);
    if (catalog) return await (await import("../catalog/merge.ts")).merge(context, catalog, strategy);
  }
  const sides = sidesOf(given.positionals, given.value("from"));
  const { repository } = sides.destination;
  const choices = await choicesOf(context);
  const store = await session.store();
  const drivers = await driversOf(context);
  const branch = await branchOf(store, sides.destination), source = await refOf(store, sides.source);
  const resolver = resolverOf({
    store,
    repository,
    choices,
    givenChoices: given.values("resolve").length,
    drivers,
    givenDrivers: given.values("driver").length,
    onLeft: namesLeft(context),
  });
  const options: MergeOptions = {
    committer: context.environment.who(),
    message: given.value("message"),
    metadata: given.pairs("meta"),
    strategy,
    squash: given.flag("squash"),
    keepStaged: given.flag("keep-staged"),
    resolver,
  };
  if (given.flag("preview")) {
    const { showPreview } = await import("../merging/preview.ts");
    let refusal: string | undefined;
    const pages = untilDirty(store.previewMerge(repository, source, branch, options), (message) => {
      refusal = message;
    });
    const conflicts = await showPreview(output, pages, foldOf(given, undefined));
    tellUnused(context, resolver);
    if (refusal !== undefined) context.messages.warn(`The merge itself would be refused: ${refusal}`);
    return conflicts > 0 || refusal !== undefined ? EXIT_CONFLICT : EXIT_OK;
  }
  const { reference, summary } = await store.merge(repository, source, branch, options);
  tellUnused(context, resolver);
  const uri = refUri(repository, reference);
  output.result({ reference, summary }, output.terminal ? `${uri} (${countsText(summary)})` : uri);
  return EXIT_OK;
}

/** Yields a preview, whose last word may be that the branch has staged changes: nothing is written over them yet. */
async function* untilDirty(
  pages: AsyncIterable<readonly MergePreviewItem[]>,
  onDirty: (message: string) => void,
): AsyncGenerator<readonly MergePreviewItem[]> {
  try {
    yield* pages;
  } catch (error) {
    if (!isCoded(error, "branch_dirty")) throw error;
    onDirty(error.message);
  }
}

function tellUnused({ messages }: Context, resolver: ChosenResolver | undefined): void {
  for (const glob of resolver?.unusedGlobs ?? []) {
    messages.note(`Not used: "${glob}" matches no conflict of this merge`);
  }
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
  // Either side may name the repository: the other one is a ref in it.
  if (second !== undefined && looksLikeUri(first!) && !looksLikeUri(second)) {
    const source = refLocation(first!);
    return { source, destination: otherRef(second, source) };
  }
  const destination = refLocation(second ?? first!);
  return { source: otherRef(from ?? first!, destination), destination };
}
