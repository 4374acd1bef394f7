/** `show`: one commit, and what it changed. */

import { commitJson } from "../../drivers/store.ts";
import type { CommitInfo, Store } from "../../drivers/store.ts";
import { changesOfCommit, itemsOfCommit } from "../commit_changes.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { foldOf } from "../folding.ts";
import { refLocation, refOf } from "../locations.ts";
import type { Output } from "../output.ts";
import { entryJson, entryText } from "../render/commits.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!);
  const store = await session.store();
  const { repository } = location;
  const commit = await store.getCommit(repository, await refOf(store, location));
  if (given.flag("patch")) {
    await showWithPatch(output, store, { repository, commit });
    return EXIT_OK;
  }
  // In JSON, counts are there when they are asked for: a program may not want to wait for them.
  const isCounted = given.flag("stat") || (output.json === "none" && !given.flag("no-stat"));
  const entry = isCounted
    ? { commit, stat: await changesOfCommit(store, { repository, commit, fold: foldOf(given, undefined) }) }
    : { commit };
  output.result(entryJson(entry), entryText(output, entry, { whole: true }));
  return EXIT_OK;
}

async function showWithPatch(
  output: Output,
  store: Store,
  { repository, commit }: { repository: string; commit: CommitInfo },
): Promise<void> {
  const { patchesOf, patchForm, patchJson } = await import("../patch/patches.ts");
  const sides = { repository, left: commit.parents[0], right: commit.id };
  const patches = patchesOf(store, itemsOfCommit(store, repository, commit), sides);
  if (output.json === "none") {
    output.line(`${entryText(output, { commit }, { whole: true })}\n`);
    await output.list(patches, patchForm(output));
    return;
  }
  const changes: unknown[] = [];
  for await (const page of patches) changes.push(...page.map(patchJson));
  output.document({ ...commitJson(commit), changes });
}
