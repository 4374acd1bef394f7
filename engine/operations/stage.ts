/**
 * Staging writes.
 *
 * The object first, then the staged record, then the branch is read again: a write is acknowledged only if its token is
 * still the current staging token. Sealed is not enough, since the commit that sealed it may have scanned past the record;
 * then it is written again to the token that is current now.
 *
 * An address that was staged once may be in a commit from then on, whatever became of the write: it is never deleted here.
 */

import { compareBytes, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { KvEntry } from "../../kv/store.ts";
import { decodeEntry, type Entry, entryRecord, sameContent } from "../objects/mod.ts";
import { NO_METARANGE, NOT_CACHED } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import { encodeStaged } from "../staging/mod.ts";
import { findBranch } from "./landing.ts";

/** How often a write follows its branch to another staging token. */
export const MAX_ATTEMPTS = 100;
/** From so many writes on, reading a metarange's list of ranges whole is worth it. */
const MANY_WRITES = 64;

/** A write to stage: an entry, or a tombstone when there is none. */
export interface StagedWrite {
  readonly key: Uint8Array;
  readonly entry: Entry | undefined;
  /** Whether the entry's object was uploaded for this write, so that nothing else refers to it. */
  readonly isFresh: boolean;
  /** Whether the entry's object may not be on disk yet. */
  readonly isUnflushed: boolean;
  /** Whether power loss may take the write within a second. */
  readonly isRelaxed?: boolean;
}

/** A new object whose content was committed already, and to which nothing ever referred. */
export interface UnusedObject {
  readonly address: string;
  /** The entry that was kept instead. */
  readonly kept: Entry;
}

/**
 * Stages writes with distinct keys; acknowledged when it returns, and durable unless all are relaxed. Returns the new objects
 * that are not needed. Fails with `branch_not_found`, `try_again`, `repository_not_found`.
 */
export async function stageWrites(
  repository: Repository,
  branch: string,
  writes: readonly StagedWrite[],
): Promise<readonly UnusedObject[]> {
  const ordered = inOrder(writes);
  const relaxed = writes.every(({ isRelaxed }) => isRelaxed);
  const everStaged = new Set<StagedWrite>();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { state } = await findBranch(repository, branch);
    const metarange = repository.metarange((await repository.commits.get(state.commitId)).metaRangeId);
    const isEmpty = metarange.id === NO_METARANGE;
    // Otherwise each look-up searches the metarange's file for its range.
    if (ordered.length >= MANY_WRITES) await metarange.ranges();
    const unused: UnusedObject[] = [];
    const staged: KvEntry[] = [];
    for (const write of ordered) {
      const fresh = write.entry && entryRecord(write.key, write.entry);
      let committed = fresh && !isEmpty ? metarange.peek(write.key) : undefined;
      if (committed === NOT_CACHED) committed = await metarange.get(write.key);
      // The same content keeps the committed entry, address included: it is no change.
      const isNoChange = fresh !== undefined && committed !== undefined && sameContent(committed, fresh);
      const record = isNoChange ? committed : fresh;
      if (!isNoChange) everStaged.add(write);
      // Staged by an earlier attempt, it may be the very object that is committed now.
      else if (write.isFresh && !everStaged.has(write)) {
        unused.push({ address: write.entry!.address, kept: decodeEntry(record!.data) });
      }
      const isUnflushed = write.isUnflushed && !isNoChange;
      staged.push({ key: write.key, value: encodeStaged({ key: write.key, record, isUnflushed }) });
    }
    await repository.kv.setMany(utf8(state.stagingToken), staged, { relaxed });
    if ((await findBranch(repository, branch)).state.stagingToken === state.stagingToken) {
      await repository.checkLive();
      return unused;
    }
  }
  throw tryAgain(branch);
}

/** Returns writes in key order; those of a folder that was walked have it already. */
function inOrder(writes: readonly StagedWrite[]): readonly StagedWrite[] {
  const isOrdered = writes.every(({ key }, i) => i === 0 || compareBytes(writes[i - 1]!.key, key) < 0);
  return isOrdered ? writes : [...writes].sort((a, b) => compareBytes(a.key, b.key));
}

/** The failure of a write whose branch was committed under each of its attempts. */
export function tryAgain(branch: string): CodedError {
  return new CodedError(
    "conflict",
    "try_again",
    `Cannot write to branch "${branch}": others kept committing it meanwhile; try again`,
    { details: { branch } },
  );
}
