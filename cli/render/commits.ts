/** How commits are shown. */

import type { CommitInfo } from "../../drivers/store.ts";
import type { ListForm, Output } from "../output.ts";
import { timeWithZone } from "./times.ts";

/** Returns a commit in the words of the lakeFS API. */
export function commitJson(commit: CommitInfo): Record<string, unknown> {
  return {
    id: commit.id,
    parents: commit.parents,
    committer: commit.committer,
    message: commit.message,
    creation_date: Math.floor(commit.creationDate),
    meta_range_id: commit.metaRangeId,
    metadata: commit.metadata,
    generation: commit.generation,
    version: commit.version,
  };
}

/** Returns the form of a log: a block of lines a commit, with an empty line after it. */
export function logForm(output: Output): ListForm<CommitInfo> {
  return { json: commitJson, line: (commit) => `${commitText(output, commit)}\n` };
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
