/**
 * Blame: which commit last changed each object.
 *
 * Every object of the ref's commit waits at that commit. Commits are taken newest first, none before all that are made on it.
 * One is compared with its parents: what is equal in a parent goes on to wait there, what differs from all of them is the
 * commit's own.
 *
 *     c3   a b c d      a differs from c2: c3 made it
 *     c2     b c d      nothing differs from c1 within the paths: no range is opened
 *     c1     b c d      d differs from c0: c1 made it
 *     c0     b c        the first commit: what still waits is its own
 *
 * What waits is handed on as a whole and only what differs is taken out, so a commit costs its changes and not the objects.
 */

import { Buffer } from "node:buffer";
import { afterKey, asBuffer, compareBytes, equalBytes, lossyText } from "../../base/bytes.ts";
import type { BlameItem, BlameOptions } from "../../drivers/store.ts";
import {
  BlockCollector,
  diffMetaranges,
  type KeyBounds,
  type Metarange,
  NO_METARANGE,
} from "../committed/mod.ts";
import { type Commit, CommitQueue, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { PathFilter, sharesRanges } from "./path_filter.ts";
import { commitInfo } from "./stats.ts";

/** So few keys are looked up one by one: an old object does not make the walk read every later change. */
const FEW_KEYS = 16;

/** A key as a text that maps back to its bytes: one character a byte. */
type KeyText = string;

/** Yields the objects of a ref's commit under the paths, in key order, with the commit that last changed each. */
export async function* blame(
  repository: Repository,
  ref: string,
  options: BlameOptions = {},
): AsyncGenerator<readonly BlameItem[]> {
  const { commit: head } = await resolveRef(repository.refs, repository.commits, ref);
  const bounds = options.paths ? new PathFilter(options.paths).bounds : [{}];
  // Maps keep the order in which keys are first set: key order.
  const makers = new Map<KeyText, Commit | undefined>();
  for await (const block of keysWithin(repository.metarange(head.metaRangeId), bounds)) {
    for (const key of block) makers.set(textOf(key), undefined);
  }
  const walk = new Walk(repository, { bounds, allParents: options.allParents ?? false });
  for await (const { commit, keys } of walk.from(head, new Set(makers.keys()))) {
    for (const key of keys) makers.set(key, commit);
  }
  const collector = new BlockCollector<BlameItem>();
  for (const [key, commit] of makers) {
    const block = collector.add({ path: lossyText(keyOf(key)), commit: commitInfo(commit!) });
    if (block) yield block;
  }
  yield collector.take();
}

class Walk {
  readonly #repository: Repository;
  readonly #bounds: readonly KeyBounds[];
  readonly #allParents: boolean;
  readonly #queue = new CommitQueue();
  /** The keys that wait at each commit in the queue. */
  readonly #waiting = new Map<string, Set<KeyText>>();

  constructor(
    repository: Repository,
    { bounds, allParents }: { bounds: readonly KeyBounds[]; allParents: boolean },
  ) {
    this.#repository = repository;
    this.#bounds = bounds;
    this.#allParents = allParents;
  }

  /** Yields commits with the keys that they made. */
  async *from(head: Commit, keys: Set<KeyText>): AsyncGenerator<{ commit: Commit; keys: Set<KeyText> }> {
    this.#wait(head, keys);
    for (let commit = this.#queue.pop(); commit; commit = this.#queue.pop()) {
      const here = this.#waiting.get(commit.id)!;
      this.#waiting.delete(commit.id);
      const own = await this.#handOn(commit, here);
      if (own.size > 0) yield { commit, keys: own };
    }
  }

  /** Hands keys on to the parents in which they are equal; returns those that are equal in none. */
  async #handOn(commit: Commit, keys: Set<KeyText>): Promise<Set<KeyText>> {
    const after = this.#repository.metarange(commit.metaRangeId);
    let left = keys;
    for (const id of this.#allParents ? commit.parents : commit.parents.slice(0, 1)) {
      if (left.size === 0) break;
      const parent = await this.#repository.commits.get(id);
      const changed = await this.#differing(this.#repository.metarange(parent.metaRangeId), {
        after,
        keys: left,
      });
      for (const key of changed) left.delete(key);
      this.#wait(parent, left);
      left = changed;
    }
    return left;
  }

  /** Lets keys wait at a commit. The smaller set is poured into the larger, so a key is moved a few times at most. */
  #wait(commit: Commit, keys: Set<KeyText>): void {
    if (keys.size === 0) return;
    const there = this.#waiting.get(commit.id);
    if (!there) {
      this.#queue.push(commit);
      this.#waiting.set(commit.id, keys);
      return;
    }
    const [small, large] = there.size < keys.size ? [there, keys] : [keys, there];
    for (const key of small) large.add(key);
    this.#waiting.set(commit.id, large);
  }

  /** Returns which of the keys have other records in two metaranges. */
  async #differing(
    before: Metarange,
    { after, keys }: { after: Metarange; keys: ReadonlySet<KeyText> },
  ): Promise<Set<KeyText>> {
    const changed = new Set<KeyText>();
    if (keys.size <= FEW_KEYS) {
      for (const text of keys) if (await differsAt(before, after, keyOf(text))) changed.add(text);
      return changed;
    }
    for (const within of this.#bounds) {
      if (await sharesRanges(before, after, within)) continue;
      for await (const block of diffMetaranges(before, after, within)) {
        for (const { key } of block) {
          const text = textOf(key);
          if (keys.has(text)) changed.add(text);
        }
      }
    }
    return changed;
  }
}

async function* keysWithin(
  metarange: Metarange,
  bounds: readonly KeyBounds[],
): AsyncGenerator<readonly Uint8Array[]> {
  if (metarange.id === NO_METARANGE) return;
  for (const { start, end } of bounds) {
    for await (const block of metarange.records(start)) {
      const keys = block.map(({ key }) => key);
      const isPast = end !== undefined && keys.length > 0 && compareBytes(keys.at(-1)!, end) >= 0;
      yield isPast ? keys.filter((key) => compareBytes(key, end) < 0) : keys;
      if (isPast) break;
    }
  }
}

async function differsAt(before: Metarange, after: Metarange, key: Uint8Array): Promise<boolean> {
  if (await sharesRanges(before, after, { start: key, end: afterKey(key) })) return false;
  const left = await before.get(key), right = await after.get(key);
  return !left || !right || !equalBytes(left.identity, right.identity);
}

function textOf(key: Uint8Array): KeyText {
  return asBuffer(key).toString("latin1");
}

function keyOf(text: KeyText): Uint8Array {
  return Buffer.from(text, "latin1");
}
