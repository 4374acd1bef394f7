/** Revert and cherry-pick: one commit's changes, backwards or again, merged into a branch. */

import { CodedError } from "../../base/errors.ts";
import type { PickOptions } from "../../drivers/store.ts";
import { NO_METARANGE } from "../committed/mod.ts";
import { type Commit, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { applyMerge, inputsOf } from "./apply_merge.ts";
import { checkCommitText, hasChanged, prepareCommit } from "./commit.ts";
import { findBranch, land } from "./landing.ts";
import { ConflictSettler } from "./settle_conflicts.ts";
import { refuseDirty } from "./staged_guard.ts";

const PICK_ORIGIN_KEY = "cherry-pick-origin";

/** Takes a commit's changes back on a branch. Fails with `parent_required`, `merge_conflict`, `no_changes`, `branch_dirty`. */
export function revertOn(
  repository: Repository,
  { branch, ref }: { readonly branch: string; readonly ref: string },
  options: PickOptions,
): Promise<Commit> {
  return pick(repository, { branch, ref, verb: "revert" }, options);
}

/** Makes a commit's changes on a branch, too. Fails as {@link revertOn} does. */
export function cherryPickOn(
  repository: Repository,
  { branch, ref }: { readonly branch: string; readonly ref: string },
  options: PickOptions,
): Promise<Commit> {
  return pick(repository, { branch, ref, verb: "cherry-pick" }, options);
}

async function pick(
  repository: Repository,
  { branch, ref, verb }: { branch: string; ref: string; verb: "revert" | "cherry-pick" },
  options: PickOptions,
): Promise<Commit> {
  await findBranch(repository, branch);
  const { commit } = await resolveRef(repository.refs, repository.commits, ref);
  const parentMetarange = await metarangeOfParent(repository, commit, { verb, parent: options.parent });
  const isRevert = verb === "revert";
  const message = options.message ?? (isRevert ? `Revert ${commit.id}` : commit.message);
  const metadata = isRevert
    ? { ...options.metadata }
    : { ...commit.metadata, [PICK_ORIGIN_KEY]: commit.id, ...options.metadata };
  checkCommitText({ message, metadata, allowEmptyMessage: true });
  const settler = new ConflictSettler(repository, options.resolver ? { resolver: options.resolver } : {});
  return await land(repository, branch, async (sample) => {
    const head = await repository.commits.get(sample.commitId);
    const metarange = repository.metarange(head.metaRangeId);
    await refuseDirty(repository, { branch, verb }, { metarange, tokens: sample.tokens });
    const [base, source] = isRevert
      ? [commit.metaRangeId, parentMetarange]
      : [parentMetarange, commit.metaRangeId];
    const sides = { base, source, destination: head.metaRangeId };
    const applied = await applyMerge(repository, inputsOf(repository, sides), {
      verb,
      what: `${commit.id.slice(0, 12)} on "${branch}"`,
      settler,
    });
    if (!hasChanged(applied) && !options.allowEmpty) {
      throw new CodedError(
        "invalid",
        "no_changes",
        `Cannot ${verb} commit "${commit.id.slice(0, 12)}": it changes nothing on branch "${branch}"`,
        { details: { branch, verb } },
      );
    }
    await repository.objects.flush(settler.unflushed);
    const landed = await prepareCommit(repository, applied, {
      parents: [head],
      committer: options.committer,
      message,
      metadata,
    });
    return {
      landing: { commitId: landed.id, commit: landed, note: { operation: verb, who: options.committer } },
      result: landed,
    };
  });
}

/** Returns the metarange of the parent that a commit is compared with. */
async function metarangeOfParent(
  repository: Repository,
  commit: Commit,
  { verb, parent }: { verb: string; parent: number | undefined },
): Promise<string> {
  const count = commit.parents.length;
  if (count > 1 && parent === undefined) {
    throw new CodedError(
      "invalid",
      "parent_required",
      `Cannot ${verb} commit "${
        commit.id.slice(0, 12)
      }": it is a merge; give a parent number from 1 to ${count}`,
      { details: { commit: commit.id, parents: count } },
    );
  }
  const number = parent ?? 1;
  if (count === 0 && number === 1) return NO_METARANGE;
  const id = Number.isInteger(number) ? commit.parents[number - 1] : undefined;
  if (id === undefined) {
    throw new CodedError(
      "invalid",
      "invalid_parent",
      `Cannot ${verb} commit "${commit.id.slice(0, 12)}": it has no parent number ${number}, only ${count}`,
    );
  }
  return (await repository.commits.get(id)).metaRangeId;
}
