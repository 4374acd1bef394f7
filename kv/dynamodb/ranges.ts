/** How a scan's range is asked of DynamoDB, whose conditions on a sort key are few: at least, at most, or between. */

import { compareBytes } from "../../base/bytes.ts";
import { MAX_KEY_BYTES } from "../../base/limits.ts";
import type { ScanRange } from "../scan_range.ts";
import type { Item } from "./vendor.ts";

export interface RangeCondition {
  readonly condition: string;
  readonly values: Item;
  /** Whether a key that the condition lets through lies in the range. */
  readonly takes: (key: Uint8Array) => boolean;
}

/** Returns the condition for a range, or `undefined` when no key can lie in it. */
export function rangeCondition(partition: Uint8Array, range: ScanRange): RangeCondition | undefined {
  const { first, end } = range;
  // It begins beyond all that begin with its prefix, which is longer than a key can be.
  if (end && end.length > MAX_KEY_BYTES) return undefined;
  // Longer values may not be asked for. What sorts after the cut one and is no longer than it sorts after the whole one too.
  const lower = first.slice(0, MAX_KEY_BYTES);
  const isCut = lower.length < first.length;
  if (end && compareBytes(lower, end) > 0) return undefined;
  const conditions = ["p = :p"];
  const values: Record<string, { B: Uint8Array }> = { ":p": { B: partition } };
  if (lower.length > 0) values[":first"] = { B: lower };
  if (end) values[":end"] = { B: end };
  if (lower.length > 0 && end) conditions.push("k BETWEEN :first AND :end");
  else if (lower.length > 0) conditions.push("k >= :first");
  else if (end) conditions.push("k <= :end");
  return {
    condition: conditions.join(" AND "),
    values,
    takes: (key) => !(end && compareBytes(key, end) >= 0) && !(isCut && compareBytes(key, lower) === 0),
  };
}
