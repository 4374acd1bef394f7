/**
 * Walking the graph of commits, children before parents: by falling generation, which is one more than the highest of the
 * parents', or by falling corrected date (`commits.ts`).
 *
 * A branch on which many others are merged comes to have many more generations than each of them. Who looks by generation for
 * what they have in common walks all that it has had since it had as many as the other one: that is most of its history. By
 * date it is what both had since they were last merged.
 */

import { CodedError } from "../../base/errors.ts";
import { millisecondsOf } from "../../base/clock.ts";
import type { Commit, Commits } from "./commits.ts";

/** Yields a commit and its ancestors through first parents, newest first. */
export async function* firstParents(commits: Commits, from: Commit): AsyncGenerator<Commit> {
  for (let commit: Commit | undefined = from; commit;) {
    yield commit;
    commit = commit.parents[0] === undefined ? undefined : await commits.get(commit.parents[0]);
  }
}

/** Yields a commit and all its ancestors, each once, children before parents. */
export async function* allAncestors(commits: Commits, from: Commit): AsyncGenerator<Commit> {
  const waiting = new CommitQueue();
  const seen = new Set([from.id]);
  waiting.push(from);
  for (let commit = waiting.pop(); commit; commit = waiting.pop()) {
    yield commit;
    for (const parent of commit.parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      waiting.push(commits.known(parent) ?? await commits.get(parent));
    }
  }
}

/**
 * Yields a commit and its ancestors, children before parents, without what `stop` is made on: the ancestors of `stop`, but
 * not `stop` itself. With `firstParents` only those along first parents.
 *
 * Both sides are walked together, so the cost is the history between them. Once nothing waits that `stop` does not reach,
 * nothing more can come.
 */
export async function* commitsSince(
  commits: Commits,
  from: Commit,
  { stop, firstParents }: { readonly stop: Commit; readonly firstParents: boolean },
): AsyncGenerator<Commit> {
  const WANTED = 1, STOPPED = 2;
  const marks = new Map<string, number>();
  const waiting = new CommitQueue(orderFrom(from, stop));
  let wanted = 0;
  function mark(commit: Commit, side: number): void {
    const before = marks.get(commit.id) ?? 0;
    const after = before | side;
    if (before === 0) waiting.push(commit);
    marks.set(commit.id, after);
    wanted += Number(after === WANTED) - Number(before === WANTED);
  }
  mark(from, WANTED);
  for (const parent of stop.parents) mark(await commits.get(parent), STOPPED);
  while (wanted > 0) {
    const commit = waiting.pop()!;
    const side = marks.get(commit.id)!;
    if (side === WANTED) {
      wanted--;
      yield commit;
    }
    if (commit.id === stop.id) continue;
    const parents = side === WANTED && firstParents ? commit.parents.slice(0, 1) : commit.parents;
    for (const parent of parents) mark(commits.known(parent) ?? await commits.get(parent), side);
  }
}

/**
 * Returns the nearest common ancestor, `undefined` when there is none. Of several, none of which is an ancestor of another, it
 * is the one of latest corrected date (where a commit has none: of highest generation), then of smallest ID.
 *
 * When a commit is taken, all its descendants were taken before and have marked it.
 */
export async function mergeBase(commits: Commits, left: Commit, right: Commit): Promise<Commit | undefined> {
  const marks = new Map<string, number>();
  const waiting = new CommitQueue(orderFrom(left, right));
  function mark(commit: Commit, side: number): void {
    if (!marks.has(commit.id)) waiting.push(commit);
    marks.set(commit.id, (marks.get(commit.id) ?? 0) | side);
  }
  mark(left, 1);
  mark(right, 2);
  for (let commit = waiting.pop(); commit; commit = waiting.pop()) {
    const sides = marks.get(commit.id)!;
    if (sides === 3) return commit;
    for (const parent of commit.parents) mark(commits.known(parent) ?? await commits.get(parent), sides);
  }
  return undefined;
}

/** Returns the newest commit along first parents made at or before a time in milliseconds. Fails with `no_commit_at_time`. */
export async function commitAtTime(commits: Commits, from: Commit, timeMs: number): Promise<Commit> {
  for await (const commit of firstParents(commits, from)) {
    if (millisecondsOf(commit.creationDate) <= timeMs) return commit;
  }
  const time = new Date(timeMs).toISOString();
  throw new CodedError(
    "not_found",
    "no_commit_at_time",
    `Cannot find a commit at ${time}: the history begins later`,
  );
}

/** Whether a commit is taken before another one: always before its ancestors. */
type CommitOrder = (a: Commit, b: Commit) => boolean;

/** Returns the order for a walk from some commits. */
function orderFrom(...heads: readonly Commit[]): CommitOrder {
  return heads.every(({ correctedDate }) => correctedDate !== undefined) ? byDate : byGeneration;
}

function byDate(a: Commit, b: Commit): boolean {
  const ofA = a.correctedDate!, ofB = b.correctedDate!;
  return ofA !== ofB ? ofA > ofB : a.id < b.id;
}

function byGeneration(a: Commit, b: Commit): boolean {
  return a.generation !== b.generation ? a.generation > b.generation : a.id < b.id;
}

/** A heap of commits: the first in their order comes first, which is by generation unless it is told another. */
export class CommitQueue {
  readonly #comesBefore: CommitOrder;
  readonly #heap: Commit[] = [];

  constructor(order: CommitOrder = byGeneration) {
    this.#comesBefore = order;
  }

  push(commit: Commit): void {
    const heap = this.#heap;
    let at = heap.push(commit) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#comesBefore(commit, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = commit;
  }

  pop(): Commit | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let at = 0;
    while (true) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#comesBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#comesBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
