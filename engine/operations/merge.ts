/** Merge, revert and cherry-pick: three-way merges of metaranges, landed on a branch. */

import { lossyText } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type {
  ChangeType,
  MergeConflict,
  MergeOptions,
  MergeResult,
  MergeStrategy,
  PickOptions,
} from "../../drivers/store.ts";
import { type Applied, applyChanges, type Conflict, mergeChanges, NO_METARANGE } from "../committed/mod.ts";
import { sameContent } from "../objects/mod.ts";
import { type Commit, mergeBase, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { checkCommitText, hasChanged, writeCommit } from "./commit.ts";
import { stagedChanges } from "./diff.ts";
import { findBranch, land, type Sample } from "./landing.ts";
import { statsOfRecord } from "./stats.ts";

const MAX_CONFLICTS_SHOWN = 1000;
/** lakeFS's own metadata keys, so that its tools understand our commits. */
const STRATEGY_KEY = ".lakefs.merge.strategy";
const PICK_ORIGIN_KEY = "cherry-pick-origin";

/**
 * Merges the last commit of `source` into a branch: destination first parent, source second.
 * Fails with `nothing_to_merge`, `merge_conflict`, `branch_dirty`, `try_again`; then nothing has changed.
 */
export async function mergeInto(
  repository: Repository,
  { source, destination }: { readonly source: string; readonly destination: string },
  options: MergeOptions,
): Promise<MergeResult> {
  const message = options.message ?? `Merge '${source}' into '${destination}'`;
  const metadata = { ...options.metadata, [STRATEGY_KEY]: options.strategy ?? "default" };
  checkCommitText({ message, metadata });
  await findBranch(repository, destination);
  const theirs = (await resolveRef(repository.refs, repository.commits, source)).commit;
  return await land(repository, destination, async (sample) => {
    const ours = await repository.commits.get(sample.commitId);
    const base = await mergeBase(repository.commits, ours, theirs);
    if (base?.id === theirs.id) refuseNothingToMerge(source, destination);
    await refuseDirty(repository, destination, { sample, head: ours });
    const applied = await applyMerge(
      repository,
      { base: base?.metaRangeId ?? NO_METARANGE, source: theirs.metaRangeId, destination: ours.metaRangeId },
      {
        verb: "merge",
        what: `"${source}" into "${destination}"`,
        ...(options.strategy ? { strategy: options.strategy } : {}),
      },
    );
    const commit = await writeCommit(repository, applied, {
      parents: [ours, theirs],
      committer: options.committer,
      message,
      metadata,
    });
    const summary: Record<ChangeType, number> = {
      added: applied.added,
      removed: applied.removed,
      changed: applied.changed,
      conflict: 0,
    };
    const landing = { commitId: commit.id, note: { operation: "merge", who: options.committer } };
    return { landing, result: { reference: commit.id, summary } };
  });
}

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
  return await land(repository, branch, async (sample) => {
    const head = await repository.commits.get(sample.commitId);
    await refuseDirty(repository, branch, { sample, head });
    const [base, source] = isRevert
      ? [commit.metaRangeId, parentMetarange]
      : [parentMetarange, commit.metaRangeId];
    const inputs = { base, source, destination: head.metaRangeId };
    const applied = await applyMerge(repository, inputs, {
      verb,
      what: `${commit.id.slice(0, 12)} on "${branch}"`,
    });
    if (!hasChanged(applied)) {
      throw new CodedError(
        "invalid",
        "no_changes",
        `Cannot ${verb} commit "${commit.id.slice(0, 12)}": it changes nothing on branch "${branch}"`,
        { details: { branch, verb } },
      );
    }
    const landed = await writeCommit(repository, applied, {
      parents: [head],
      committer: options.committer,
      message,
      metadata,
    });
    return {
      landing: { commitId: landed.id, note: { operation: verb, who: options.committer } },
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

async function applyMerge(
  repository: Repository,
  inputs: { readonly base: string; readonly source: string; readonly destination: string },
  { verb, what, strategy }: {
    readonly verb: string;
    readonly what: string;
    readonly strategy?: MergeStrategy;
  },
): Promise<Applied> {
  const conflicts = new ConflictList(repository);
  const metaranges = {
    base: repository.metarange(inputs.base),
    source: repository.metarange(inputs.source),
    destination: repository.metarange(inputs.destination),
  };
  const changes = mergeChanges(metaranges, {
    same: sameContent,
    onConflict(conflict) {
      if (strategy === "source-wins") return { key: conflict.key, record: conflict.source };
      if (strategy !== "dest-wins") conflicts.add(conflict);
      return undefined;
    },
  });
  const applied = await applyChanges(
    repository.files,
    metaranges.destination,
    changes,
    repository.applyOptions,
  );
  conflicts.throwIfAny(verb, what);
  return applied;
}

/** Conflicts found so far: all counted, the first ones kept. */
class ConflictList {
  readonly #repository: Repository;
  readonly #shown: MergeConflict[] = [];
  #count = 0;

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  add(conflict: Conflict): void {
    this.#count++;
    if (this.#shown.length >= MAX_CONFLICTS_SHOWN) return;
    const side = (record: Conflict["base"]) => record && statsOfRecord(this.#repository, record);
    const base = side(conflict.base),
      source = side(conflict.source),
      destination = side(conflict.destination);
    this.#shown.push({
      path: lossyText(conflict.key),
      ...(base ? { base } : {}),
      ...(source ? { source } : {}),
      ...(destination ? { destination } : {}),
    });
  }

  throwIfAny(verb: string, what: string): void {
    if (this.#count === 0) return;
    const paths = this.#count === 1 ? `"${this.#shown[0]!.path}"` : `${this.#count} paths`;
    throw new CodedError(
      "conflict",
      "merge_conflict",
      `Cannot ${verb} ${what}: both sides changed ${paths}`,
      {
        details: { verb, count: this.#count, conflicts: this.#shown },
      },
    );
  }
}

/** Refuses a branch with staged changes, judged on the sealed sample. */
async function refuseDirty(
  repository: Repository,
  branch: string,
  { sample, head }: { sample: Sample; head: Commit },
): Promise<void> {
  const metarange = repository.metarange(head.metaRangeId);
  for await (const block of stagedChanges(repository, { metarange, tokens: sample.tokens })) {
    if (block.length === 0) continue;
    throw new CodedError(
      "conflict",
      "branch_dirty",
      `Cannot change branch "${branch}": it has uncommitted changes`,
      { details: { branch } },
    );
  }
}

function refuseNothingToMerge(source: string, destination: string): never {
  throw new CodedError(
    "invalid",
    "nothing_to_merge",
    `Cannot merge "${source}" into "${destination}": it has every change already`,
    { details: { source, destination } },
  );
}
