/** How commits are shown. */

import { commitJson } from "../../drivers/store.ts";
import type { CommitInfo } from "../../drivers/store.ts";
import type { ChangeStat } from "../folding.ts";
import type { ListForm, Output } from "../output.ts";
import type { Field } from "../tables/fields.ts";
import { statJson, statLines } from "./changes.ts";
import { CommitGraph } from "./graph.ts";
import { timeWithZone, utcTime } from "./times.ts";
import { cutToWidth, displayWidth, padToWidth } from "./width.ts";

const SHORT_ID = 12;

/** A commit of a log, with what it changed where that is asked for. */
export interface LogEntry {
  readonly commit: CommitInfo;
  readonly stat?: ChangeStat;
}

/** Returns a commit of a log as JSON. */
export function entryJson({ commit, stat }: LogEntry): Record<string, unknown> {
  return stat ? { ...commitJson(commit), stat: statJson(stat) } : commitJson(commit);
}

/** The columns of a log. */
const LOG_FIELDS: readonly Field<LogEntry>[] = [
  { name: "id", type: "text", of: ({ commit }) => commit.id },
  { name: "parents", type: "json", of: ({ commit }) => commit.parents },
  { name: "committer", type: "text", of: ({ commit }) => commit.committer },
  { name: "message", type: "text", of: ({ commit }) => commit.message },
  { name: "creation_date", type: "time", optional: true, of: ({ commit }) => commit.creationDate * 1000 },
  { name: "meta_range_id", type: "text", of: ({ commit }) => commit.metaRangeId },
  { name: "metadata", type: "json", of: ({ commit }) => commit.metadata },
  { name: "generation", type: "integer", of: ({ commit }) => commit.generation },
  { name: "version", type: "integer", of: ({ commit }) => commit.version },
];

const STAT_FIELD: Field<LogEntry> = {
  name: "stat",
  type: "json",
  optional: true,
  of: ({ stat }) => stat && statJson(stat),
};

/** Returns the form of a log: a block of lines a commit, with an empty line after it. */
export function logForm(output: Output, options: { stat?: boolean } = {}): ListForm<LogEntry> {
  return {
    json: entryJson,
    line: (entry) => `${entryText(output, entry)}\n`,
    fields: options.stat ? [...LOG_FIELDS, STAT_FIELD] : LOG_FIELDS,
  };
}

/** Returns a commit of a log as text; with `whole` also what only tools ask for. */
export function entryText(
  output: Output,
  { commit, stat }: LogEntry,
  options: { whole?: boolean } = {},
): string {
  const text = commitText(output, commit, options);
  if (!stat) return text;
  return [text, "", ...statLines(output, stat).map((line) => `    ${line}`)].join("\n");
}

/**
 * Returns the form of a log with its graph: a line a commit, with the short ID for people, the whole one otherwise, and the
 * names that point at it.
 */
export function graphForm(
  output: Output,
  namesAt: ReadonlyMap<string, readonly string[]>,
): ListForm<LogEntry> {
  const graph = new CommitGraph();
  return {
    json: entryJson,
    line({ commit, stat }) {
      const { commit: first, joints, padding } = graph.add(commit);
      const texts = [
        (room: number) => graphText(output, { commit, names: namesAt.get(commit.id) ?? [], room }),
        ...(stat ? statLines(output, stat) : []).map((line) => () => `  ${line}`),
      ];
      const rows = [first, ...joints];
      while (rows.length < texts.length) rows.push(padding);
      const width = Math.max(padding.length, ...rows.map((row) => row.length));
      return rows.map((row, index) => {
        const left = padToWidth(row, width);
        return `${left} ${texts[index]?.(output.columns - width - 1) ?? ""}`.trimEnd();
      }).join("\n");
    },
  };
}

/** The ID, the names, the first line of the message; then, where there is room, who and when. */
function graphText(
  output: Output,
  { commit, names, room }: { commit: CommitInfo; names: readonly string[]; room: number },
): string {
  const subject = output.shown(commit.message.split("\n")[0]!);
  const marks = names.length === 0 ? "" : ` (${output.shown(names.join(", "))})`;
  if (!output.terminal) {
    return `${commit.id}${marks} ${subject} <${commit.committer}> ${utcTime(commit.creationDate * 1000)}`;
  }
  const id = commit.id.slice(0, SHORT_ID);
  const left = Math.max(0, room - id.length - 1);
  const shownMarks = cutToWidth(marks.trimStart(), left);
  const gap = shownMarks === "" ? "" : " ";
  const message = cutToWidth(subject, Math.max(0, left - displayWidth(shownMarks) - gap.length));
  const about = `  ${timeWithZone(commit.creationDate * 1000, true).slice(0, 16)} ${
    output.shown(commit.committer)
  }`;
  const used = displayWidth(shownMarks) + gap.length + displayWidth(message);
  return `${output.paint("yellow", id)} ${output.paint("cyan", shownMarks)}${gap}${message}` +
    (used + displayWidth(about) <= left ? output.paint("dim", about) : "");
}

/** Returns a commit as text; with `whole` also what only tools ask for. */
export function commitText(output: Output, commit: CommitInfo, options: { whole?: boolean } = {}): string {
  const lines = [output.paint("yellow", `commit ${commit.id}`)];
  if (options.whole || commit.parents.length > 1) lines.push(`Parents:   ${commit.parents.join(" ")}`);
  lines.push(
    `Committer: ${output.shown(commit.committer)}`,
    `Date:      ${timeWithZone(commit.creationDate * 1000, output.terminal)}`,
  );
  if (options.whole) lines.push(`Metarange: ${commit.metaRangeId}`, `Generation: ${commit.generation}`);
  if (commit.message !== "") lines.push("", ...indented(output, commit.message));
  const metadata = Object.entries(commit.metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  if (metadata.length > 0) lines.push("");
  for (const [key, value] of metadata) lines.push(`    ${output.shown(key)} = ${output.shown(value)}`);
  return lines.join("\n");
}

/** A message keeps its lines; nothing else in it may steer a terminal. */
function indented(output: Output, message: string): string[] {
  return message.split("\n").map((line) => `    ${output.shown(line)}`.trimEnd());
}
