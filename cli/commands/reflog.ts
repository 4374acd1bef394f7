/** `reflog`: how branches and tags moved. */

import type { ReflogItem } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { parseLocation, refLocation, repositoryLocation } from "../locations.ts";
import type { ListForm, Output } from "../output.ts";
import { timeColumn, utcTime } from "../render/times.ts";
import type { Field } from "../tables/fields.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const text = given.positionals[0]!;
  const { ref } = parseLocation(text);
  const { repository } = ref === undefined ? repositoryLocation(text) : refLocation(text);
  const amount = given.count("amount");
  const store = await session.store();
  const all = store.reflog(repository, ref);
  const moves = given.flag("deleted") ? stillDeleted(all) : all;
  await output.list(amount === undefined ? moves : lastOf(moves, amount), reflogForm(output));
  return EXIT_OK;
}

/** Yields the deletions that no restore has taken back: a few of all moves. */
async function* stillDeleted(
  pages: AsyncIterable<readonly ReflogItem[]>,
): AsyncGenerator<readonly ReflogItem[]> {
  const deletions = new Map<string, ReflogItem>();
  for await (const page of pages) {
    for (const move of page) {
      if (/^(branch|tag) delete$/.test(move.operation)) deletions.set(move.id, move);
      if (move.restored !== undefined) deletions.delete(move.restored);
    }
  }
  yield [...deletions.values()];
}

async function* lastOf(
  pages: AsyncIterable<readonly ReflogItem[]>,
  amount: number,
): AsyncGenerator<readonly ReflogItem[]> {
  let last: ReflogItem[] = [];
  for await (const page of pages) last = [...last, ...page].slice(-amount);
  yield last;
}

const REFLOG_FIELDS: readonly Field<ReflogItem>[] = [
  { name: "ref", type: "text", of: ({ ref }) => ref },
  { name: "operation", type: "text", of: ({ operation }) => operation },
  { name: "old_commit_id", type: "text", of: ({ oldCommitId }) => oldCommitId },
  { name: "new_commit_id", type: "text", of: ({ newCommitId }) => newCommitId },
  { name: "who", type: "text", of: ({ who }) => who },
  { name: "time", type: "time", optional: true, of: ({ timeMs }) => timeMs },
  { name: "id", type: "text", of: ({ id }) => id },
  { name: "restored", type: "text", of: ({ restored }) => restored ?? "" },
];

function reflogForm(output: Output): ListForm<ReflogItem> {
  return {
    json: ({ id, ref, operation, oldCommitId, newCommitId, who, timeMs, restored }) => ({
      ref,
      operation,
      old_commit_id: oldCommitId,
      new_commit_id: newCommitId,
      who,
      time: Math.floor(timeMs / 1000),
      id,
      restored: restored ?? "",
    }),
    line: stableLine,
    fields: REFLOG_FIELDS,
    table: [
      timeColumn(({ timeMs }) => timeMs),
      { forms: [({ ref }) => output.shown(ref)], color: () => "cyan" },
      { forms: [({ operation }) => operation] },
      { forms: [moveText, ({ newCommitId }) => newCommitId.slice(0, 12) || "-"], color: () => "yellow" },
      { forms: [({ who }) => output.shown(who), () => ""] },
      // What "branch restore --id" takes.
      { forms: [({ id, operation }) => operation.endsWith(" delete") ? id : ""], color: () => "dim" },
    ],
  };
}

function stableLine({ id, ref, operation, oldCommitId, newCommitId, who, timeMs }: ReflogItem): string {
  return [utcTime(timeMs), ref, operation, oldCommitId || "-", newCommitId || "-", who, id].join("\t");
}

function moveText({ oldCommitId, newCommitId }: ReflogItem): string {
  return `${oldCommitId.slice(0, 12) || "-"} -> ${newCommitId.slice(0, 12) || "-"}`;
}
