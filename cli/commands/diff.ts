/** `diff`: between two refs, the older one first, or what a branch has staged. */

import { CodedError } from "../../base/errors.ts";
import type { DiffItem, Store } from "../../drivers/store.ts";
import type { ParsedArguments } from "../arguments.ts";
import type { Context } from "../context.ts";
import { EXIT_NO, EXIT_OK } from "../exit_codes.ts";
import { countByFolder, type Fold, foldChanges, type FoldedChanges, foldOf, totalCount } from "../folding.ts";
import { branchOf, otherRef, type RefLocation, refLocation, refOf } from "../locations.ts";
import type { ListForm, Output } from "../output.ts";
import { foldedForm, FOLDER_FIELDS, statJson, statLines } from "../render/changes.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const [leftText, rightText] = given.positionals;
  const left = refLocation(leftText!, { key: "allowed" });
  const right = rightText === undefined ? undefined : otherSide(rightText, left);
  const prefix = prefixOf(given.value("prefix"), { left, right });
  if (given.flag("patch")) refuseWithPatch(given);
  const isFolded = given.value("depth") !== undefined || given.value("delimiter") !== undefined;
  const fold = foldOf(given, prefix);
  const store = await session.store();
  if (given.flag("patch")) {
    const count = await showPatches(output, store, { left, right, prefix });
    return given.flag("exit-code") && count > 0 ? EXIT_NO : EXIT_OK;
  }
  const changes = await changesOf(store, { left, right, prefix });
  const count = given.flag("stat") ? await showCounts(output, changes, fold) : await showChanges(output, {
    changes: isFolded ? foldChanges(changes, fold) : changes,
    left,
    right,
    namesOnly: given.flag("name-only"),
    isFolded,
  });
  return given.flag("exit-code") && count > 0 ? EXIT_NO : EXIT_OK;
}

function otherSide(text: string, left: RefLocation): RefLocation {
  if (!text.includes("://")) return otherRef(text, left);
  const right = refLocation(text, { key: "allowed" });
  if (right.repository !== left.repository) {
    throw new CodedError(
      "invalid",
      "different_repositories",
      `Cannot compare "${left.text}" with "${right.text}": they are in different repositories`,
    );
  }
  return right;
}

/** The prefix is given by --prefix or by the keys of the URIs, which must agree. */
function prefixOf(option: string | undefined, { left, right }: Sides): string | undefined {
  const given = [option, left.key, right?.key].filter((key) => key !== undefined);
  if (right?.key !== undefined && left.key !== undefined && right.key !== left.key) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot compare "${left.key}" with "${right.key}": they differ`,
    );
  }
  if (option !== undefined && given.some((key) => key !== option)) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot use "--prefix ${option}": the URI names a key too`,
    );
  }
  return given[0];
}

interface Sides {
  readonly left: RefLocation;
  readonly right: RefLocation | undefined;
}

async function changesOf(
  store: Store,
  { left, right, prefix }: Sides & { prefix: string | undefined },
): Promise<AsyncIterable<readonly DiffItem[]>> {
  const { repository } = left;
  if (!right) return store.status(repository, await branchOf(store, left), { prefix });
  return store.diff(repository, await refOf(store, left), await refOf(store, right), { prefix });
}

/** Of what is in a patch there are no folds. */
function refuseWithPatch(given: ParsedArguments): void {
  const other = ["stat", "name-only", "depth", "delimiter", "format"].find((name) => given.flag(name));
  if (other === undefined) return;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot use "--patch" with "--${other}": a patch has all changes, one by one`,
  );
}

/** Both sides are read as the commits that they are now, so that a patch is of what the diff found. */
async function showPatches(
  output: Output,
  store: Store,
  { left, right, prefix }: Sides & { prefix: string | undefined },
): Promise<number> {
  const { repository } = left;
  const fixed = async (ref: string) => ref.endsWith("$") ? ref : await store.resolve(repository, ref);
  let sides: { repository: string; left: string; right: string };
  let changes: AsyncIterable<readonly DiffItem[]>;
  if (right) {
    sides = {
      repository,
      left: await fixed(await refOf(store, left)),
      right: await fixed(await refOf(store, right)),
    };
    changes = store.diff(repository, sides.left, sides.right, { prefix });
  } else {
    const branch = await branchOf(store, left);
    sides = { repository, left: `${branch}@`, right: branch };
    changes = store.status(repository, branch, { prefix });
  }
  const { patchesOf, patchForm } = await import("../patch/patches.ts");
  return await output.list(patchesOf(store, changes, sides), patchForm(output));
}

async function showChanges(
  output: Output,
  { changes, left, right, namesOnly, isFolded }: Sides & {
    changes: AsyncIterable<readonly (DiffItem | FoldedChanges)[]>;
    namesOnly: boolean;
    isFolded: boolean;
  },
): Promise<number> {
  if (output.json === "none" && !namesOnly) {
    output.line(output.paint("bold", `--- ${output.shown(left.text)} (${right ? "older" : "committed"})`));
    output.line(
      output.paint("bold", `+++ ${output.shown(right?.text ?? left.text)} (${right ? "newer" : "staged"})`),
    );
  }
  const form: ListForm<DiffItem | FoldedChanges> = namesOnly
    ? {
      json: ({ path }) => path,
      line: ({ path }) => output.shown(path),
      fields: [{ name: "path", type: "text", of: ({ path }) => path }],
    }
    : foldedForm(output, { isFolded });
  return await output.list(changes, form);
}

async function showCounts(
  output: Output,
  changes: AsyncIterable<readonly DiffItem[]>,
  fold: Fold,
): Promise<number> {
  const stat = await countByFolder(changes, fold);
  if (output.json === "table") {
    await output.list(onePage(stat.folders), { ...NO_LINES, fields: FOLDER_FIELDS });
  } else output.result(statJson(stat), statLines(output, stat).join("\n"));
  return totalCount(stat.total);
}

/** The form of what is shown otherwise but in a table. */
const NO_LINES = { json: () => undefined, line: () => "" };

async function* onePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}
