/**
 * Staged changes on the destination of a merge: refused, or kept where the merge does not touch them.
 *
 * Kept ones are copied to a token that takes the place of the sampled ones. **The sampled tokens themselves must not stay:**
 * a staged record that equals the committed one is no change today, but over a merge that changes its path it would undo
 * what was merged.
 */

import { compareBytes, lossyText, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { KvEntry } from "../../kv/store.ts";
import { BlockCursor, type Metarange, type RecordChange } from "../committed/mod.ts";
import { sameContent } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { encodeStaged, type StagedRecord, stagedRecords } from "../staging/mod.ts";
import { stagedChanges } from "./diff.ts";
import type { SettledBlock } from "./settle_conflicts.ts";

const MAX_PATHS_SHOWN = 1000;
/** Each batch is a durable transaction of the KV store. */
const BATCH = 8192;

/** What is staged over a commit; tokens are newest first. */
export interface StagedOver {
  readonly metarange: Metarange;
  readonly tokens: readonly string[];
}

/** Refuses a branch with staged changes, judged on a sample of it. */
export async function refuseDirty(
  repository: Repository,
  { branch, verb }: { readonly branch: string; readonly verb: string },
  staged: StagedOver,
): Promise<void> {
  if (!(await hasStaged(repository, staged))) return;
  throw new CodedError(
    "conflict",
    "branch_dirty",
    `Cannot change branch "${branch}": it has uncommitted changes`,
    { details: { branch, verb } },
  );
}

async function hasStaged(repository: Repository, staged: StagedOver): Promise<boolean> {
  for await (const block of stagedChanges(repository, staged)) if (block.length > 0) return true;
  return false;
}

/** Staged changes that a merge is to leave alone. */
export class StagedGuard {
  readonly #repository: Repository;
  readonly #branch: string;
  readonly #staged: StagedOver;
  readonly #met: string[] = [];
  #count = 0;

  private constructor(repository: Repository, branch: string, staged: StagedOver) {
    this.#repository = repository;
    this.#branch = branch;
    this.#staged = staged;
  }

  /** Returns a guard; `undefined` when nothing is staged that has to be kept. */
  static async over(
    repository: Repository,
    branch: string,
    staged: StagedOver,
  ): Promise<StagedGuard | undefined> {
    return await hasStaged(repository, staged) ? new StagedGuard(repository, branch, staged) : undefined;
  }

  /** Passes a merge's changes on, and remembers those that meet a staged one. */
  async *watch(blocks: AsyncIterable<SettledBlock>): AsyncGenerator<SettledBlock> {
    const staged = new BlockCursor<RecordChange>(stagedChanges(this.#repository, this.#staged));
    try {
      for await (const block of blocks) {
        for (const { key } of block.changes) {
          let kept = staged.peek() ?? await staged.load();
          while (kept && compareBytes(kept.key, key) < 0) {
            staged.advance();
            kept = staged.peek() ?? await staged.load();
          }
          if (kept && compareBytes(kept.key, key) === 0) this.#meet(key);
        }
        yield block;
      }
    } finally {
      await staged.close();
    }
  }

  /** Fails with `branch_dirty` when the merge changes a path that is staged. */
  throwIfMet(): void {
    if (this.#count === 0) return;
    const paths = this.#count === 1 ? `"${this.#met[0]}"` : `${this.#count} paths`;
    throw new CodedError(
      "conflict",
      "branch_dirty",
      `Cannot change branch "${this.#branch}": the merge changes ${paths}, which ${
        this.#count === 1 ? "has" : "have"
      } uncommitted changes`,
      { details: { branch: this.#branch, verb: "merge", count: this.#count, paths: this.#met } },
    );
  }

  /** Copies the staged changes to a fresh token; returns it. */
  async copy(): Promise<string> {
    const { kv } = this.#repository;
    const token = this.#repository.newToken();
    let batch: KvEntry[] = [];
    for await (const block of stagedRecords(kv, this.#staged.tokens)) {
      for (const record of block) {
        if (!(await this.#isChange(record))) continue;
        batch.push({ key: record.key, value: encodeStaged(record) });
      }
      if (batch.length < BATCH) continue;
      await kv.setMany(utf8(token), batch);
      batch = [];
    }
    if (batch.length > 0) await kv.setMany(utf8(token), batch);
    return token;
  }

  async #isChange({ key, record }: StagedRecord): Promise<boolean> {
    const committed = await this.#staged.metarange.get(key);
    return committed && record ? !sameContent(committed, record) : committed !== record;
  }

  #meet(key: Uint8Array): void {
    this.#count++;
    if (this.#met.length < MAX_PATHS_SHOWN) this.#met.push(lossyText(key));
  }
}
