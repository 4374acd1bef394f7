/** Metadata and content type of a merged file: merged in three ways, as its bytes are. */

import type { MergeConflict, ObjectStats } from "../../drivers/store.ts";
import { decided, KeyConflict, mergeKeyed } from "../merge_drivers/keyed.ts";

const CONTENT_TYPE = "content type";

/** Returns what a merged object has beside its bytes; `undefined` where both sides changed something differently. */
export function mergedProperties(
  conflict: MergeConflict,
): { contentType: string; metadata: Record<string, string> } | undefined {
  // Of a deleted side nothing is asked: the other one's properties stay.
  const source = conflict.source ?? conflict.destination,
    destination = conflict.destination ?? conflict.source;
  if (!source || !destination) return undefined;
  const { base = destination } = conflict;
  const sides = { base: pairs(base), source: pairs(source), destination: pairs(destination) };
  const merged = mergeKeyed(sides, (key, versions) => decided(key, versions, (a, b) => a === b));
  const contentType = decided(CONTENT_TYPE, {
    base: base.contentType,
    source: source.contentType,
    destination: destination.contentType,
  }, (a, b) => a === b);
  if (merged instanceof KeyConflict || contentType instanceof KeyConflict) return undefined;
  return { contentType: contentType!, metadata: Object.fromEntries(merged) };
}

function pairs({ metadata }: ObjectStats): ReadonlyMap<string, string> {
  return new Map(Object.entries(metadata));
}
