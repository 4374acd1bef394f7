/**
 * Random histories held against plain maps: writes, commits, merges, reverts, cherry-picks and resets on several branches.
 *
 * After each step every branch shows what its map holds, and every commit's metarange ID is the one that its records have
 * when they are written from scratch: the law that IDs are a function of the records alone.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isCoded } from "../../base/errors.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { canonicalModel } from "../../tests/support/canonical.ts";
import {
  collect,
  contents,
  type TestEngine,
  testEngine,
  WHO,
  write,
} from "../../tests/support/test_engine.ts";
import type { ValueRecord } from "../committed/mod.ts";
import { entryWeight } from "../objects/mod.ts";
import { Repositories } from "../refs/mod.ts";
import { Repository } from "../repository.ts";

type Contents = Record<string, string>;

interface BranchModel {
  committed: Contents;
  shown: Contents;
}

const RAGGEDNESS = 5;

class Model {
  readonly branches = new Map<string, BranchModel>();
  readonly commits = new Map<string, Contents>();
}

const equal = (a: Contents, b: Contents) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (a: Contents) => Object.entries(a).sort(([x], [y]) => (x < y ? -1 : 1));

/** Merges maps key by key; `undefined` on a conflict. */
function mergeMaps(base: Contents, source: Contents, destination: Contents): Contents | undefined {
  const merged: Contents = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(source), ...Object.keys(destination)])) {
    const [b, s, d] = [base[key], source[key], destination[key]];
    if (s !== b && d !== b && s !== d) return undefined;
    const result = s === b ? d : s;
    if (result !== undefined) merged[key] = result;
  }
  return merged;
}

class Run {
  readonly #engine: TestEngine;
  readonly #random: Randomness;
  readonly #model = new Model();
  #repository!: Repository;

  constructor(seed: number) {
    this.#random = seededRandomness(seed);
    this.#engine = testEngine();
  }

  async start(): Promise<void> {
    const { store, kv, context, objects } = this.#engine;
    await store.createRepository("repo", { committer: WHO, raggedness: RAGGEDNESS });
    this.#repository = new Repository(context, await new Repositories(kv).get("repo"), objects);
    this.#model.branches.set("main", { committed: {}, shown: {} });
    this.#model.commits.set(await store.resolve("repo", "main"), {});
  }

  async step(): Promise<void> {
    const steps = [
      this.#write,
      this.#write,
      this.#commit,
      this.#commit,
      this.#branch,
      this.#merge,
      this.#pick,
      this.#reset,
    ];
    await this.#choose(steps).call(this);
  }

  async check(where: string): Promise<void> {
    const { store } = this.#engine;
    for (const [name, { shown, committed }] of this.#model.branches) {
      assert.deepEqual(await contents(store, name), Object.fromEntries(sorted(shown)), `${where} ${name}`);
      const changed = new Set([...Object.keys(shown), ...Object.keys(committed)]);
      for (const key of changed) if (shown[key] === committed[key]) changed.delete(key);
      const status = await collect(store.status("repo", name));
      assert.deepEqual(status.map(({ path }) => path), [...changed].sort(), `${where} ${name}`);
    }
  }

  /** Every commit still shows what it held, under the canonical ID. */
  async checkCommits(): Promise<void> {
    const { store } = this.#engine;
    for (const [id, expected] of this.#model.commits) {
      assert.deepEqual(await contents(store, id), Object.fromEntries(sorted(expected)));
      const { metaRangeId } = await store.getCommit("repo", id);
      if (metaRangeId === "") continue;
      const records: ValueRecord[] = [];
      for await (const block of this.#repository.metarange(metaRangeId).records()) records.push(...block);
      const { chunking } = this.#repository.record;
      assert.equal(metaRangeId, canonicalModel(records, chunking, entryWeight).metarangeId);
    }
  }

  async #write(): Promise<void> {
    const [name, branch] = this.#anyBranch();
    const changes: Record<string, string | undefined> = {};
    for (let i = 1 + Math.floor(this.#random.fraction() * 8); i > 0; i--) {
      const key = this.#choose([..."abcdefghijklmnop"]) + this.#choose(["", "/x", "/y"]);
      changes[key] = this.#random.fraction() < 0.35
        ? undefined
        : String(Math.floor(this.#random.fraction() * 3));
    }
    await write(this.#engine.store, name, changes);
    const shown = { ...branch.shown };
    for (const [key, value] of Object.entries(changes)) {
      if (value === undefined) delete shown[key];
      else shown[key] = value;
    }
    branch.shown = shown;
  }

  async #commit(): Promise<void> {
    const [name, branch] = this.#anyBranch();
    const isChanged = !equal(branch.shown, branch.committed);
    const id = await this.#attempt(
      async () => (await this.#engine.store.commit("repo", name, { message: "m", committer: WHO })).id,
      isChanged ? undefined : ["no_changes"],
    );
    if (id) this.#landed(branch, id, branch.shown);
  }

  async #branch(): Promise<void> {
    if (this.#model.branches.size >= 4) return;
    const name = `b${this.#model.branches.size}`;
    const [id, held] = this.#anyCommit();
    await this.#engine.store.createBranch("repo", name, id, WHO);
    this.#model.branches.set(name, { committed: held, shown: held });
  }

  async #merge(): Promise<void> {
    const { store } = this.#engine;
    const [source, from] = this.#anyBranch();
    const [destination, to] = this.#anyBranch();
    const base = await this.#baseOf(source, destination);
    const isDirty = !equal(to.shown, to.committed);
    const merged = mergeMaps(base, from.committed, to.committed);
    const allowed = isDirty
      ? ["branch_dirty", "nothing_to_merge"]
      : merged
      ? ["nothing_to_merge"]
      : ["merge_conflict", "nothing_to_merge"];
    const id = await this.#attempt(
      async () => (await store.merge("repo", source, destination, { committer: WHO })).reference,
      allowed,
    );
    if (!id) return;
    assert.ok(merged && !isDirty, "a merge landed that had to be refused");
    this.#landed(to, id, merged);
  }

  /** Reverts or picks a commit that is no merge. */
  async #pick(): Promise<void> {
    const { store } = this.#engine;
    const [name, branch] = this.#anyBranch();
    const [commit, after] = this.#anyCommit();
    const { parents } = await store.getCommit("repo", commit);
    if (parents.length !== 1) return;
    const before = this.#model.commits.get(parents[0]!)!;
    const isRevert = this.#random.fraction() < 0.5;
    const [base, source] = isRevert ? [after, before] : [before, after];
    const merged = mergeMaps(base, source, branch.committed);
    const isDirty = !equal(branch.shown, branch.committed);
    const expected = isDirty
      ? ["branch_dirty"]
      : !merged
      ? ["merge_conflict"]
      : equal(merged, branch.committed)
      ? ["no_changes"]
      : undefined;
    const options = { committer: WHO };
    const id = await this.#attempt(
      async () =>
        (isRevert
          ? await store.revert("repo", name, commit, options)
          : await store.cherryPick("repo", name, commit, options))
          .id,
      expected,
    );
    if (id) this.#landed(branch, id, merged!);
  }

  async #reset(): Promise<void> {
    const { store } = this.#engine;
    const [name, branch] = this.#anyBranch();
    if (this.#random.fraction() < 0.3) {
      const [id, held] = this.#anyCommit();
      await store.hardReset("repo", name, id, WHO);
      branch.committed = branch.shown = held;
      return;
    }
    const prefix = this.#choose(["", "a", "c/", "k"]);
    await store.reset("repo", name, { prefix }, WHO);
    const outside = (held: Contents) => Object.entries(held).filter(([key]) => !key.startsWith(prefix));
    const inside = (held: Contents) => Object.entries(held).filter(([key]) => key.startsWith(prefix));
    branch.shown = Object.fromEntries([...outside(branch.shown), ...inside(branch.committed)]);
  }

  /** Runs a step that must land, or fail with one of the codes; returns its result if it landed. */
  async #attempt(
    work: () => Promise<string>,
    codes: readonly string[] | undefined,
  ): Promise<string | undefined> {
    try {
      return await work();
    } catch (error) {
      assert.ok(isCoded(error) && codes?.includes(error.code), `unexpected failure: ${error}`);
      return undefined;
    }
  }

  #landed(branch: BranchModel, id: string, held: Contents): void {
    branch.committed = branch.shown = held;
    this.#model.commits.set(id, held);
  }

  /** The nearest common ancestor by a search of its own: of highest generation, then of smallest ID. */
  async #baseOf(left: string, right: string): Promise<Contents> {
    const { store } = this.#engine;
    const ancestors = async (ref: string) =>
      new Set((await collect(store.log("repo", ref, { allParents: true }))).map(({ id }) => id));
    const [mine, theirs] = [await ancestors(left), await ancestors(right)];
    const common = await Promise.all(
      [...mine].filter((id) => theirs.has(id)).map((id) => store.getCommit("repo", id)),
    );
    common.sort((a, b) => b.generation - a.generation || (a.id < b.id ? -1 : 1));
    return this.#model.commits.get(common[0]!.id)!;
  }

  #anyBranch(): [string, BranchModel] {
    return this.#choose([...this.#model.branches]);
  }

  #anyCommit(): [string, Contents] {
    return this.#choose([...this.#model.commits]);
  }

  #choose<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random.fraction() * from.length)]!;
  }
}

for (let seed = 1; seed <= 30; seed++) {
  test(`a random history of 60 steps is what plain maps say (seed ${seed})`, async () => {
    const run = new Run(seed);
    await run.start();
    for (let step = 0; step < 60; step++) {
      await run.step();
      await run.check(`step ${step}`);
    }
    await run.checkCommits();
  });
}
