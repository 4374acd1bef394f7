import assert from "node:assert/strict";
import { test } from "node:test";
import { hex, lossyText, utf8 } from "../../base/bytes.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  commit,
  contents,
  readText,
  signs,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";
import { Repositories, repositoryPartition } from "../refs/mod.ts";
import { Repository } from "../repository.ts";
import { encodeStaged, stagedRecords } from "../staging/mod.ts";
import { findBranch } from "./landing.ts";
import { tokensOf } from "./view.ts";

const part = (...paths: string[]) => ({ message: "part", committer: WHO, paths });

test("commit() with paths takes what is staged under them and leaves the rest staged", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { "a/1": "1", "a/2": "1", "b/1": "1", c: "1" });
  await write(store, "main", { "a/1": "2", "a/2": undefined, "b/1": "2", "b/2": "1", c: "2", d: "1" });
  await store.commit("repo", "main", part("a/", "d"));
  assert.deepEqual(await contents(store, "main@"), { "a/1": "2", "b/1": "1", c: "1", d: "1" });
  assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["~b/1", "+b/2", "~c"]);
  assert.deepEqual(signs(await collect(store.diff("repo", "main~1", "main"))), ["~a/1", "-a/2", "+d"]);
  await store.commit("repo", "main", part("c"));
  await store.commit("repo", "main", { message: "all", committer: WHO });
  assert.deepEqual(await contents(store, "main@"), { "a/1": "2", "b/1": "2", "b/2": "1", c: "2", d: "1" });
});

test("a commit made of parts has the metarange that one commit of everything has", async () => {
  const parts = await withRepository(), whole = await withRepository(testEngine());
  for (const { store } of [parts, whole]) {
    await write(store, "main", { "a/1": "1", "b/1": "1", "b/2": "1", c: "1" });
  }
  for (const path of ["b/", "c", "a/"]) await parts.store.commit("repo", "main", part(path));
  const last = await parts.store.getCommit("repo", "main");
  const one = await whole.store.commit("repo", "main", { message: "all", committer: WHO });
  assert.equal(last.metaRangeId, one.metaRangeId);
});

test("commit() with paths says no_changes when nothing is staged there, or nothing that differs, and touches nothing", async () => {
  const kv = openMemoryKv();
  const { store } = await withRepository(testEngine({ kv }));
  const head = await commit(store, "main", { "a/1": "1", b: "1" });
  await write(store, "main", { b: "2" });
  const partition = utf8(repositoryPartition(await new Repositories(kv).get("repo")));
  const everything = async () =>
    (await collect(kv.scan(partition))).map(({ key, value }) => [lossyText(key), hex(value)].join());
  const before = await everything();
  await assert.rejects(store.commit("repo", "main", part("a/")), { code: "no_changes" });
  await assert.rejects(store.commit("repo", "main", part("b/", "a/1")), { code: "no_changes" });
  assert.deepEqual(await everything(), before);
  await write(store, "main", { "a/1": "1" });
  await assert.rejects(store.commit("repo", "main", part("a/")), { code: "no_changes" });
  assert.equal(await store.resolve("repo", "main"), head);
  assert.equal(await readText(store, "main", "b"), "2");
  await assert.rejects(store.commit("repo", "main", part("")), { code: "invalid_path" });
});

test("commit() with paths and allowEmpty leaves everything staged", async () => {
  const { store } = await withRepository();
  await write(store, "main", { a: "1", b: undefined });
  await store.commit("repo", "main", { ...part("x/"), allowEmpty: true });
  assert.deepEqual(await contents(store, "main@"), {});
  assert.deepEqual(await contents(store, "main"), { a: "1" });
});

test("the rest goes over as it is: tombstones, objects that are not flushed, nonces; newest first across tokens", async () => {
  const engine = await withRepository();
  const record = await new Repositories(engine.kv).get("repo");
  const repository = new Repository(engine.context, record, engine.objects);
  await commit(engine.store, "main", { dead: "1" });
  await write(engine.store, "main", { dead: undefined, twice: "older", "take/a": "1" });
  // A first commit seals the token and dies; then newer changes come.
  const dying = testEngine({
    kv: hookedKv(engine.kv, {
      before({ call, key }) {
        if (call === "setMany" && key.startsWith("commits/")) throw new Error("killed");
      },
    }),
    objects: engine.objects,
    clock: engine.clock,
  });
  await assert.rejects(dying.store.commit("repo", "main", part("take/")), { message: "killed" });
  await write(engine.store, "main", { twice: "newer" });
  const { state } = await findBranch(repository, "main");
  assert.equal(state.sealedTokens.length, 1);
  const marked = {
    key: utf8("marked"),
    record: { key: utf8("marked"), identity: utf8("i"), data: utf8("d") },
    isUnflushed: true,
    nonce: utf8("nonce"),
  };
  await engine.kv.setMany(utf8(state.stagingToken), [{ key: marked.key, value: encodeStaged(marked) }]);
  const staged = async () => {
    const { state } = await findBranch(repository, "main");
    const records = await collect(stagedRecords(engine.kv, tokensOf(state)));
    return records.map((one) => hex(encodeStaged(one)));
  };
  const before = await staged();
  await engine.store.commit("repo", "main", part("take/"));
  const after = await staged();
  // Of four staged changes one is taken: "dead", "marked", "twice" are what they were.
  assert.deepEqual(after, before.filter((_, i) => i !== 2));
  assert.equal(after.length, 3);
  assert.equal((await findBranch(repository, "main")).state.sealedTokens.length, 1);
  assert.equal(await readText(engine.store, "main", "twice"), "newer");
});

test("a rest that did not land is deleted after the delay, and one that landed is not", async () => {
  const engine = await withRepository();
  await write(engine.store, "main", { keep: "1", "take/a": "1" });
  const rests: string[] = [];
  let isArmed = true;
  const racing = testEngine({
    kv: hookedKv(engine.kv, {
      before({ call, key, partition }) {
        if (call === "setMany" && key === "keep") rests.push(partition);
      },
      async after({ call, key }) {
        if (!isArmed || call !== "setMany" || !key.startsWith("commits/")) return;
        isArmed = false;
        // The branch moves under the commit, so it starts again, with another rest.
        await write(engine.store, "main", { "other/a": "1" });
        await engine.store.commit("repo", "main", part("other/"));
      },
    }),
    objects: engine.objects,
    clock: engine.clock,
  });
  await racing.store.commit("repo", "main", part("take/"));
  assert.equal(rests.length, 2);
  for (let i = 0; i < 6; i++) {
    engine.clock.advance(60 * 60 * 1000);
    await engine.store.commit("repo", "main", {
      message: "later",
      committer: WHO,
      paths: ["x"],
      allowEmpty: true,
    });
  }
  assert.deepEqual(await collect(engine.kv.scan(utf8(rests[0]!))), []);
  assert.deepEqual(await contents(engine.store, "main"), { keep: "1", "other/a": "1", "take/a": "1" });
});
