/** How conflicts of a merge are shown. */

import { objectJson } from "../../drivers/store.ts";
import type { MergeConflict, ObjectStats } from "../../drivers/store.ts";
import type { Output } from "../output.ts";
import { humanSize } from "./sizes.ts";

const SIDES = ["base", "source", "destination"] as const;

/** Returns a conflict with its three sides in the words of the lakeFS API; a missing side is null. */
export function conflictJson({ path, base, source, destination }: MergeConflict): Record<string, unknown> {
  const side = (stats: ObjectStats | undefined) => stats ? objectJson(stats) : null;
  return { path, base: side(base), source: side(source), destination: side(destination) };
}

/** Returns a conflict's line: `conflict\tPATH\tBASE\tSOURCE\tDESTINATION` (checksums, "-" for none) where nobody reads along. */
export function conflictLine(output: Output, conflict: MergeConflict): string {
  if (!output.terminal) {
    return ["conflict", conflict.path, ...SIDES.map((side) => conflict[side]?.checksum ?? "-")].join("\t");
  }
  const line = output.paint("red", `! conflict ${output.shown(conflict.path)}`);
  return `${line}  (${SIDES.map((side) => sideText(conflict, side)).join(", ")})`;
}

function sideText(conflict: MergeConflict, side: typeof SIDES[number]): string {
  const stats = conflict[side];
  if (stats) return `${side} ${humanSize(stats.sizeBytes)}`;
  return conflict.base ? `${side} deleted` : `no ${side}`;
}
