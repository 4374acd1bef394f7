/** Differences as the store contract shows them: between refs, and between a branch's staged and committed state. */

import { compareBytes } from "../../base/bytes.ts";
import type { DiffItem, DiffOptions } from "../../drivers/store.ts";
import {
  BlockCollector,
  BlockCursor,
  diffMetaranges,
  type KeyBounds,
  type Metarange,
  NOT_CACHED,
  type RecordChange,
} from "../committed/mod.ts";
import { sameContent } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { type StagedRecord, stagedRecords } from "../staging/mod.ts";
import { diffItems } from "./diff_items.ts";
import { findBranch } from "./landing.ts";
import { openView, tokensOf, TokenWatch, type View } from "./view.ts";

/** Yields what is staged on a branch and differs from its commit. */
export async function* statusOfBranch(
  repository: Repository,
  branch: string,
  options: DiffOptions = {},
): AsyncGenerator<readonly DiffItem[]> {
  const seen = await findBranch(repository, branch);
  const commit = await repository.commits.get(seen.state.commitId);
  const metarange = repository.metarange(commit.metaRangeId);
  const view: View = { commit, metarange, tokens: tokensOf(seen.state), branch: seen };
  yield* diffItems(
    repository,
    (within) => whileKept(repository, view, stagedChanges(repository, view, within)),
    options,
  );
}

/** Yields what changed from `left` to `right`; a `$` behind a branch's name takes its staged changes in. */
export async function* diffRefs(
  repository: Repository,
  [left, right]: readonly [string, string],
  options: DiffOptions = {},
): AsyncGenerator<readonly DiffItem[]> {
  const older = await openView(repository, left), newer = await openView(repository, right);
  const open = (within: KeyBounds): AsyncIterable<readonly RecordChange[]> => {
    let changes: AsyncIterable<readonly RecordChange[]> = diffMetaranges(
      older.metarange,
      newer.metarange,
      within,
    );
    if (right.endsWith("$")) {
      const staged = whileKept(repository, newer, stagedChanges(repository, newer, within));
      changes = overlayRight(changes, staged, older.metarange);
    }
    if (left.endsWith("$")) {
      const staged = whileKept(repository, older, stagedChanges(repository, older, within));
      changes = overlayLeft(changes, staged);
    }
    return changes;
  };
  yield* diffItems(repository, open, options);
}

/** Yields staged changes as long as their records are sure to be there: fails with `try_again` rather than come out short. */
async function* whileKept(
  repository: Repository,
  view: View,
  staged: AsyncIterable<readonly RecordChange[]>,
): AsyncGenerator<readonly RecordChange[]> {
  const watch = new TokenWatch(repository, view);
  for await (const block of staged) {
    await watch.check();
    yield block;
  }
}

/** Yields the staged records that differ from the committed ones. */
export async function* stagedChanges(
  repository: Repository,
  { metarange, tokens }: { readonly metarange: Metarange; readonly tokens: readonly string[] },
  { start, end }: KeyBounds = {},
): AsyncGenerator<readonly RecordChange[]> {
  const collector = new BlockCollector<RecordChange>();
  for await (const block of stagedRecords(repository.kv, tokens, start)) {
    for (const staged of block) {
      if (end && compareBytes(staged.key, end) >= 0) return yield collector.take();
      let left = metarange.peek(staged.key);
      if (left === NOT_CACHED) left = await metarange.get(staged.key);
      if (!isChange(left, staged)) continue;
      const full = collector.add({ key: staged.key, left, right: staged.record });
      if (full) yield full;
    }
  }
  yield collector.take();
}

function isChange(committed: RecordChange["left"], staged: StagedRecord): boolean {
  return committed && staged.record ? !sameContent(committed, staged.record) : committed !== staged.record;
}

/** Lays staged changes of the right side over the differences: the left side is the committed one. */
function overlayRight(
  changes: AsyncIterable<readonly RecordChange[]>,
  staged: AsyncIterable<readonly RecordChange[]>,
  older: Metarange,
): AsyncIterable<readonly RecordChange[]> {
  return overlay(changes, staged, async (change, { key, right }) => ({
    key,
    left: change ? change.left : await older.get(key),
    right,
  }));
}

/** Lays staged changes of the left side over the differences: where there is no difference, right is left's commit. */
function overlayLeft(
  changes: AsyncIterable<readonly RecordChange[]>,
  staged: AsyncIterable<readonly RecordChange[]>,
): AsyncIterable<readonly RecordChange[]> {
  return overlay(
    changes,
    staged,
    (change, over) =>
      Promise.resolve({ key: over.key, left: over.right, right: change ? change.right : over.left }),
  );
}

/** Yields the differences, those of a staged key as `combine` makes them, if they are any. */
async function* overlay(
  changes: AsyncIterable<readonly RecordChange[]>,
  staged: AsyncIterable<readonly RecordChange[]>,
  combine: (change: RecordChange | undefined, staged: RecordChange) => Promise<RecordChange>,
): AsyncGenerator<readonly RecordChange[]> {
  const below = new BlockCursor(changes), above = new BlockCursor(staged);
  const collector = new BlockCollector<RecordChange>();
  while (true) {
    const low = below.peek() ?? await below.load();
    const high = above.peek() ?? await above.load();
    if (!low && !high) break;
    const order = !high ? -1 : !low ? 1 : compareBytes(low.key, high.key);
    if (order <= 0) below.advance();
    if (order >= 0) above.advance();
    const change = order < 0 ? low! : await combine(order === 0 ? low : undefined, high!);
    const { left, right } = change;
    if (order >= 0 && (left && right ? sameContent(left, right) : left === right)) continue;
    const block = collector.add(change);
    if (block) yield block;
  }
  yield collector.take();
}
