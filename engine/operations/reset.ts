/** Reset: dropping staged changes of a branch, a prefix or one object; and moving a branch to a commit. */

import { equalBytes, startsWithBytes, utf8 } from "../../base/bytes.ts";
import { type Commit, resolveRef } from "../refs/mod.ts";
import { pathKey } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { stagedChanges } from "./diff.ts";
import { findBranch, land, type Sample } from "./landing.ts";
import { refuseProtected } from "./protection.ts";
import { copyRest } from "./rest.ts";
import { refuseDirty } from "./staged_guard.ts";

/** Drops staged changes: all, those under a prefix, or that of one path. Returns how many; nothing to drop is no error. */
export async function resetBranch(
  repository: Repository,
  branch: string,
  { prefix, path, who }: { readonly prefix?: string; readonly path?: string; readonly who: string },
): Promise<number> {
  await refuseProtected(repository, branch, "reset");
  const isDropped = path !== undefined
    ? matching(pathKey(path), equalBytes)
    : prefix !== undefined && prefix !== ""
    ? matching(utf8(prefix), startsWithBytes)
    : undefined;
  return await land(repository, branch, async (sample) => {
    const result = await countChanges(repository, sample, isDropped);
    const rest = isDropped && await copyRest(repository, sample, (key) => !isDropped(key));
    const note = { operation: "reset", who };
    return { landing: { commitId: sample.commitId, note, ...(rest ? { rest } : {}) }, result };
  });
}

/** Counts the sampled changes that are dropped and would have made a difference. */
async function countChanges(
  repository: Repository,
  sample: Sample,
  isDropped: ((key: Uint8Array) => boolean) | undefined,
): Promise<number> {
  const metarange = repository.metarange((await repository.commits.get(sample.commitId)).metaRangeId);
  let count = 0;
  for await (const block of stagedChanges(repository, { metarange, tokens: sample.tokens })) {
    for (const { key } of block) if (!isDropped || isDropped(key)) count++;
  }
  return count;
}

/** Moves a branch to a commit and drops its staged changes, or is refused for them; the old head stays in the reflog. */
export async function hardReset(
  repository: Repository,
  branch: string,
  { ref, who, keepsStaged }: { readonly ref: string; readonly who: string; readonly keepsStaged?: boolean },
): Promise<Commit> {
  await findBranch(repository, branch);
  await refuseProtected(repository, branch, "reset");
  const { commit } = await resolveRef(repository.refs, repository.commits, ref);
  return await land(repository, branch, async ({ commitId, tokens }) => {
    if (keepsStaged) {
      const metarange = repository.metarange((await repository.commits.get(commitId)).metaRangeId);
      await refuseDirty(repository, { branch, verb: "reset" }, { metarange, tokens });
    }
    return { landing: { commitId: commit.id, note: { operation: "hard reset", who } }, result: commit };
  });
}

function matching(
  wanted: Uint8Array,
  matches: (key: Uint8Array, wanted: Uint8Array) => boolean,
): (key: Uint8Array) => boolean {
  return (key) => matches(key, wanted);
}
