/** `log`: the commits of a ref, newest first. */

import { systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { parseTime } from "../../base/time.ts";
import type { CommitInfo, Store } from "../../drivers/store.ts";
import { changesOfCommit } from "../commit_changes.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { type Fold, foldOf } from "../folding.ts";
import { objectOrFolder, otherRef, refLocation, refOf } from "../locations.ts";
import { graphForm, type LogEntry, logForm } from "../render/commits.ts";

/** So many names of branches, and of tags, are looked at for the graph. */
const MOST_NAMES = 1000;

export async function run({ arguments: given, messages, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!, { key: "allowed" });
  const { repository, key } = location;
  const since = given.value("since");
  const amount = given.count("amount");
  const isGraph = given.flag("graph");
  const fold = given.flag("stat") ? foldOf(given, undefined) : undefined;
  if (isGraph && key !== undefined) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot draw the graph of "${location.text}": it is drawn of all commits, without a path`,
    );
  }
  const options = {
    amount,
    allParents: given.flag("all-parents") || isGraph,
    since: since === undefined ? undefined : parseTime(since, systemClock.now()) / 1000,
    paths: key === undefined ? undefined : objectOrFolder(key),
  };
  const store = await session.store();
  const stopAt = given.value("stop-at");
  const stop = stopAt === undefined ? {} : { stopAt: await refOf(store, otherRef(stopAt, location)) };
  const commits = store.log(repository, await refOf(store, location), { ...options, ...stop });
  const form = isGraph && output.json === "none"
    ? graphForm(output, await namesOfCommits(store, repository))
    : logForm(output, { stat: fold !== undefined });
  let hasMerges = false;
  const entries = entriesOf(store, commits, { repository, fold, onMerge: () => hasMerges = true });
  const count = await output.list(entries, form, { amount });
  if (count === 0 && key !== undefined) {
    messages.note(`No commit here changed "${key}"`);
  }
  if (hasMerges && output.terminal && !options.allParents) {
    messages.note("Only first parents are followed: --all-parents or --graph also shows what was merged");
  }
  return EXIT_OK;
}

async function* entriesOf(
  store: Store,
  commits: AsyncIterable<readonly CommitInfo[]>,
  { repository, fold, onMerge }: { repository: string; fold: Fold | undefined; onMerge: () => void },
): AsyncGenerator<readonly LogEntry[]> {
  for await (const page of commits) {
    const entries: LogEntry[] = [];
    for (const commit of page) {
      if (commit.parents.length > 1) onMerge();
      entries.push({
        commit,
        ...(fold ? { stat: await changesOfCommit(store, { repository, commit, fold }) } : {}),
      });
    }
    yield entries;
  }
}

/** Returns the branches and tags by the commit they point at. */
async function namesOfCommits(
  store: Store,
  repository: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Map<string, string[]>();
  for (
    const [kind, pages] of [
      ["", store.listBranches(repository)],
      ["tag ", store.listTags(repository)],
    ] as const
  ) {
    let left = MOST_NAMES;
    for await (const page of pages) {
      for (const { id, commitId } of page) {
        const known = names.get(commitId);
        if (known) known.push(kind + id);
        else names.set(commitId, [kind + id]);
      }
      left -= page.length;
      if (left <= 0) break;
    }
  }
  return names;
}
