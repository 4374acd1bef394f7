/** History as the store contract shows it. */

import { afterKey, afterPrefix, utf8 } from "../../base/bytes.ts";
import { millisecondsOf } from "../../base/clock.ts";
import type { CommitInfo, LogOptions, ReflogItem } from "../../drivers/store.ts";
import { diffMetaranges, type KeyBounds, NO_METARANGE } from "../committed/mod.ts";
import { pathKey } from "../objects/mod.ts";
import { allAncestors, type Commit, firstParents, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { commitInfo } from "./stats.ts";

/** Yields commits from a ref back, newest first. */
export async function* logOf(
  repository: Repository,
  ref: string,
  options: LogOptions = {},
): AsyncGenerator<readonly CommitInfo[]> {
  const { commit: head } = await resolveRef(repository.refs, repository.commits, ref);
  const walk = options.allParents ? allAncestors : firstParents;
  const filters = options.paths?.map(pathBounds);
  let left = options.amount ?? Infinity;
  if (left <= 0) return;
  for await (const commit of walk(repository.commits, head)) {
    if (options.since !== undefined && millisecondsOf(commit.creationDate) < options.since * 1000) continue;
    if (filters && !(await hasTouched(repository, commit, filters))) continue;
    yield [commitInfo(commit)];
    if (--left === 0) return;
  }
}

/** Yields the recorded moves of one ref, or of all. */
export async function* reflogOf(repository: Repository, ref?: string): AsyncGenerator<readonly ReflogItem[]> {
  for await (const moves of repository.refs.moves(ref)) {
    yield moves.map(({ time, id: _, ...move }) => ({ ...move, timeMs: millisecondsOf(time) }));
  }
}

/** A path that ends in "/" stands for all under it. */
function pathBounds(path: string): KeyBounds {
  if (!path.endsWith("/")) {
    const key = pathKey(path);
    return { start: key, end: afterKey(key) };
  }
  const start = utf8(path), end = afterPrefix(start);
  return { start, ...(end ? { end } : {}) };
}

/** Whether a commit changed something within the bounds, compared with its first parent. */
async function hasTouched(
  repository: Repository,
  commit: Commit,
  filters: readonly KeyBounds[],
): Promise<boolean> {
  const parent = commit.parents[0] === undefined
    ? undefined
    : await repository.commits.get(commit.parents[0]);
  const before = repository.metarange(parent?.metaRangeId ?? NO_METARANGE);
  const after = repository.metarange(commit.metaRangeId);
  for (const within of filters) {
    for await (const block of diffMetaranges(before, after, within)) if (block.length > 0) return true;
  }
  return false;
}
