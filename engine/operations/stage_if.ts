/**
 * Conditional writes and deletions: staged only while the branch shows under the key what the condition wants.
 *
 * What is judged and what is written over are one reading of the staging token, so of several at once one is staged. A write
 * may have to follow its branch to another token, as {@link stageWrites} does. Its record carries a nonce, by which it then
 * recognises its own first write:
 *
 *     own record shows        it holds, unless somebody committed the path beneath it: then it withdraws
 *     something else shows    its own was in a token that was dropped, and never was: it is judged anew
 */

import { equalBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";
import { entryRecord } from "../objects/mod.ts";
import type { ValueRecord } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import { decodeStaged, encodeStaged, lookUpStaged, type StagedRecord } from "../staging/mod.ts";
import { findBranch } from "./landing.ts";
import { MAX_ATTEMPTS, type StagedWrite, tryAgain } from "./stage.ts";

/** Whether a write may take the place of what a branch shows under its key: `undefined` is nothing. */
export type Condition = (shown: ValueRecord | undefined) => boolean;

/**
 * Stages one write if its condition holds. Returns `refused` when it does not and the write was never staged, `withdrawn`
 * when it ceased to hold while the write was on its way: then commits may name the object.
 */
export async function stageIf(
  repository: Repository,
  branch: string,
  { write, condition }: { readonly write: StagedWrite; readonly condition: Condition },
): Promise<"staged" | "refused" | "withdrawn"> {
  const { kv } = repository;
  const { key } = write;
  const nonce = repository.randomness.bytes(16);
  const own = write.entry && entryRecord(key, write.entry);
  const value = encodeStaged({ key, record: own, isUnflushed: write.isUnflushed, nonce });
  /** What may stand beneath our own record without anybody having come: what was there, and what we judged. */
  let known: readonly (ValueRecord | undefined)[] = [];
  let wasStaged = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const seen = await findBranch(repository, branch);
    const { state } = seen;
    const token = utf8(state.stagingToken);
    // What is judged and what is written over must be one reading, or somebody else's first write would be written over.
    const inToken = await kv.get(token, key);
    const staged = inToken
      ? decodeStaged(key, inToken.value)
      : await lookUpStaged(kv, state.sealedTokens, key);
    const { metaRangeId } = await repository.commits.get(state.commitId);
    const committed = await repository.metarange(metaRangeId).get(key);
    const shown = staged ? staged.record : committed;
    // What was read of a token that was dropped meanwhile may be gone: it counts only if the branch is as it was seen.
    if ((await findBranch(repository, branch)).record !== seen.record) continue;
    const isRefused = !condition(shown) && !(wasStaged && isSame(shown, own));
    if (!wasStaged) {
      if (isRefused) return "refused";
      known = [committed, shown, own];
    } else if (staged && isOwn(staged, nonce)) {
      if (!known.some((one) => isSame(one, committed))) {
        const over = encodeStaged({ key, record: committed, isUnflushed: false });
        if (!(await trySetIf(kv, { token, key, value: over, seen: inToken }))) continue;
        return "withdrawn";
      }
    } else if (isRefused) {
      return "withdrawn";
    }
    if (!(await trySetIf(kv, { token, key, value, seen: inToken }))) continue;
    wasStaged = true;
    // A merge may bring the path without sealing an empty token: then it is looked at once more.
    const after = (await findBranch(repository, branch)).state;
    if (after.stagingToken === state.stagingToken && after.commitId === state.commitId) {
      await repository.checkLive();
      return "staged";
    }
  }
  throw tryAgain(branch);
}

async function trySetIf(
  kv: KvStore,
  { token, key, value, seen }: {
    token: Uint8Array;
    key: Uint8Array;
    value: Uint8Array;
    seen: KvValue | undefined;
  },
): Promise<boolean> {
  try {
    await kv.setIf(token, key, value, seen?.predicate);
    return true;
  } catch (error) {
    if (isCoded(error, "predicate_failed")) return false;
    throw error;
  }
}

function isOwn(shown: StagedRecord, nonce: Uint8Array): boolean {
  return shown.nonce !== undefined && equalBytes(shown.nonce, nonce);
}

/** Whether two records are one and the same write, address included. */
export function isSame(a: ValueRecord | undefined, b: ValueRecord | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && equalBytes(a.data, b.data));
}
