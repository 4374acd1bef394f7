/** How differences are shown. */

import type { ChangeType, DiffItem } from "../../drivers/store.ts";
import type { Color, ListForm, Output } from "../output.ts";

const COLOR_OF: Record<ChangeType, Color> = {
  added: "green",
  removed: "red",
  changed: "yellow",
  conflict: "red",
};

const MARK_OF: Record<ChangeType, string> = { added: "+", removed: "-", changed: "~", conflict: "!" };

/** Returns a difference in the words of the lakeFS API. */
export function changeJson(item: DiffItem): Record<string, unknown> {
  return { type: item.type, path: item.path, path_type: item.pathType, size_bytes: item.sizeBytes };
}

/** Returns the form of a list of differences: `TYPE\tPATH` where nobody reads along. */
export function changesForm(output: Output): ListForm<DiffItem> {
  return {
    json: changeJson,
    line: ({ type, path }) =>
      output.terminal
        ? output.paint(COLOR_OF[type], `${MARK_OF[type]} ${type.padEnd(8)} ${output.shown(path)}`)
        : `${type}\t${path}`,
  };
}

/** How many changes there are of each kind. */
export type ChangeCounts = Record<ChangeType, number>;

/** Returns "2 added, 1 changed", or "nothing" without any. */
export function countsText(counts: Readonly<ChangeCounts>): string {
  const parts = (Object.keys(counts) as ChangeType[]).filter((type) => counts[type] > 0);
  return parts.length === 0 ? "nothing" : parts.map((type) => `${counts[type]} ${type}`).join(", ");
}
