/**
 * Landing a change on a branch: seal, sample, build, flush, compare-and-set.
 *
 *     1. A fresh staging token by compare-and-set; the former one becomes the first sealed token.    (seal)
 *     2. From the commit and the sealed tokens as they now are, a new state is built.                (build)
 *     3. Compare-and-set of the branch: new commit, its own sealed tokens dropped.                   (land)
 *
 * If 3 fails only because newer tokens were sealed on top (same commit, all own tokens still listed), it is tried again
 * dropping only its own: so of racing landings one always lands. If the commit moved, all starts again, a bounded number
 * of times; then "try again", having lost nothing: sealed tokens stay listed, readers see their changes.
 */

import { CodedError, isCoded, throwIfAborted } from "../../base/errors.ts";
import {
  type BranchState,
  type Commit,
  entryOfCommit,
  type MoveNote,
  parseRefExpression,
  resolveRef,
  type SeenRef,
} from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { cleanDropped, droppedEntries, isTokenEmpty, recordDropped } from "../staging/mod.ts";

const MAX_ATTEMPTS = 30;
const MAX_JITTER_MS = 20;
/** How often a branch is looked for that comes and goes meanwhile. */
const MAX_LOOKS = 3;

/** A branch as sampled; `tokens` are its sealed tokens, newest first: nobody writes to them any more. */
export interface Sample {
  readonly commitId: string;
  readonly tokens: readonly string[];
}

/** What a branch becomes. */
export interface Landing {
  readonly commitId: string;
  /** The commit of that ID if it is new: it is stored as the branch moves to it. */
  readonly commit?: Commit;
  readonly note: MoveNote;
  /** A token that takes the place of the dropped ones, as the only sealed token, older than the current one. */
  readonly rest?: string;
  /** Keeps the sampled tokens on the branch instead of dropping them. */
  readonly keepsTokens?: boolean;
}

/**
 * Lands what `build` makes of a sample of the branch. `build` may run several times; it throws to give up, having changed
 * nothing. Fails with `branch_not_found`, `try_again`.
 */
export async function land<T>(
  repository: Repository,
  branch: string,
  build: (sample: Sample) => Promise<{ landing: Landing; result: T }>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    throwIfAborted(signal);
    if (attempt > 0) await repository.clock.sleep(repository.randomness.fraction() * MAX_JITTER_MS * attempt);
    const sample = await seal(repository, branch);
    const { landing, result } = await build(sample);
    throwIfAborted(signal);
    if (await moveBranch(repository, branch, { sample, landing })) {
      await repository.checkLive();
      await cleanDropped(repository.kv, repository.partition, repository.clock);
      return result;
    }
    if (landing.rest !== undefined) await forgetRest(repository, branch, landing.rest);
  }
  throw new CodedError(
    "conflict",
    "try_again",
    `Cannot update branch "${branch}": others kept changing it meanwhile; nothing is lost, try again`,
    { details: { branch } },
  );
}

/** Has the records of a rest that did not land deleted later; an answer that was lost may hide that it did land. */
async function forgetRest(repository: Repository, branch: string, rest: string): Promise<void> {
  const { state } = await findBranch(repository, branch);
  if (state.sealedTokens.includes(rest)) return;
  await recordDropped(repository.kv, repository.partition, { tokens: [rest], clock: repository.clock });
}

/** Returns the live branch. Fails with `branch_not_found`, or `not_a_branch` when it is a tag or a commit. */
export async function findBranch(
  repository: Repository,
  name: string,
): Promise<SeenRef & { state: BranchState }> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const seen = await repository.refs.find(name);
    const state = seen?.record.branch;
    if (seen && state) return { ...seen, state };
    const what = seen ? "tag" : await meaningOf(repository, name);
    if (what === "tag" || what === "commit") {
      throw new CodedError(
        "invalid",
        "not_a_branch",
        `Cannot use "${name}" as a branch: it is a ${what}`,
        { details: { ref: name } },
      );
    }
    if (what === undefined) break;
  }
  throw new CodedError(
    "not_found",
    "branch_not_found",
    `Cannot find branch "${name}": there is none of that name`,
    {
      details: { branch: name },
    },
  );
}

/**
 * What a ref expression means that was no ref's name: `main~1` or a commit ID a commit all the same. A ref may have come to be
 * meanwhile, and may be gone again by now.
 */
async function meaningOf(repository: Repository, ref: string): Promise<"commit" | "ref" | undefined> {
  try {
    const { commit } = await resolveRef(repository.refs, repository.commits, ref);
    const isName = parseRefExpression(ref).base === ref && !commit.id.startsWith(ref.toLowerCase());
    return isName ? "ref" : "commit";
  } catch (error) {
    if (isCoded(error) && (error.kind === "not_found" || error.kind === "invalid")) return undefined;
    throw error;
  }
}

/** Seals what is staged and samples the branch. A staging token with nothing in it stays: there is nothing to seal. */
async function seal(repository: Repository, name: string): Promise<Sample> {
  while (true) {
    const seen = await findBranch(repository, name);
    const { commitId, stagingToken, sealedTokens } = seen.state;
    if (await isTokenEmpty(repository.kv, stagingToken)) {
      // Of a token that was dropped meanwhile the records may be gone, and the branch may have others.
      if ((await findBranch(repository, name)).record !== seen.record) continue;
      return { commitId, tokens: sealedTokens };
    }
    const sealed: BranchState = {
      ...seen.state,
      stagingToken: repository.newToken(),
      sealedTokens: [stagingToken, ...sealedTokens],
    };
    // Whatever is written to the new token comes to the disk after this, and so does the landing: should power loss take it, it
    // takes all that came of it.
    if (await repository.refs.retoken(seen, { ...seen.record, branch: sealed }, { relaxed: true })) {
      return { commitId, tokens: sealed.sealedTokens };
    }
  }
}

/** Tries the last step until it lands or the sample no longer holds; returns whether it landed. */
async function moveBranch(
  repository: Repository,
  name: string,
  { sample, landing }: { sample: Sample; landing: Landing },
): Promise<boolean> {
  while (true) {
    const seen = await findBranch(repository, name);
    const { commitId, sealedTokens } = seen.state;
    if (commitId !== sample.commitId) return false;
    if (!sample.tokens.every((token) => sealedTokens.includes(token))) return false;
    const newer = landing.keepsTokens
      ? sealedTokens
      : sealedTokens.filter((token) => !sample.tokens.includes(token));
    const branch: BranchState = {
      ...seen.state,
      commitId: landing.commitId,
      sealedTokens: landing.rest === undefined ? newer : [...newer, landing.rest],
    };
    const along = {
      before: landing.commit ? [entryOfCommit(landing.commit)] : [],
      after: landing.keepsTokens ? [] : droppedEntries(sample.tokens, repository.clock),
    };
    // A branch that stays at its commit has not moved: only its tokens change, and the reflog says nothing.
    const hasLanded = landing.commitId === commitId
      ? await repository.refs.retoken(seen, { ...seen.record, branch }, along)
      : await repository.refs.change(seen, { name, isDeleted: false, branch }, landing.note, along);
    if (hasLanded) return true;
  }
}
