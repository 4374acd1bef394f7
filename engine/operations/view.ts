/** What a ref shows: a commit's records, with a branch's staged changes over them. */

import { CodedError } from "../../base/errors.ts";
import { compareBytes } from "../../base/bytes.ts";
import { BlockCollector, BlockCursor, type Metarange, type ValueRecord } from "../committed/mod.ts";
import { type BranchState, type Commit, type ResolvedRef, resolveRef, type SeenRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { lookUpStaged, MAX_READ_MS, type StagedRecord, stagedRecords } from "../staging/mod.ts";

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
  return viewOf(
    repository,
    await resolveRef(repository.refs, repository.commits, ref, { showsStaged: true }),
  );
}

function viewOf(repository: Repository, resolved: ResolvedRef): View {
  const state = resolved.branch?.record.branch;
  return {
    commit: resolved.commit,
    metarange: repository.metarange(resolved.commit.metaRangeId),
    tokens: state ? tokensOf(state) : [],
    openedMs: repository.clock.now(),
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
    if (!view.branch) return { view, record };
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

function isUnmoved(before: View, after: View): boolean {
  return before.commit.id === after.commit.id && before.tokens.length === after.tokens.length &&
    before.tokens.every((token, i) => token === after.tokens[i]);
}

/** Yields the records that a view shows from `start` on, in key order. Fails with `try_again` when it takes too long. */
export async function* viewRecords(
  repository: Repository,
  view: View,
  start?: Uint8Array,
): AsyncGenerator<readonly ValueRecord[]> {
  const committed = view.metarange.records(start);
  const layers = view.tokens.length === 0
    ? committed
    : overlaid(committed, stagedRecords(repository.kv, view.tokens, start));
  for await (const block of layers) {
    if (view.branch && repository.clock.now() - view.openedMs > MAX_READ_MS) {
      await checkTokensKept(repository, view);
    }
    yield block;
  }
}

/** Lays staged records over committed ones. */
async function* overlaid(
  committed: AsyncIterable<readonly ValueRecord[]>,
  staged: AsyncIterable<readonly StagedRecord[]>,
): AsyncGenerator<readonly ValueRecord[]> {
  const below = new BlockCursor(committed), above = new BlockCursor(staged);
  const collector = new BlockCollector<ValueRecord>();
  while (true) {
    const old = below.peek() ?? await below.load();
    const change = above.peek() ?? await above.load();
    if (!old && !change) break;
    const order = !change ? -1 : !old ? 1 : compareBytes(old.key, change.key);
    if (order <= 0) below.advance();
    if (order >= 0) above.advance();
    const record = order < 0 ? old : change!.record;
    const block = record && collector.add(record);
    if (block) yield block;
  }
  yield collector.take();
}

/** Fails when tokens that a long reading goes through may have been dropped and deleted: it must never come out short. */
async function checkTokensKept(repository: Repository, view: View): Promise<void> {
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
