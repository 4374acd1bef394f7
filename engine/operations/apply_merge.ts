/** Applying a three-way merge to its destination: whole, or not at all when conflicts stay. */

import { CodedError, throwIfAborted } from "../../base/errors.ts";
import type { MergeConflict } from "../../drivers/store.ts";
import {
  type Applied,
  applyChanges,
  type Change,
  type Conflict,
  type MergeInputs,
} from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import { conflictOf, ConflictSettler, type SettledBlock } from "./settle_conflicts.ts";
import type { StagedGuard } from "./staged_guard.ts";

const MAX_CONFLICTS_SHOWN = 1000;

export interface MergeApplication {
  readonly verb: string;
  /** What is merged where, for the message. */
  readonly what: string;
  readonly settler?: ConflictSettler;
  /** Watches over staged changes that are to stay. */
  readonly guard?: StagedGuard | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the metaranges of the three sides. */
export function inputsOf(
  repository: Repository,
  ids: { readonly base: string; readonly source: string; readonly destination: string },
): MergeInputs {
  return {
    base: repository.metarange(ids.base),
    source: repository.metarange(ids.source),
    destination: repository.metarange(ids.destination),
  };
}

/** Writes the metarange that a merge makes of its destination. Fails with `merge_conflict`, `branch_dirty`. */
export async function applyMerge(
  repository: Repository,
  inputs: MergeInputs,
  { verb, what, settler = new ConflictSettler(repository, {}), guard, signal }: MergeApplication,
): Promise<Applied> {
  const conflicts = new ConflictList(repository);
  const settled = settler.changes(inputs);
  const changes = untilConflict(guard ? guard.watch(settled) : settled, conflicts, signal);
  const options = { ...repository.applyOptions, theirs: inputs };
  const applied = await applyChanges(repository.files, inputs.destination, changes, options);
  conflicts.throwIfAny(verb, what);
  guard?.throwIfMet();
  return applied;
}

/** Yields changes up to the first conflict; then only conflicts are gathered, since nothing will land. */
async function* untilConflict(
  blocks: AsyncIterable<SettledBlock>,
  conflicts: ConflictList,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Change[]> {
  for await (const block of blocks) {
    throwIfAborted(signal);
    for (const conflict of block.conflicts) conflicts.add(conflict);
    if (conflicts.count === 0) yield block.changes;
  }
}

/** Conflicts found so far: all counted, the first ones kept. */
class ConflictList {
  readonly #repository: Repository;
  readonly #shown: MergeConflict[] = [];
  #count = 0;

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  get count(): number {
    return this.#count;
  }

  add(conflict: Conflict): void {
    this.#count++;
    if (this.#shown.length < MAX_CONFLICTS_SHOWN) this.#shown.push(conflictOf(this.#repository, conflict));
  }

  throwIfAny(verb: string, what: string): void {
    if (this.#count === 0) return;
    const paths = this.#count === 1 ? `"${this.#shown[0]!.path}"` : `${this.#count} paths`;
    throw new CodedError(
      "conflict",
      "merge_conflict",
      `Cannot ${verb} ${what}: both sides changed ${paths}`,
      { details: { verb, count: this.#count, conflicts: this.#shown } },
    );
  }
}
