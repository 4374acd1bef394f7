/**
 * Three-way merge as a join of two diffs against the base.
 *
 * | base, source, destination | result   |                       |
 * |---------------------------|----------|-----------------------|
 * | only source changed       | source   | AAX→X is its deletion |
 * | only destination changed  | kept     |                       |
 * | both, to the same content | kept     | ABB, AXX, XAA         |
 * | both, differently         | conflict | ABC, ABX, AXB, XAB    |
 *
 * The result is a list of changes to the destination, so ranges that only the destination changed are never read beyond
 * the diff, and the destination's ranges are taken over where nothing changes. What only the source changed is taken over
 * by ID when the changes are applied (`their_ranges.ts`); of its records only changed blocks are read, to count them.
 */

import { compareBytes } from "../../base/bytes.ts";
import type { Change, SameContent } from "./apply.ts";
import { BlockCollector, BlockCursor } from "./cursor.ts";
import { diffMetaranges, type RecordChange } from "./diff.ts";
import type { Metarange } from "./metarange.ts";
import type { ValueRecord } from "./record.ts";

/** A key that both sides changed, each in its own way. A missing side has no record. */
export interface Conflict {
  readonly key: Uint8Array;
  readonly base: ValueRecord | undefined;
  readonly source: ValueRecord | undefined;
  readonly destination: ValueRecord | undefined;
}

export interface MergeInputs {
  readonly base: Metarange;
  readonly source: Metarange;
  readonly destination: Metarange;
}

export interface MergeChoices {
  readonly same: SameContent;
  /** Decides a conflict: what the key becomes on the destination; `undefined` leaves the destination's as it is. */
  readonly onConflict: (conflict: Conflict) => Change | undefined;
}

/** Yields the changes to apply to the destination, in key order. */
export async function* mergeChanges(
  inputs: MergeInputs,
  choices: MergeChoices,
): AsyncGenerator<readonly Change[]> {
  const { base, source, destination } = inputs;
  if (source.id === base.id || source.id === destination.id) return;
  const theirs = new BlockCursor(diffMetaranges(base, source));
  const ours = new BlockCursor(diffMetaranges(base, destination));
  const collector = new BlockCollector<Change>();
  while (true) {
    const their = theirs.peek() ?? await theirs.load();
    if (!their) break;
    const our = ours.peek() ?? await ours.load();
    const order = our ? compareBytes(their.key, our.key) : -1;
    if (order <= 0) theirs.advance();
    if (order >= 0) ours.advance();
    if (order > 0) continue;
    const change = decide(their, order === 0 ? our : undefined, choices);
    const block = change && collector.add(change);
    if (block) yield block;
  }
  yield collector.take();
}

function decide(
  their: RecordChange,
  our: RecordChange | undefined,
  choices: MergeChoices,
): Change | undefined {
  const isRealChange = (change: RecordChange) => !isSame(change.left, change.right, choices.same);
  if (!isRealChange(their)) return undefined;
  if (!our || !isRealChange(our)) {
    return { key: their.key, record: their.right, isAddition: their.left === undefined };
  }
  if (isSame(their.right, our.right, choices.same)) return undefined;
  return choices.onConflict({
    key: their.key,
    base: their.left,
    source: their.right,
    destination: our.right,
  });
}

function isSame(a: ValueRecord | undefined, b: ValueRecord | undefined, same: SameContent): boolean {
  return a && b ? same(a, b) : a === b;
}
