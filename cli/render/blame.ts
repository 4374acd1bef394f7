/** How objects are shown with the commits that last changed them. */

import type { BlameItem } from "../../drivers/store.ts";
import type { ListForm, Output } from "../output.ts";
import type { Field } from "../tables/fields.ts";
import { timeColumn, utcTime } from "./times.ts";
import { cutToWidth } from "./width.ts";

const SHORT_ID = 12;
const SUBJECT_CELLS = 40;

const FIELDS: readonly Field<BlameItem>[] = [
  { name: "path", type: "text", of: ({ path }) => path },
  { name: "commit_id", type: "text", of: ({ commit }) => commit.id },
  { name: "committer", type: "text", of: ({ commit }) => commit.committer },
  { name: "creation_date", type: "time", of: ({ commit }) => commit.creationDate * 1000 },
  { name: "message", type: "text", of: ({ commit }) => commit.message },
];

/** Returns the form of a list: `COMMIT\tTIME\tCOMMITTER\tPATH\tMESSAGE'S FIRST LINE` where nobody reads along. */
export function blameForm(output: Output): ListForm<BlameItem> {
  return {
    json: ({ path, commit }) => ({
      path,
      commit_id: commit.id,
      committer: commit.committer,
      creation_date: Math.floor(commit.creationDate),
      message: commit.message,
    }),
    line: ({ path, commit }) =>
      [commit.id, utcTime(commit.creationDate * 1000), commit.committer, path, subjectOf(commit.message)]
        .join("\t"),
    fields: FIELDS,
    table: [
      { forms: [({ commit }) => commit.id.slice(0, SHORT_ID)], color: () => "yellow" },
      timeColumn(({ commit }) => commit.creationDate * 1000),
      { forms: [({ commit }) => output.shown(commit.committer), () => ""] },
      {
        forms: [({ commit }) => cutToWidth(output.shown(subjectOf(commit.message)), SUBJECT_CELLS), () => ""],
      },
      { forms: [({ path }) => output.shown(path)], color: () => "cyan", mayWrap: true },
    ],
  };
}

function subjectOf(message: string): string {
  return message.split("\n")[0]!;
}
