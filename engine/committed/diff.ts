/** Two-way diff of metaranges: equal ranges are skipped unread, the rest is walked in key order. */

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
    const range = older.wholeRange;
    if (range && newer.wholeRange?.id === range.id) {
      await older.skipRange();
      await newer.skipRange();
      continue;
    }
    const olderKey = older.nextKey, newerKey = newer.nextKey;
    if (!olderKey && !newerKey) break;
    // The smaller key comes from its side alone, an equal one from both. It waits only where a block ends.
    const order = !olderKey ? 1 : !newerKey ? -1 : compareBytes(olderKey, newerKey);
    const before = order > 0 ? undefined : older.peek() ?? await older.record();
    const after = order < 0 ? undefined : newer.peek() ?? await newer.record();
    if (before && !older.advance()) await older.settle();
    if (after && !newer.advance()) await newer.settle();
    if (before && after && equalBytes(before.identity, after.identity)) continue;
    const block = collector.add({ key: (before ?? after)!.key, left: before, right: after });
    if (block) yield block;
  }
  yield collector.take();
}
