/** Two-way diff of metaranges: equal ranges and equal blocks are skipped unread, the rest is walked in key order. */

import { compareBytes, equalBytes } from "../../base/bytes.ts";
import { BlockCollector } from "./cursor.ts";
import type { Metarange } from "./metarange.ts";
import { type KeyBounds, RangeCursor } from "./range_cursor.ts";
import type { ValueRecord } from "./record.ts";

/** A key whose records differ; the missing side has none. */
export interface RecordChange {
  readonly key: Uint8Array;
  readonly left: ValueRecord | undefined;
  readonly right: ValueRecord | undefined;
}

/** Yields the keys within the bounds whose records differ, in key order. */
export async function* diffMetaranges(
  left: Metarange,
  right: Metarange,
  bounds: KeyBounds = {},
): AsyncGenerator<readonly RecordChange[]> {
  if (left.id === right.id) return;
  const collector = new BlockCollector<RecordChange>();
  const older = await RangeCursor.open(left, bounds);
  const newer = await RangeCursor.open(right, bounds);
  while (true) {
    if (await skipEqual(older, newer)) continue;
    const olderKey = older.nextKey ?? await older.loadKey(),
      newerKey = newer.nextKey ?? await newer.loadKey();
    if (!olderKey && !newerKey) break;
    // The smaller key comes from its side alone, an equal one from both. A range behind it need not be opened yet.
    const order = !olderKey ? 1 : !newerKey ? -1 : compareBytes(olderKey, newerKey);
    const before = order > 0 ? undefined : older.peek() ?? await older.load();
    const after = order < 0 ? undefined : newer.peek() ?? await newer.load();
    if (before) older.advance();
    if (after) newer.advance();
    if (before && after && equalBytes(before.identity, after.identity)) continue;
    const block = collector.add({ key: (before ?? after)!.key, left: before, right: after });
    if (block) yield block;
  }
  yield collector.take();
}

/** Steps over what both sides have in common, if both stand at the start of something; returns whether they did. */
async function skipEqual(older: RangeCursor, newer: RangeCursor): Promise<boolean> {
  if (!older.isAtStart || !newer.isAtStart) return false;
  const left = older.range, right = newer.range;
  if (!left || !right) return false;
  if (older.wholeRange && newer.wholeRange && left.id === right.id) {
    older.skipRange();
    newer.skipRange();
    return true;
  }
  if (compareBytes(left.minKey, right.maxKey) > 0 || compareBytes(right.minKey, left.maxKey) > 0) {
    return false;
  }
  await Promise.all([older.openRange(), newer.openRange()]);
  const leftBlocks = older.opened?.blocks, rightBlocks = newer.opened?.blocks;
  const equal = leftBlocks && rightBlocks ? leftBlocks.equalRun(older.block, rightBlocks, newer.block) : 0;
  if (equal === 0) return false;
  older.skipBlocks(equal);
  newer.skipBlocks(equal);
  return true;
}
