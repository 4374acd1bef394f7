import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandomness } from "../../base/randomness.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { BlameOptions, Store } from "../../drivers/store.ts";
import {
  collect,
  commit,
  contents,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

async function blamed(
  store: Store,
  ref: string,
  options: BlameOptions = {},
): Promise<Record<string, string>> {
  const items = await collect(store.blame("repo", ref, options));
  return Object.fromEntries(items.map(({ path, commit }) => [path, commit.id]));
}

test("blame() names the commit that last changed each object, in key order", async () => {
  const { store } = await withRepository();
  const first = await commit(store, "main", { a: "1", b: "1", "d/x": "1", "d/y": "1", gone: "1" });
  const second = await commit(store, "main", { b: "2", "d/y": "2", gone: undefined });
  const third = await commit(store, "main", { "d/y": "1", new: "1" });
  await write(store, "main", { a: "staged", staged: "1" });
  const all = await collect(store.blame("repo", "main"));
  assert.deepEqual(all.map(({ path }) => path), ["a", "b", "d/x", "d/y", "new"]);
  assert.deepEqual(await blamed(store, "main"), {
    a: first,
    b: second,
    "d/x": first,
    "d/y": third,
    new: third,
  });
  assert.deepEqual(await blamed(store, "main~1"), {
    a: first,
    b: second,
    "d/x": first,
    "d/y": second,
  });
  assert.deepEqual(await blamed(store, "main", { paths: ["d/"] }), { "d/x": first, "d/y": third });
  assert.deepEqual(await blamed(store, "main", { paths: ["b", "d/x"] }), { b: second, "d/x": first });
  assert.deepEqual(await blamed(store, "main", { paths: ["nowhere", "no/"] }), {});
  assert.equal(all[0]!.commit.message, "change");
});

test("a merge is what changed the first parent, or with allParents only what it made itself", async () => {
  const { store } = await withRepository();
  const first = await commit(store, "main", { a: "1", b: "1", c: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  const onSide = await commit(store, "side", { a: "side", s: "1" });
  const onMain = await commit(store, "main", { b: "main" });
  const { reference } = await store.merge("repo", "side", "main", { committer: WHO });
  assert.deepEqual(await blamed(store, "main"), { a: reference, b: onMain, c: first, s: reference });
  assert.deepEqual(await blamed(store, "main", { allParents: true }), {
    a: onSide,
    b: onMain,
    c: first,
    s: onSide,
  });
});

/** What blame means, by looking every object up in every commit. */
async function blamedSlowly(
  store: Store,
  head: string,
  allParents: boolean,
): Promise<Record<string, string>> {
  const known = new Map<string, Promise<Record<string, string>>>();
  const at = (id: string) => {
    if (!known.has(id)) known.set(id, contents(store, id));
    return known.get(id)!;
  };
  const blame = async (id: string, path: string): Promise<string> => {
    const { parents } = await store.getCommit("repo", id);
    for (const parent of allParents ? parents : parents.slice(0, 1)) {
      if ((await at(parent))[path] === (await at(id))[path]) return await blame(parent, path);
    }
    return id;
  };
  const id = await store.resolve("repo", head);
  const found: Record<string, string> = {};
  for (const path of Object.keys(await at(id))) found[path] = await blame(id, path);
  return found;
}

test("random histories with merges are blamed as looking everything up would", async () => {
  for (const seed of [1, 2, 3, 4]) {
    const randomness = seededRandomness(seed);
    const draw = (below: number) => randomness.bytes(1)[0]! % below;
    const { store } = await withRepository();
    await commit(store, "main", Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, "0"])));
    await store.createBranch("repo", "side", "main", WHO);
    for (let step = 0; step < 24; step++) {
      const [branch, other] = draw(2) === 0 ? ["main", "side"] : ["side", "main"];
      if (draw(4) === 0) {
        await store.merge("repo", other, branch, { committer: WHO, strategy: "source-wins" })
          .catch((error) => assert.equal(error.code, "nothing_to_merge"));
      } else {
        const changes = Array.from({ length: 1 + draw(4) }, () => [
          `f${draw(40)}`,
          draw(5) === 0 ? undefined : String(draw(3)),
        ]);
        await commit(store, branch, Object.fromEntries(changes))
          .catch((error) => assert.equal(error.code, "no_changes"));
      }
    }
    for (const head of ["main", "side"]) {
      for (const allParents of [false, true]) {
        const expected = await blamedSlowly(store, head, allParents);
        assert.deepEqual(await blamed(store, head, { allParents }), expected, `seed ${seed}, ${head}`);
        const some = Object.keys(expected).filter((path) => path < "f2");
        assert.deepEqual(
          await blamed(store, head, { allParents, paths: some }),
          Object.fromEntries(some.map((path) => [path, expected[path]])),
        );
      }
    }
  }
});

/** Counts which range and metarange files are opened. */
function counting(inner: ObjectStore): { objects: ObjectStore; heads: string[] } {
  const heads: string[] = [];
  const objects = new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "head") return value.bind(target);
      return (key: string) => {
        heads.push(key);
        return inner.head(key);
      };
    },
  });
  return { objects, heads };
}

test("log() by path and blame() open no range that did not change, but those that hold what is asked for", async () => {
  const disk = openMemoryObjectStore();
  const engine = testEngine({ objects: disk });
  await engine.store.createRepository("repo", { committer: WHO, raggedness: 16 });
  const many = Array.from({ length: 400 }, (_, i) => [`a/${String(i).padStart(3, "0")}`, "1"] as const);
  const first = await commit(engine.store, "main", { ...Object.fromEntries(many), "z/x": "1" });
  const others: string[] = [];
  for (let i = 0; i < 20; i++) others.push(await commit(engine.store, "main", { "a/005": String(i + 2) }));
  const opened = async (work: (store: Store) => Promise<unknown>) => {
    const { objects, heads } = counting(disk);
    await work(testEngine({ kv: engine.kv, objects, clock: engine.clock }).store);
    return new Set(heads).size;
  };
  // 22 metaranges are read; and the last range of all, for the one commit that made it.
  const METARANGES = 22;
  const logged = await opened(async (store) => {
    const log = await collect(store.log("repo", "main", { paths: ["z/"] }));
    assert.deepEqual(log.map(({ id }) => id), [first]);
  });
  assert.ok(logged <= METARANGES + 1, `log opened ${logged} files`);
  const one = await opened(async (store) => {
    assert.deepEqual(await blamed(store, "main", { paths: ["z/x"] }), { "z/x": first });
  });
  assert.ok(one <= METARANGES + 1, `blame of one object opened ${one} files`);
  assert.deepEqual((await blamed(engine.store, "main", { paths: ["a/"] }))["a/005"], others.at(-1));
});
