/** What a ref has changed since it parted from another: what a merge of it would do there. */

import type { DiffItem, DiffOptions, Fork } from "../../drivers/store.ts";
import {
  BlockCollector,
  diffMetaranges,
  type KeyBounds,
  type MergeInputs,
  NO_METARANGE,
  NOT_CACHED,
} from "../committed/mod.ts";
import { sameContent } from "../objects/mod.ts";
import { mergeBase, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { inputsOf } from "./apply_merge.ts";
import { diffItems, type ShownChange } from "./diff_items.ts";

/** Returns where two refs parted. */
export async function forkOf(
  { refs, commits }: Repository,
  [left, right]: readonly [string, string],
): Promise<Fork> {
  const ours = (await resolveRef(refs, commits, left)).commit;
  const theirs = (await resolveRef(refs, commits, right)).commit;
  const base = await mergeBase(commits, ours, theirs);
  return {
    leftCommitId: ours.id,
    rightCommitId: theirs.id,
    ...(base ? { baseCommitId: base.id } : {}),
  };
}

/**
 * Yields what `right` has changed since it parted from `left`, without what `left` has made the same; a path that `left` changed in
 * another way is a conflict. Only commits count.
 */
export async function* compareRefs(
  repository: Repository,
  names: readonly [string, string],
  options: DiffOptions = {},
): AsyncGenerator<readonly DiffItem[]> {
  const fork = await forkOf(repository, names);
  const metaRangeOf = async (id: string | undefined) =>
    id === undefined ? NO_METARANGE : (await repository.commits.get(id)).metaRangeId;
  const inputs = inputsOf(repository, {
    base: await metaRangeOf(fork.baseCommitId),
    source: await metaRangeOf(fork.rightCommitId),
    destination: await metaRangeOf(fork.leftCommitId),
  });
  yield* diffItems(repository, (within) => sourceChanges(inputs, within), options);
}

/** Walks what the source changed and looks each key up in the destination: the cost is the source's changes alone. */
async function* sourceChanges(
  { base, source, destination }: MergeInputs,
  within: KeyBounds,
): AsyncGenerator<readonly ShownChange[]> {
  const collector = new BlockCollector<ShownChange>();
  const isBase = base.id === destination.id;
  for await (const block of diffMetaranges(base, source, within)) {
    for (const { key, left: before, right } of block) {
      let left = isBase ? before : destination.peek(key);
      if (left === NOT_CACHED) left = await destination.get(key);
      if (isSame(left, right)) continue;
      const full = collector.add({ key, left, right, isConflict: !isSame(left, before) });
      if (full) yield full;
    }
  }
  yield collector.take();
}

function isSame(a: ShownChange["left"], b: ShownChange["left"]): boolean {
  return a && b ? sameContent(a, b) : a === b;
}
