/** Random three-sided histories, merged with random resolutions, against a plain map. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import type { MergeResolution } from "../../drivers/store.ts";
import {
  collect,
  commit,
  contents,
  testEngine,
  WHO,
  withRepository,
} from "../../tests/support/test_engine.ts";

type Model = Map<string, string>;
type Random = (below: number) => number;

const ROUNDS = 40;
const KINDS = ["source", "destination", "base", "delete", "content", "object"] as const;

function randomOf(randomness: Randomness): Random {
  return (below) => Math.floor(randomness.fraction() * below);
}

function randomChanges(model: Model, random: Random): Record<string, string | undefined> {
  const changes: Record<string, string | undefined> = {};
  for (let i = 0; i <= random(12); i++) {
    const path = `k${random(15)}`;
    changes[path] = random(3) === 0 && model.has(path) ? undefined : String(random(4));
  }
  return changes;
}

function applied(model: Model, changes: Readonly<Record<string, string | undefined>>): Model {
  const next = new Map(model);
  for (const [path, text] of Object.entries(changes)) {
    if (text === undefined) next.delete(path);
    else next.set(path, text);
  }
  return next;
}

interface Models {
  readonly base: Model;
  readonly source: Model;
  readonly destination: Model;
}

/** What a path becomes, and whether its sides conflict. */
function outcome(
  { base, source, destination }: Models,
  path: string,
  resolution: MergeResolution,
): string | undefined {
  const [b, s, d] = [base.get(path), source.get(path), destination.get(path)];
  if (s === d || s === b) return d;
  if (d === b) return s;
  switch (resolution.kind) {
    case "delete":
      return undefined;
    case "content":
      return new TextDecoder().decode(resolution.body as Uint8Array);
    case "object":
      return "kept";
    default:
      return { base: b, source: s, destination: d }[resolution.kind];
  }
}

function randomResolution(random: Random): MergeResolution {
  const kind = KINDS[random(KINDS.length)]!;
  if (kind === "content") return { kind, body: utf8(String(random(4))) };
  return kind === "object" ? { kind, ref: "keep", path: "object" } : { kind };
}

for (let seed = 1; seed <= ROUNDS; seed++) {
  test(`merging random histories with random resolutions equals a plain map (seed ${seed})`, async () => {
    const random = randomOf(seededRandomness(seed));
    const { store } = await withRepository(testEngine({ randomness: seededRandomness(1000 + seed) }));
    await store.createBranch("repo", "keep", "main", WHO);
    await commit(store, "keep", { object: "kept" });
    let model: Model = new Map();
    const start = randomChanges(model, random);
    await commit(store, "main", { ...start, always: "0" });
    model = applied(model, { ...start, always: "0" });
    for (let round = 0; round < 3; round++) {
      const side = `side${round}`;
      await store.createBranch("repo", side, "main", WHO);
      const models = { base: model, source: model, destination: model };
      const history = [
        side,
        "main",
        ...Array.from({ length: random(3) }, () => random(2) === 0 ? side : "main"),
      ];
      for (const [i, branch] of history.entries()) {
        const which = branch === "main" ? "destination" : "source";
        const changes = { ...randomChanges(models[which], random), [`${branch}-${i}`]: "x" };
        await commit(store, branch, changes);
        models[which] = applied(models[which], changes);
      }
      const paths = [
        ...new Set([...models.source.keys(), ...models.destination.keys(), ...models.base.keys()]),
      ];
      const resolutions = new Map(paths.map((path) => [path, randomResolution(random)]));
      const expected: Record<string, string> = {};
      for (const path of paths.sort()) {
        const text = outcome(models, path, resolutions.get(path)!);
        if (text !== undefined) expected[path] = text;
      }
      const resolver = { resolve: ({ path }: { path: string }) => resolutions.get(path) };
      const previewed = applied(models.destination, {});
      const items = await collect(store.previewMerge("repo", side, "main", { resolver }));
      for (const { type, path } of items) {
        assert.equal(type, !(path in expected) ? "removed" : previewed.has(path) ? "changed" : "added", path);
      }
      const { summary } = await store.merge("repo", side, "main", { committer: WHO, resolver });
      assert.deepEqual(await contents(store, "main"), expected);
      const count = (wanted: string) => items.filter(({ type }) => type === wanted).length;
      assert.deepEqual(summary, {
        added: count("added"),
        removed: count("removed"),
        changed: count("changed"),
        conflict: 0,
      });
      const differing = paths.filter((path) => models.destination.get(path) !== expected[path]);
      assert.deepEqual(items.map(({ path }) => path), differing);
      model = new Map(Object.entries(expected));
    }
  });
}
