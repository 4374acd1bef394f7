/** Three-way merge over plain maps. */

import type { Model, ModelCommit, Shown } from "./model.ts";
import { fail } from "./operation.ts";

export interface MergeSides {
  readonly base: Shown;
  readonly source: Shown;
  readonly destination: Shown;
}

/** Returns what a merge makes of its destination, and the paths on which both sides made different changes. */
export function expectedMerge(
  { base, source, destination }: MergeSides,
  strategy: "source-wins" | "dest-wins" | undefined,
): { shown: Shown; conflicts: readonly string[] } {
  const shown = new Map<string, string>();
  const conflicts: string[] = [];
  for (const path of new Set([...base.keys(), ...source.keys(), ...destination.keys()])) {
    const [b, s, d] = [base.get(path), source.get(path), destination.get(path)];
    const isConflict = s !== b && d !== b && s !== d;
    if (isConflict && !strategy) conflicts.push(path);
    const text = isConflict ? (strategy === "source-wins" ? s : d) : s === b ? d : s;
    if (text !== undefined) shown.set(path, text);
  }
  return { shown, conflicts };
}

/** Returns the common ancestor of latest corrected date, of those the one with the smallest ID. */
export function nearestBase(model: Model, left: string, right: string): ModelCommit {
  const ours = ancestors(model, left), theirs = ancestors(model, right);
  const [nearest] = [...ours].filter((id) => theirs.has(id)).map((id) => model.commit(id)).sort((a, b) =>
    b.correctedDate! - a.correctedDate! || (a.id < b.id ? -1 : 1)
  );
  return nearest ?? fail(`commits ${left} and ${right} have no common ancestor`);
}

function ancestors(model: Model, from: string): ReadonlySet<string> {
  const found = new Set([from]);
  for (const id of found) for (const parent of model.commit(id).parents) found.add(parent);
  return found;
}

/** Returns a commit and its ancestors through first parents. */
export function firstParents(model: Model, from: string): readonly string[] {
  const found: string[] = [];
  for (let id: string | undefined = from; id !== undefined; id = model.commit(id).parents[0]) found.push(id);
  return found;
}
