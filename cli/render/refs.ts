/** How repositories, branches and tags are shown. */

import { refJson, repositoryJson } from "../../drivers/store.ts";
import type { RefInfo, RepositoryInfo } from "../../drivers/store.ts";
import { refUri } from "../locations.ts";
import type { ListForm, Output } from "../output.ts";
import type { Field } from "../tables/fields.ts";
import type { Column } from "./table.ts";
import { timeColumn, timeWithZone, utcTime } from "./times.ts";

const REPOSITORY_FIELDS: readonly Field<RepositoryInfo>[] = [
  { name: "id", type: "text", of: ({ id }) => id },
  { name: "creation_date", type: "time", optional: true, of: ({ creationDate }) => creationDate * 1000 },
  { name: "default_branch", type: "text", of: ({ defaultBranch }) => defaultBranch },
  { name: "storage_namespace", type: "text", of: ({ storageNamespace }) => storageNamespace },
];

/** Returns the form of a list of repositories: `ID\tTIME\tBRANCH\tNAMESPACE` where nobody reads along. */
export function repositoriesForm(output: Output): ListForm<RepositoryInfo> {
  return {
    json: repositoryJson,
    fields: REPOSITORY_FIELDS,
    line: ({ id, creationDate, defaultBranch, storageNamespace }) =>
      [id, utcTime(creationDate * 1000), defaultBranch, storageNamespace].join("\t"),
    table: [
      { forms: [({ id }) => id], color: () => "cyan" },
      timeColumn(({ creationDate }) => creationDate * 1000),
      { forms: [({ defaultBranch }) => output.shown(defaultBranch), () => ""] },
      { forms: [({ storageNamespace }) => output.shown(storageNamespace), () => ""] },
    ],
  };
}

/** Returns a repository as text. */
export function repositoryText(output: Output, repository: RepositoryInfo): string {
  return [
    `Repository:        ${repository.id}`,
    `Created:           ${timeWithZone(repository.creationDate * 1000, output.terminal)}`,
    `Default branch:    ${repository.defaultBranch}`,
    `Storage namespace: ${output.shown(repository.storageNamespace)}`,
  ].join("\n");
}

const REF_FIELDS: readonly Field<RefInfo>[] = [
  { name: "id", type: "text", of: ({ id }) => id },
  { name: "commit_id", type: "text", of: ({ commitId }) => commitId },
];

/** Returns the form of a list of branches or tags: `ID\tCOMMIT` where nobody reads along. */
export function refsForm(output: Output): ListForm<RefInfo> {
  return {
    json: refJson,
    fields: REF_FIELDS,
    line: ({ id, commitId }) => `${id}\t${commitId}`,
    table: refColumns(output),
  };
}

/** The first digits of a commit ID name it too. */
function refColumns(output: Output): readonly Column<RefInfo>[] {
  return [
    { forms: [({ id }) => output.shown(id)], color: () => "cyan" },
    {
      forms: [({ commitId }) => commitId, ({ commitId }) => commitId.slice(0, 12), () => ""],
      color: () => "yellow",
    },
  ];
}

/** A branch or tag among others of both kinds. */
export interface KindOfRef extends RefInfo {
  readonly kind: "branch" | "tag";
}

/** Returns the form of a list of branches and tags together: `KIND\tID\tCOMMIT` where nobody reads along. */
export function mixedRefsForm(output: Output): ListForm<KindOfRef> {
  const refs = refsForm(output);
  return {
    json: (ref) => ({ type: ref.kind, ...refJson(ref) }),
    fields: [{ name: "type", type: "text", of: ({ kind }) => kind }, ...REF_FIELDS],
    line: (ref) => `${ref.kind}\t${refs.line(ref)}`,
    table: [{ forms: [({ kind }) => kind, () => ""] }, ...refColumns(output)],
  };
}

/** Returns a branch or tag as text: its URI and its commit. */
export function refText(repository: string, ref: RefInfo): string {
  return `${refUri(repository, ref.id)}\t${ref.commitId}`;
}
