/** `reflog`: how branches and tags moved. */

import type { ReflogItem } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { parseLocation, refLocation, repositoryLocation } from "../locations.ts";
import type { ListForm, Output } from "../output.ts";
import { timeColumn, utcTime } from "../render/times.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const text = given.positionals[0]!;
  const { ref } = parseLocation(text);
  const { repository } = ref === undefined ? repositoryLocation(text) : refLocation(text);
  const amount = given.count("amount");
  const store = await session.store();
  const moves = store.reflog(repository, ref);
  await output.list(amount === undefined ? moves : lastOf(moves, amount), reflogForm(output));
  return EXIT_OK;
}

async function* lastOf(
  pages: AsyncIterable<readonly ReflogItem[]>,
  amount: number,
): AsyncGenerator<readonly ReflogItem[]> {
  let last: ReflogItem[] = [];
  for await (const page of pages) last = [...last, ...page].slice(-amount);
  yield last;
}

function reflogForm(output: Output): ListForm<ReflogItem> {
  return {
    json: ({ ref, operation, oldCommitId, newCommitId, who, timeMs }) => ({
      ref,
      operation,
      old_commit_id: oldCommitId,
      new_commit_id: newCommitId,
      who,
      time: Math.floor(timeMs / 1000),
    }),
    line: stableLine,
    table: [
      timeColumn(({ timeMs }) => timeMs),
      { forms: [({ ref }) => output.shown(ref)], color: () => "cyan" },
      { forms: [({ operation }) => operation] },
      { forms: [moveText, ({ newCommitId }) => newCommitId.slice(0, 12) || "-"], color: () => "yellow" },
      { forms: [({ who }) => output.shown(who), () => ""] },
    ],
  };
}

function stableLine({ ref, operation, oldCommitId, newCommitId, who, timeMs }: ReflogItem): string {
  return [utcTime(timeMs), ref, operation, oldCommitId || "-", newCommitId || "-", who].join("\t");
}

function moveText({ oldCommitId, newCommitId }: ReflogItem): string {
  return `${oldCommitId.slice(0, 12) || "-"} -> ${newCommitId.slice(0, 12) || "-"}`;
}
