import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import { type Commit, Commits, correctedDate } from "./commits.ts";
import { commitsSince, mergeBase } from "./history.ts";

const PARTITION = utf8("r/repo");

/** Makes commits; `isDated` says whether they have corrected dates, as those that earlier versions made have not. */
class Graph {
  readonly kv: KvStore = openMemoryKv();
  readonly commits = new Commits(this.kv, PARTITION);
  readonly all: Commit[] = [];
  readonly #isDated: boolean;

  constructor(isDated = true) {
    this.#isDated = isDated;
  }

  async add(seconds: number, parents: readonly Commit[] = []): Promise<Commit> {
    const creationDate = { seconds, nanos: 0 };
    const corrected = this.#isDated ? correctedDate(creationDate, parents) : undefined;
    const commit = await this.commits.put({
      committer: "tester",
      message: `commit ${this.all.length}`,
      creationDate,
      metaRangeId: "",
      metadata: {},
      parents: parents.map(({ id }) => id),
      generation: 1 + Math.max(0, ...parents.map(({ generation }) => generation)),
      ...(corrected === undefined ? {} : { correctedDate: corrected }),
    });
    this.all.push(commit);
    return commit;
  }

  ancestors({ id }: Commit): Set<string> {
    const found = new Set([id]);
    for (const one of found) for (const parent of this.byId(one).parents) found.add(parent);
    return found;
  }

  byId(id: string): Commit {
    return this.all.find((commit) => commit.id === id)!;
  }
}

/** Draws a history whose dates jump back and forth. */
async function drawGraph(random: Randomness, isDated: boolean): Promise<Graph> {
  const graph = new Graph(isDated);
  const draw = (below: number) => Math.floor(random.fraction() * below);
  await graph.add(draw(50));
  for (let i = 0; i < 40; i++) {
    const parents = [graph.all[draw(graph.all.length)]!, graph.all[draw(graph.all.length)]!];
    await graph.add(draw(50), parents.slice(0, parents[0] === parents[1] ? 1 : 1 + draw(2)));
  }
  return graph;
}

for (const isDated of [true, false]) {
  const by = isDated ? "corrected date" : "generation";
  test(`the merge base is a common ancestor, the highest by ${by}, whatever clocks have shown`, async () => {
    for (let seed = 0; seed < 20; seed++) {
      const graph = await drawGraph(seededRandomness(seed), isDated);
      const rank = ({ correctedDate, generation }: Commit) => correctedDate ?? generation;
      for (const left of graph.all) {
        for (const right of graph.all) {
          const theirs = graph.ancestors(right);
          const common = [...graph.ancestors(left)].filter((id) => theirs.has(id)).map((id) =>
            graph.byId(id)
          );
          const [expected] = common.sort((a, b) => rank(b) - rank(a) || (a.id < b.id ? -1 : 1));
          assert.equal((await mergeBase(graph.commits, left, right))?.id, expected!.id, `seed ${seed}`);
        }
      }
    }
  });

  test(`commits since another one are those that it is not made on, walked by ${by}`, async () => {
    for (let seed = 0; seed < 20; seed++) {
      const graph = await drawGraph(seededRandomness(seed), isDated);
      for (const from of graph.all.slice(-8)) {
        for (const stop of graph.all) {
          const without = graph.ancestors(stop);
          without.delete(stop.id);
          const expected = [...graph.ancestors(from)].filter((id) => !without.has(id)).sort();
          const found = await Array.fromAsync(
            commitsSince(graph.commits, from, { stop, firstParents: false }),
          );
          assert.deepEqual(found.map(({ id }) => id).sort(), expected, `seed ${seed}`);
        }
      }
    }
  });
}

test("a corrected date is above that of every ancestor, and only commits whose parents all have one have one", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const graph = await drawGraph(seededRandomness(seed), true);
    for (const { parents, correctedDate, creationDate } of graph.all) {
      assert.ok(correctedDate! >= creationDate.seconds * 1000);
      for (const parent of parents) assert.ok(correctedDate! > graph.byId(parent).correctedDate!);
    }
  }
  const old = await new Graph(false).add(5), dated = await new Graph().add(5);
  assert.equal(correctedDate({ seconds: 9, nanos: 0 }, [dated, old]), undefined);
  assert.equal(correctedDate({ seconds: 9, nanos: 999 }, [dated]), 9000);
  assert.equal(correctedDate({ seconds: 2, nanos: 0 }, [dated]), 5001);
  assert.equal(correctedDate({ seconds: -7, nanos: 0 }, []), 1);
});

test("a branch on which many are merged again and again finds what it has of one without walking its history", async () => {
  const graph = new Graph();
  const root = await graph.add(1);
  const branches = Array.from({ length: 8 }, () => root);
  let main = root, time = 1, last = root;
  for (let round = 0; round < 150; round++) {
    for (let i = 0; i < branches.length; i++) {
      last = branches[i]!;
      branches[i] = await graph.add(++time, [last]);
      main = await graph.add(++time, [main, branches[i]!]);
    }
  }
  const merged = branches[7]!;
  const next = await graph.add(++time, [merged]);
  let read = 0;
  const kv = hookedKv(graph.kv, { before: ({ call }) => void (call === "get" && read++) });
  const commits = new Commits(kv, PARTITION);
  assert.equal((await mergeBase(commits, main, next))?.id, merged.id);
  assert.ok(read < 10, `${read} of ${graph.all.length} commits were read`);
});
