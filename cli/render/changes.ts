/** How differences are shown. */

import type { ChangeType, DiffItem } from "../../drivers/store.ts";
import { type ChangeStat, type ChangeTally, type FoldedChanges, kindOf } from "../folding.ts";
import type { Color, ListForm, Output } from "../output.ts";
import type { Field } from "../tables/fields.ts";
import { counted, grouped, humanSize } from "./sizes.ts";
import { type Column, Table } from "./table.ts";

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

/** The columns of a list of differences. */
export const CHANGE_FIELDS: readonly Field<DiffItem>[] = [
  { name: "type", type: "text", of: ({ type }) => type },
  { name: "path", type: "text", of: ({ path }) => path },
  { name: "path_type", type: "text", of: ({ pathType }) => pathType },
  { name: "size_bytes", type: "integer", of: ({ sizeBytes }) => sizeBytes },
];

/** Returns the form of a list of differences: `TYPE\tPATH` where nobody reads along. */
export function changesForm(output: Output): ListForm<DiffItem> {
  return { json: changeJson, line: (item) => changeLine(output, item), fields: CHANGE_FIELDS };
}

function changeLine(output: Output, { type, path }: DiffItem): string {
  return output.terminal
    ? output.paint(COLOR_OF[type], `${MARK_OF[type]} ${type.padEnd(8)} ${output.shown(path)}`)
    : `${type}\t${path}`;
}

/**
 * Returns the form of differences of which some may be folded; in a table they then have counts. Where nobody reads along, a folded line is
 * `TYPE\tPATH\tADDED\tREMOVED\tCHANGED\tBYTES ADDED\tBYTES REMOVED`.
 */
export function foldedForm(
  output: Output,
  options: { isFolded?: boolean } = {},
): ListForm<DiffItem | FoldedChanges> {
  return {
    json: (item) => isFolded(item) ? foldedJson(item) : changeJson(item),
    fields: options.isFolded ? FOLDED_FIELDS : FOLDED_FIELDS.slice(0, CHANGE_FIELDS.length),
    line: (item) => {
      if (!isFolded(item)) return changeLine(output, item);
      const type = kindOf(item);
      const line = changeLine(output, { type, path: item.path, pathType: "common_prefix", sizeBytes: 0 });
      return output.terminal ? `${line}  ${tallyText(item)}` : [line, ...tallyNumbers(item)].join("\t");
    },
  };
}

const ofTally = (read: (tally: ChangeTally) => number) => (item: DiffItem | FoldedChanges) =>
  isFolded(item) ? read(item) : undefined;

const TALLY_READERS: readonly (readonly [string, (tally: ChangeTally) => number])[] = [
  ["added", ({ counts }) => counts.added],
  ["removed", ({ counts }) => counts.removed],
  ["changed", ({ counts }) => counts.changed],
  ["conflict", ({ counts }) => counts.conflict],
  ["bytes_added", ({ bytesAdded }) => bytesAdded],
  ["bytes_removed", ({ bytesRemoved }) => bytesRemoved],
];

/** The columns of folded differences; what is not folded has no counts. */
const FOLDED_FIELDS: readonly Field<DiffItem | FoldedChanges>[] = [
  { name: "type", type: "text", of: (item) => isFolded(item) ? kindOf(item) : item.type },
  { name: "path", type: "text", of: ({ path }) => path },
  { name: "path_type", type: "text", of: (item) => isFolded(item) ? "common_prefix" : item.pathType },
  {
    name: "size_bytes",
    type: "integer",
    of: (item) => isFolded(item) ? item.bytesAdded : item.sizeBytes,
  },
  ...TALLY_READERS.map(([name, read]) => ({
    name,
    type: "integer" as const,
    optional: true,
    of: ofTally(read),
  })),
];

/** The columns of counts by folder. */
export const FOLDER_FIELDS: readonly Field<FoldedChanges>[] = [
  { name: "path", type: "text", of: ({ path }) => path },
  ...TALLY_READERS.map(([name, of]) => ({ name, type: "integer" as const, of })),
];

function isFolded(item: DiffItem | FoldedChanges): item is FoldedChanges {
  return "counts" in item;
}

function foldedJson(item: FoldedChanges): Record<string, unknown> {
  return {
    type: kindOf(item),
    path: item.path,
    path_type: "common_prefix",
    size_bytes: item.bytesAdded,
    ...tallyJson(item),
  };
}

function tallyJson({ counts, bytesAdded, bytesRemoved }: ChangeTally): Record<string, number> {
  return { ...counts, bytes_added: bytesAdded, bytes_removed: bytesRemoved };
}

function tallyNumbers({ counts, bytesAdded, bytesRemoved }: ChangeTally): number[] {
  return [counts.added, counts.removed, counts.changed, bytesAdded, bytesRemoved];
}

/** Returns the counts of a tree of changes by folder, as JSON. */
export function statJson({ total, folders }: ChangeStat): Record<string, unknown> {
  return {
    ...tallyJson(total),
    folders: folders.map((folder) => ({ path: folder.path, ...tallyJson(folder) })),
  };
}

/** Returns the lines of counts by folder, and of the total. Numbers come first, so that names of any script line up. */
export function statLines(output: Output, { total, folders }: ChangeStat): string[] {
  const last = tallyText(total);
  if (!output.terminal) {
    return [...folders.map((folder) => [...tallyNumbers(folder), folder.path || "."].join("\t")), last];
  }
  const table = new Table(statColumns(output), {
    width: output.columns,
    paint: (color, text) => output.paint(color, text),
  });
  table.fit(folders);
  return [...folders.map((folder) => table.row(folder)), last];
}

function statColumns(output: Output): readonly Column<FoldedChanges>[] {
  const count = (type: ChangeType): Column<FoldedChanges> => ({
    forms: [({ counts }) => counts[type] > 0 ? `${MARK_OF[type]}${grouped(counts[type])}` : ""],
    fill: "start",
    color: () => COLOR_OF[type],
  });
  const size = (sign: string, bytesOf: (folder: FoldedChanges) => number): Column<FoldedChanges> => ({
    forms: [
      (folder) => bytesOf(folder) > 0 ? `${sign}${humanSize(bytesOf(folder))}` : "",
      () => "",
    ],
    fill: "start",
    color: () => "dim",
  });
  return [
    count("added"),
    count("removed"),
    count("changed"),
    size("+", ({ bytesAdded }) => bytesAdded),
    size("-", ({ bytesRemoved }) => bytesRemoved),
    { forms: [({ path }) => output.shown(path || ".")] },
  ];
}

/** Returns "2 added, 1 changed (+3.2 kB, -10 B)". */
function tallyText({ counts, bytesAdded, bytesRemoved }: ChangeTally): string {
  const bytes = [
    ...(bytesAdded > 0 ? [`+${humanSize(bytesAdded)}`] : []),
    ...(bytesRemoved > 0 ? [`-${humanSize(bytesRemoved)}`] : []),
  ];
  return bytes.length === 0 ? countsText(counts) : `${countsText(counts)} (${bytes.join(", ")})`;
}

/** How many changes there are of each kind. */
export type ChangeCounts = Record<ChangeType, number>;

/** Returns "2 added, 1 changed", or "nothing" without any. */
export function countsText(counts: Readonly<ChangeCounts>): string {
  const parts = (Object.keys(counts) as ChangeType[]).filter((type) => counts[type] > 0);
  const part = (type: ChangeType) =>
    type === "conflict" ? counted(counts[type], type) : `${grouped(counts[type])} ${type}`;
  return parts.length === 0 ? "nothing" : parts.map(part).join(", ");
}
