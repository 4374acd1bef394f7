/** History as the store contract shows it. */

import { millisecondsOf } from "../../base/clock.ts";
import type { CommitInfo, LogOptions, ReflogItem } from "../../drivers/store.ts";
import { diffMetaranges, NO_METARANGE } from "../committed/mod.ts";
import { allAncestors, type Commit, commitsSince, firstParents, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { PathFilter, sharesRanges } from "./path_filter.ts";
import { commitInfo } from "./stats.ts";

/** Yields commits from a ref back, newest first. */
export async function* logOf(
  repository: Repository,
  ref: string,
  options: LogOptions = {},
): AsyncGenerator<readonly CommitInfo[]> {
  const { commit: head } = await resolveRef(repository.refs, repository.commits, ref);
  const { paths, objects, prefixes } = options;
  const filter = paths || objects || prefixes
    ? new PathFilter(paths ?? [], { objects: objects ?? [], prefixes: prefixes ?? [] })
    : undefined;
  let left = options.amount ?? Infinity;
  if (left <= 0) return;
  for await (const commit of await walkFrom(repository, head, options)) {
    if (options.since !== undefined && millisecondsOf(commit.creationDate) < options.since * 1000) continue;
    if (filter && !(await hasTouched(repository, commit, filter))) continue;
    yield [commitInfo(commit)];
    if (--left === 0) return;
  }
}

async function walkFrom(
  { refs, commits }: Repository,
  head: Commit,
  { allParents = false, stopAt }: LogOptions,
): Promise<AsyncIterable<Commit>> {
  if (stopAt !== undefined) {
    const { commit: stop } = await resolveRef(refs, commits, stopAt);
    return commitsSince(commits, head, { stop, firstParents: !allParents });
  }
  return allParents ? allAncestors(commits, head) : firstParents(commits, head);
}

/** Yields the recorded moves of one ref, or of all. */
export async function* reflogOf(repository: Repository, ref?: string): AsyncGenerator<readonly ReflogItem[]> {
  for await (const moves of repository.refs.moves(ref)) {
    yield moves.map(({ time, ...move }) => ({ ...move, timeMs: millisecondsOf(time) }));
  }
}

/** Whether a commit changed something under the paths, compared with its first parent. Equal ranges are not opened. */
async function hasTouched(repository: Repository, commit: Commit, filter: PathFilter): Promise<boolean> {
  const [parent] = commit.parents;
  const before = repository.metarange(
    parent === undefined ? NO_METARANGE : (await repository.commits.get(parent)).metaRangeId,
  );
  const after = repository.metarange(commit.metaRangeId);
  for (const within of filter.bounds) {
    if (await sharesRanges(before, after, within)) continue;
    for await (const block of diffMetaranges(before, after, within)) if (block.length > 0) return true;
  }
  return false;
}
