/** What a ref shows: a commit's records, with a branch's staged changes over them. */

import { CodedError } from "../../base/errors.ts";
import type { ByteRange } from "../../drivers/object_store.ts";
import { type Metarange, NOT_CACHED, type ValueRecord } from "../committed/mod.ts";
import { type BranchState, type Commit, type ResolvedRef, resolveRef, type SeenRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { DroppedTokens, lookUpStaged } from "../staging/mod.ts";

export interface View {
  readonly commit: Commit;
  readonly metarange: Metarange;
  /** Staging tokens to look through, newest first; none for a tag or a commit. */
  readonly tokens: readonly string[];
  readonly branch?: SeenRef;
}

/** Returns what a ref expression shows now. */
export async function openView(repository: Repository, ref: string): Promise<View> {
  const resolved = await resolveRef(repository.refs, repository.commits, ref, { showsStaged: true });
  return viewOf(repository, resolved);
}

function viewOf(repository: Repository, resolved: ResolvedRef): View {
  const state = resolved.branch?.record.branch;
  return {
    commit: resolved.commit,
    metarange: repository.metarange(resolved.commit.metaRangeId),
    tokens: state ? tokensOf(state) : [],
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
 * A look-up that fell through a token reads the branch once more. If a commit moved what was staged from the tokens to a
 * metarange meanwhile, and the tokens were cleaned, neither place may have shown it, or an older token what it no longer was: so it
 * starts again.
 */
export async function lookUp(
  repository: Repository,
  ref: string,
  key: Uint8Array,
): Promise<{ view: View; record: ValueRecord | undefined }> {
  let view = await openView(repository, ref);
  while (true) {
    const staged = await lookUpStaged(repository.kv, view.tokens, key);
    if (staged && staged.token === view.tokens[0]) return { view, record: staged.record };
    const record = staged ? staged.record : await committedRecord(view, key);
    // The very same record is what is stored, byte for byte.
    const seen = view.branch?.record;
    if (!seen || (await repository.refs.find(seen.name))?.record === seen) return { view, record };
    const again = await openView(repository, ref);
    if (isUnmoved(view, again)) return { view, record };
    view = again;
  }
}

async function committedRecord({ metarange }: View, key: Uint8Array): Promise<ValueRecord | undefined> {
  const cached = metarange.peek(key);
  return cached === NOT_CACHED ? await metarange.get(key) : cached;
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

/** Refuses a range that begins past the end here, where the object's path is known. */
export function checkRange(path: string, { start }: ByteRange, sizeBytes: number): void {
  if (start < sizeBytes) return;
  throw new CodedError(
    "invalid",
    "invalid_range",
    `Cannot read "${path}" from byte ${start}: it has ${sizeBytes} bytes`,
    { details: { path, size_bytes: sizeBytes } },
  );
}

function isUnmoved(before: View, after: View): boolean {
  return before.commit.id === after.commit.id && before.tokens.length === after.tokens.length &&
    before.tokens.every((token, i) => token === after.tokens[i]);
}

/**
 * Sees to it that a walk through staged changes never comes out short: another's commit may have dropped their tokens, and
 * a later one have deleted the records under the reader. Judged by what is stored, since clocks jump and machines sleep.
 */
export class TokenWatch {
  readonly #repository: Repository;
  readonly #view: View;
  readonly #dropped: DroppedTokens;

  constructor(repository: Repository, view: View) {
    this.#repository = repository;
    this.#view = view;
    this.#dropped = new DroppedTokens(repository);
  }

  /** Called behind each reading and before what was read is used. Fails with `try_again` if it may not be whole. */
  async check(): Promise<void> {
    const { branch, tokens } = this.#view;
    if (!branch) return;
    const { name } = branch.record;
    const stored = await this.#repository.refs.stored(name);
    if (stored === branch.record) return;
    // A deleted branch keeps its tokens.
    const kept = new Set(stored?.branch ? tokensOf(stored.branch) : []);
    const dropped = tokens.filter((token) => !kept.has(token));
    if (dropped.length === 0 || await this.#dropped.areWhole(dropped)) return;
    throw new CodedError(
      "conflict",
      "try_again",
      `Cannot go on listing branch "${name}": it was committed or reset meanwhile; try again`,
    );
  }
}
