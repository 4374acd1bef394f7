/** What a ref shows: a commit's records, with a branch's staged changes over them. */

import { CodedError } from "../../base/errors.ts";
import type { Metarange, ValueRecord } from "../committed/mod.ts";
import { type BranchState, type Commit, type ResolvedRef, resolveRef, type SeenRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { lookUpStaged } from "../staging/mod.ts";

export interface View {
  readonly commit: Commit;
  readonly metarange: Metarange;
  /** Staging tokens to look through, newest first; none for a tag or a commit. */
  readonly tokens: readonly string[];
  readonly branch?: SeenRef;
  readonly openedMs: number;
}

/** Returns what a ref expression shows now. */
export async function openView(repository: Repository, ref: string): Promise<View> {
  // Before the branch is read: what happens to its tokens from then on, the view does not know.
  const openedMs = repository.clock.now();
  const resolved = await resolveRef(repository.refs, repository.commits, ref, { showsStaged: true });
  return viewOf(repository, resolved, openedMs);
}

function viewOf(repository: Repository, resolved: ResolvedRef, openedMs: number): View {
  const state = resolved.branch?.record.branch;
  return {
    commit: resolved.commit,
    metarange: repository.metarange(resolved.commit.metaRangeId),
    tokens: state ? tokensOf(state) : [],
    openedMs,
    ...(resolved.branch ? { branch: resolved.branch } : {}),
  };
}

/** Returns a branch's tokens, newest first. */
export function tokensOf(branch: BranchState): readonly string[] {
  return [branch.stagingToken, ...branch.sealedTokens];
}

/**
 * Returns the record that a ref shows under a key, with the view it was found in.
 *
 * A look-up that fell through the staged changes reads the branch once more: if a commit moved them from the tokens to a
 * metarange meanwhile, neither place may have shown them, so it starts again.
 */
export async function lookUp(
  repository: Repository,
  ref: string,
  key: Uint8Array,
): Promise<{ view: View; record: ValueRecord | undefined }> {
  let view = await openView(repository, ref);
  while (true) {
    const staged = await lookUpStaged(repository.kv, view.tokens, key);
    if (staged) return { view, record: staged.record };
    const record = await view.metarange.get(key);
    if (!view.branch || await isUntouched(repository, view.branch)) return { view, record };
    const again = await openView(repository, ref);
    if (isUnmoved(view, again)) return { view, record };
    view = again;
  }
}

/** The failure of a look-up that found nothing. */
export function objectNotFound({ ref, path }: { readonly ref: string; readonly path: string }): CodedError {
  return new CodedError(
    "not_found",
    "object_not_found",
    `Cannot find "${path}" at "${ref}": there is no such object`,
    {
      details: { path, ref },
    },
  );
}

/** Returns whether a branch's stored record is, byte for byte, the one that was read. */
async function isUntouched(repository: Repository, { record }: SeenRef): Promise<boolean> {
  return (await repository.refs.find(record.name))?.record === record;
}

function isUnmoved(before: View, after: View): boolean {
  return before.commit.id === after.commit.id && before.tokens.length === after.tokens.length &&
    before.tokens.every((token, i) => token === after.tokens[i]);
}

/** Fails when tokens that a long reading goes through may have been dropped and deleted: it must never come out short. */
export async function checkTokensKept(repository: Repository, view: View): Promise<void> {
  const now = await repository.refs.find(view.branch!.record.name);
  const kept = new Set(now?.record.branch ? tokensOf(now.record.branch) : []);
  if (view.tokens.every((token) => kept.has(token))) return;
  throw new CodedError(
    "conflict",
    "try_again",
    `Cannot go on listing branch "${
      view.branch!.record.name
    }": it was committed or reset meanwhile; try again`,
  );
}
