import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandomness } from "../../base/randomness.ts";
import { systemClock } from "../../base/clock.ts";
import { utf8 } from "../../base/bytes.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { Commits } from "./commits.ts";
import { parseRefExpression } from "./expression.ts";
import { mergeBase } from "./history.ts";
import { Refs } from "./refs.ts";
import { resolveRef } from "./resolve.ts";

test("parseRefExpression() splits base, steps and scope", () => {
  assert.deepEqual(parseRefExpression("main"), { base: "main", steps: [], scope: "default" });
  assert.deepEqual(parseRefExpression("main~^2~03@"), {
    base: "main",
    steps: [{ kind: "ancestor", count: 1 }, { kind: "parent", count: 2 }, { kind: "ancestor", count: 3 }],
    scope: "committed",
  });
  assert.equal(parseRefExpression("main$").scope, "staged");
  for (const bad of ["", "^", "~2", "@", "main@@", "main@^", "main^x", "main$~"]) {
    assert.throws(() => parseRefExpression(bad), { code: "invalid_ref" }, bad);
  }
});

/**
 * The graph of git's revisions page, B with three parents:
 *
 *     G   H   I   J
 *      \ /     \ /
 *       D   E   F
 *        \  |  / \
 *         \ | /   |
 *          \|/    |
 *           B     C
 *            \   /
 *             \ /
 *              A
 */
async function gitGraph() {
  const kv = openMemoryKv();
  const partition = utf8("repo");
  const commits = new Commits(kv, partition);
  const refs = new Refs(kv, partition, { clock: systemClock, randomness: systemRandomness });
  const ids = new Map<string, string>();
  const parents: Record<string, string> = {
    G: "",
    H: "",
    I: "",
    J: "",
    D: "GH",
    E: "",
    F: "IJ",
    B: "DEF",
    C: "F",
    A: "BC",
  };
  for (const [name, of] of Object.entries(parents)) {
    const parentCommits = await Promise.all([...of].map((parent) => commits.get(ids.get(parent)!)));
    const commit = await commits.put({
      committer: "t",
      message: name,
      creationDate: { seconds: 1, nanos: 0 },
      metaRangeId: "",
      metadata: {},
      parents: parentCommits.map(({ id }) => id),
      generation: 1 + Math.max(0, ...parentCommits.map(({ generation }) => generation)),
    });
    ids.set(name, commit.id);
    await refs.create({ name, isDeleted: false, tagCommitId: commit.id }, { operation: "t", who: "t" });
  }
  const nameOf = async (text: string) => (await resolveRef(refs, commits, text)).commit.message;
  return { commits, refs, ids, nameOf };
}

test("every example at the end of git's revisions page resolves as git says", async () => {
  const { nameOf } = await gitGraph();
  const examples: Record<string, readonly string[]> = {
    A: ["A^0"],
    B: ["A^", "A^1", "A~1"],
    C: ["A^2"],
    D: ["A^^", "A^1^1", "A~2"],
    E: ["B^2", "A^^2"],
    F: ["B^3", "A^^3"],
    G: ["A^^^", "A^1^1^1", "A~3"],
    H: ["D^2", "B^^2", "A^^^2", "A~2^2"],
    I: ["F^", "B^3^", "A^^3^"],
    J: ["F^2", "B^3^2", "A^^3^2"],
  };
  for (const [commit, expressions] of Object.entries(examples)) {
    for (const expression of expressions) assert.equal(await nameOf(expression), commit, expression);
  }
});

test("a step past the root or to a parent that is not there is not found, and says so", async () => {
  const { nameOf } = await gitGraph();
  for (const expression of ["A~4", "G^", "A^3", "B^4", "A~99"]) {
    await assert.rejects(nameOf(expression), { kind: "not_found", code: "ref_beyond_history" }, expression);
  }
  assert.equal(await nameOf("G~0"), "G");
});

test("commit IDs and unique prefixes of four digits or more resolve, ambiguous ones list their candidates", async () => {
  const { nameOf, ids, commits } = await gitGraph();
  const id = ids.get("F")!;
  assert.equal(await nameOf(id), "F");
  assert.equal(await nameOf(`${id.slice(0, 20)}^2`), "J");
  assert.equal(await nameOf(id.slice(0, 20).toUpperCase()), "F");
  await assert.rejects(nameOf(id.slice(0, 3)), { code: "ref_not_found" });
  // Enough commits that some two share four digits.
  const seen = new Map<string, number>();
  for (let i = 0; i < 2000; i++) {
    const commit = await commits.put({
      committer: "t",
      message: `n${i}`,
      creationDate: { seconds: 1, nanos: 0 },
      metaRangeId: "",
      metadata: {},
      parents: [],
      generation: 1,
    });
    seen.set(commit.id.slice(0, 4), (seen.get(commit.id.slice(0, 4)) ?? 0) + 1);
  }
  const shared = [...seen].find(([, count]) => count > 1)![0];
  await assert.rejects(
    nameOf(shared),
    (error: { code: string; message: string; details: { candidates: string[] } }) => {
      assert.equal(error.code, "ambiguous_ref");
      assert.ok(error.details.candidates.length >= 2 && error.message.includes(shared));
      return true;
    },
  );
});

test("a branch or tag goes before a commit prefix of the same letters", async () => {
  const { refs, ids, nameOf } = await gitGraph();
  const prefix = ids.get("F")!.slice(0, 8);
  await refs.create({ name: prefix, isDeleted: false, tagCommitId: ids.get("A")! }, {
    operation: "t",
    who: "t",
  });
  assert.equal(await nameOf(prefix), "A");
});

test("mergeBase() gives the common ancestor of highest generation, then of smallest ID", async () => {
  const { commits, ids } = await gitGraph();
  const base = async (a: string, b: string) =>
    (await mergeBase(commits, await commits.get(ids.get(a)!), await commits.get(ids.get(b)!)))?.message;
  assert.equal(await base("B", "C"), "F");
  assert.equal(await base("A", "C"), "C");
  assert.equal(await base("D", "E"), undefined);
  assert.equal(await base("G", "G"), "G");
});
