/** What a merge would do, without writing anything: no commit, no file, no token sealed. */

import { compareBytes, lossyText } from "../../base/bytes.ts";
import type { ChangeType, MergeOptions, MergePreviewItem } from "../../drivers/store.ts";
import type { Change, Conflict, Metarange } from "../committed/mod.ts";
import { resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { findBranch } from "./landing.ts";
import { type MergeNames, openMerge } from "./merge.ts";
import { conflictOf, ConflictSettler, type SettledBlock } from "./settle_conflicts.ts";
import { refuseDirty } from "./staged_guard.ts";
import { statsOfRecord } from "./stats.ts";
import { tokensOf } from "./view.ts";

/**
 * Yields what a merge would change on its destination, and every conflict that would stay, in key order. Fails as a merge
 * does, but for conflicts; `branch_dirty` comes at the end, since nothing is written over what is staged.
 */
export async function* previewMerge(
  repository: Repository,
  names: MergeNames,
  options: Omit<MergeOptions, "committer">,
): AsyncGenerator<readonly MergePreviewItem[]> {
  const { state } = await findBranch(repository, names.destination);
  const theirs = (await resolveRef(repository.refs, repository.commits, names.source)).commit;
  const sample = { commitId: state.commitId, tokens: tokensOf(state) };
  const { inputs, guard } = await openMerge(repository, { names, theirs, sample }, {
    ...options,
    allowDirty: true,
  });
  const { strategy, resolver } = options;
  const settled = new ConflictSettler(repository, { strategy, resolver, isPreview: true }).changes(inputs);
  for await (const block of guard ? guard.watch(settled) : settled) {
    yield await itemsOf(repository, block, inputs.destination);
  }
  guard?.throwIfMet();
  if (options.keepStaged) return;
  const staged = { metarange: inputs.destination, tokens: sample.tokens };
  await refuseDirty(repository, { branch: names.destination, verb: "merge" }, staged);
}

async function itemsOf(
  repository: Repository,
  { changes, conflicts }: SettledBlock,
  destination: Metarange,
): Promise<MergePreviewItem[]> {
  const items: MergePreviewItem[] = [];
  let at = 0;
  for (const change of changes) {
    while (at < conflicts.length && compareBytes(conflicts[at]!.key, change.key) < 0) {
      items.push(conflictItem(repository, conflicts[at++]!));
    }
    items.push(await changeItem(repository, change, destination));
  }
  for (const conflict of conflicts.slice(at)) items.push(conflictItem(repository, conflict));
  return items;
}

async function changeItem(
  repository: Repository,
  { key, record }: Change,
  destination: Metarange,
): Promise<MergePreviewItem> {
  const before = await destination.get(key);
  const left = before && statsOfRecord(repository, before);
  const right = record && statsOfRecord(repository, record);
  const type: ChangeType = !left ? "added" : !right ? "removed" : "changed";
  return {
    type,
    path: lossyText(key),
    pathType: "object",
    sizeBytes: (right ?? left)?.sizeBytes ?? 0,
    ...(left ? { left } : {}),
    ...(right ? { right } : {}),
  };
}

function conflictItem(repository: Repository, given: Conflict): MergePreviewItem {
  const conflict = conflictOf(repository, given);
  const { path, source, destination } = conflict;
  return {
    type: "conflict",
    path,
    pathType: "object",
    sizeBytes: (destination ?? source)?.sizeBytes ?? 0,
    conflict,
  };
}
