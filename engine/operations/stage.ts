/**
 * Staging writes.
 *
 * The object first, then the staged record, then the branch is read again: a write is acknowledged only if its token is
 * still the current staging token. Sealed is not enough, since the commit that sealed it may have scanned past the record;
 * then it is written again to the token that is current now.
 *
 * An address that was staged once may be in a commit from then on, whatever became of the write: it is never deleted here.
 */

import { compareBytes, equalBytes, utf8 } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { KvEntry } from "../../kv/store.ts";
import { type Entry, entryRecord, sameContent } from "../objects/mod.ts";
import { NO_METARANGE, type ValueRecord } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import { encodeStaged, lookUpStaged, type StagedRecord } from "../staging/mod.ts";
import { findBranch } from "./landing.ts";
import { tokensOf } from "./view.ts";

const MAX_ATTEMPTS = 100;

/** A write to stage: an entry, or a tombstone when there is none. */
export interface StagedWrite {
  readonly key: Uint8Array;
  readonly entry: Entry | undefined;
  /** Whether the entry's object was uploaded for this write, so that nothing else refers to it. */
  readonly isFresh: boolean;
  /** Whether the entry's object may not be on disk yet. */
  readonly isUnflushed: boolean;
}

/** What became of writes: addresses of new objects whose content was there already, and to which nothing ever referred. */
export interface Staged {
  readonly unused: readonly string[];
}

/** Stages writes with distinct keys; acknowledged and durable when it returns. Fails with `branch_not_found`, `try_again`. */
export async function stageWrites(
  repository: Repository,
  branch: string,
  writes: readonly StagedWrite[],
): Promise<Staged> {
  const ordered = inOrder(writes);
  const everStaged = new Set<StagedWrite>();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { state } = await findBranch(repository, branch);
    const metarange = repository.metarange((await repository.commits.get(state.commitId)).metaRangeId);
    const isEmpty = metarange.id === NO_METARANGE;
    const unused: string[] = [];
    const staged: KvEntry[] = [];
    for (const write of ordered) {
      const fresh = write.entry && entryRecord(write.key, write.entry);
      const committed = fresh && !isEmpty ? await metarange.get(write.key) : undefined;
      // The same content keeps the committed entry, address included: it is no change.
      const isNoChange = fresh !== undefined && committed !== undefined && sameContent(committed, fresh);
      const record = isNoChange ? committed : fresh;
      if (!isNoChange) everStaged.add(write);
      // Staged by an earlier attempt, it may be the very object that is committed now.
      else if (write.isFresh && !everStaged.has(write)) unused.push(write.entry!.address);
      const isUnflushed = write.isUnflushed && !isNoChange;
      staged.push({ key: write.key, value: encodeStaged({ key: write.key, record, isUnflushed }) });
    }
    await repository.kv.setMany(utf8(state.stagingToken), staged);
    if ((await findBranch(repository, branch)).state.stagingToken === state.stagingToken) {
      return { unused };
    }
  }
  throw tryAgain(branch);
}

/** Returns writes in key order; those of a folder that was walked have it already. */
function inOrder(writes: readonly StagedWrite[]): readonly StagedWrite[] {
  const isOrdered = writes.every(({ key }, i) => i === 0 || compareBytes(writes[i - 1]!.key, key) < 0);
  return isOrdered ? writes : [...writes].sort((a, b) => compareBytes(a.key, b.key));
}

/**
 * Stages one write only if the branch shows nothing under its key. Fails with `object_exists`.
 *
 * The record carries a nonce, so that a repeat, after the token was sealed under it, recognises its own first write.
 */
export async function stageIfAbsent(
  repository: Repository,
  branch: string,
  write: StagedWrite,
): Promise<void> {
  const nonce = repository.randomness.bytes(16);
  const record = entryRecord(write.key, write.entry!);
  const value = encodeStaged({ key: write.key, record, isUnflushed: write.isUnflushed, nonce });
  let wasStaged = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { state } = await findBranch(repository, branch);
    const shown = await lookUpStaged(repository.kv, tokensOf(state), write.key);
    if (!isOwn(shown, nonce)) {
      const commit = await repository.commits.get(state.commitId);
      const isTaken = shown
        ? shown.record !== undefined
        : !isOwnCommitted(await repository.metarange(commit.metaRangeId).get(write.key), record);
      // Once it was staged it was there, and what is there now came later and wrote over it.
      if (isTaken && wasStaged) return;
      if (isTaken) throw objectExists(write.key);
    }
    const token = utf8(state.stagingToken);
    const inToken = await repository.kv.get(token, write.key);
    try {
      await repository.kv.setIf(token, write.key, value, inToken?.predicate);
    } catch (error) {
      if (isCoded(error, "predicate_failed")) continue;
      throw error;
    }
    wasStaged = true;
    if ((await findBranch(repository, branch)).state.stagingToken === state.stagingToken) return;
  }
  throw tryAgain(branch);
}

function isOwn(shown: StagedRecord | undefined, nonce: Uint8Array): boolean {
  return shown?.nonce !== undefined && equalBytes(shown.nonce, nonce);
}

/** Whether nothing is committed under the key, or only what this very write put there before its token was committed. */
function isOwnCommitted(committed: ValueRecord | undefined, record: ValueRecord): boolean {
  return committed === undefined || equalBytes(committed.data, record.data);
}

function objectExists(key: Uint8Array): CodedError {
  const path = new TextDecoder().decode(key);
  return new CodedError("exists", "object_exists", `Cannot write "${path}": it exists`, {
    details: { path },
  });
}

function tryAgain(branch: string): CodedError {
  return new CodedError(
    "conflict",
    "try_again",
    `Cannot write to branch "${branch}": others kept committing it meanwhile; try again`,
    { details: { branch } },
  );
}
