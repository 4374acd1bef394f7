/** Merge: the last commit of a ref into a branch, as a commit that lands whole or not at all. */

import { CodedError } from "../../base/errors.ts";
import type { ChangeType, MergeOptions, MergeResult } from "../../drivers/store.ts";
import { type Applied, type MergeInputs, NO_METARANGE } from "../committed/mod.ts";
import { type Commit, mergeBase, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { applyMerge, inputsOf } from "./apply_merge.ts";
import { checkCommitText, hasChanged, prepareCommit } from "./commit.ts";
import { findBranch, land, type Sample } from "./landing.ts";
import { ConflictSettler } from "./settle_conflicts.ts";
import { refuseDirty, StagedGuard } from "./staged_guard.ts";

/** lakeFS's own metadata key, so that its tools understand our commits. */
const STRATEGY_KEY = ".lakefs.merge.strategy";
/** Ours, beside `cherry-pick-origin`: the commit that a squashed merge took everything from. */
const SQUASH_ORIGIN_KEY = "squash-origin";

export interface MergeNames {
  /** A ref expression. */
  readonly source: string;
  /** A branch. */
  readonly destination: string;
}

/** What a merge starts from: its two commits, the metaranges of the three sides, and what is staged and must stay. */
export interface OpenedMerge {
  readonly ours: Commit;
  readonly inputs: MergeInputs;
  readonly guard: StagedGuard | undefined;
}

/**
 * Merges the last commit of `source` into a branch: destination first parent, source second.
 * Fails with `nothing_to_merge`, `merge_conflict`, `branch_dirty`, `try_again`; then nothing has changed.
 */
export async function mergeInto(
  repository: Repository,
  names: MergeNames,
  options: MergeOptions,
): Promise<MergeResult> {
  await findBranch(repository, names.destination);
  const theirs = (await resolveRef(repository.refs, repository.commits, names.source)).commit;
  const text = textOf(names, theirs, options);
  checkCommitText(text);
  const settler = new ConflictSettler(repository, options);
  return await land(repository, names.destination, async (sample) => {
    const { ours, inputs, guard } = await openMerge(repository, { names, theirs, sample }, options);
    const what = `"${names.source}" into "${names.destination}"`;
    const applied = await applyMerge(repository, inputs, {
      verb: "merge",
      what,
      settler,
      guard,
      signal: options.signal,
    });
    // A squashed merge has one parent: without a change it would say nothing.
    if (options.squash && options.ifSame !== "commit" && !hasChanged(applied)) refuseNothingToMerge(names);
    await repository.objects.flush(settler.unflushed);
    const parents = options.squash || ours.id === theirs.id ? [ours] : [ours, theirs];
    const commit = await prepareCommit(repository, applied, {
      parents,
      committer: options.committer,
      ...text,
    });
    const rest = await guard?.copy();
    const note = { operation: "merge", who: options.committer };
    return {
      landing: { commitId: commit.id, commit, note, ...(rest === undefined ? {} : { rest }) },
      result: { reference: commit.id, summary: summaryOf(applied) },
    };
  }, { signal: options.signal });
}

/** Finds the base of a merge and looks at what is staged. Fails with `nothing_to_merge`, `branch_dirty`. */
export async function openMerge(
  repository: Repository,
  { names, theirs, sample }: {
    readonly names: MergeNames;
    readonly theirs: Commit;
    readonly sample: Sample;
  },
  { keepStaged, ifSame, allowDirty }: Pick<MergeOptions, "keepStaged" | "ifSame"> & {
    readonly allowDirty?: boolean;
  },
): Promise<OpenedMerge> {
  const ours = await repository.commits.get(sample.commitId);
  const base = await mergeBase(repository.commits, ours, theirs);
  if (ifSame !== "commit" && base?.id === theirs.id) refuseNothingToMerge(names);
  if (ifSame === "refuse" && [ours.metaRangeId, base?.metaRangeId].includes(theirs.metaRangeId)) {
    refuseNothingToMerge(names);
  }
  const inputs = inputsOf(repository, {
    base: base?.metaRangeId ?? NO_METARANGE,
    source: theirs.metaRangeId,
    destination: ours.metaRangeId,
  });
  const staged = { metarange: inputs.destination, tokens: sample.tokens };
  if (!keepStaged && !allowDirty) {
    await refuseDirty(repository, { branch: names.destination, verb: "merge" }, staged);
  }
  const guard = keepStaged ? await StagedGuard.over(repository, names.destination, staged) : undefined;
  return { ours, inputs, guard };
}

function textOf(
  { source, destination }: MergeNames,
  theirs: Commit,
  options: MergeOptions,
): { message: string; metadata: Record<string, string> } {
  const what = options.squash ? `Squash '${source}' (${theirs.id.slice(0, 12)})` : `Merge '${source}'`;
  return {
    message: options.message ?? `${what} into '${destination}'`,
    metadata: {
      ...options.metadata,
      [STRATEGY_KEY]: options.strategy ?? "default",
      ...(options.squash ? { [SQUASH_ORIGIN_KEY]: theirs.id } : {}),
    },
  };
}

function summaryOf({ added, removed, changed }: Applied): Record<ChangeType, number> {
  return { added, removed, changed, conflict: 0 };
}

function refuseNothingToMerge({ source, destination }: MergeNames): never {
  throw new CodedError(
    "invalid",
    "nothing_to_merge",
    `Cannot merge "${source}" into "${destination}": it has every change already`,
    { details: { source, destination } },
  );
}
