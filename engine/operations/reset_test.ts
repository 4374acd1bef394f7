import assert from "node:assert/strict";
import { test } from "node:test";
import {
  collect,
  commit,
  contents,
  signs,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

test("reset() drops all staged changes, those under a prefix, or that of one object", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { "a/1": "1", "a/2": "1", b: "1" });
  const stage = () => write(store, "main", { "a/1": "2", "a/2": undefined, ab: "1", b: "2" });
  const status = async () => signs(await collect(store.status("repo", "main")));
  await stage();
  assert.equal(await store.reset("repo", "main", { path: "b" }, WHO), 1);
  assert.equal(await store.reset("repo", "main", { path: "nowhere" }, WHO), 0);
  assert.deepEqual(await status(), ["~a/1", "-a/2", "+ab"]);
  assert.equal(await store.reset("repo", "main", { prefix: "a/" }, WHO), 2);
  assert.deepEqual(await status(), ["+ab"]);
  assert.equal(await store.reset("repo", "main", {}, WHO), 1);
  assert.deepEqual(await status(), []);
  assert.deepEqual(await contents(store, "main"), { "a/1": "1", "a/2": "1", b: "1" });
});

test("what is written after a partial reset lies over what it kept", async () => {
  const { store } = await withRepository();
  await write(store, "main", { keep: "old", drop: "1" });
  await store.reset("repo", "main", { path: "drop" }, WHO);
  await write(store, "main", { keep: "new" });
  await store.commit("repo", "main", { message: "m", committer: WHO });
  assert.deepEqual(await contents(store, "main"), { keep: "new" });
});

test("hardReset() moves a dirty branch to a commit, empties its staging, and the old head stays in the reflog", async () => {
  const { store } = await withRepository();
  const first = await commit(store, "main", { a: "1" });
  const second = await commit(store, "main", { a: "2" });
  await write(store, "main", { a: "3", b: "1" });
  await store.hardReset("repo", "main", first, WHO);
  assert.equal(await store.resolve("repo", "main"), first);
  assert.deepEqual(await collect(store.status("repo", "main")), []);
  assert.deepEqual(await contents(store, "main"), { a: "1" });
  assert.deepEqual(await contents(store, second), { a: "2" });
  const moves = await collect(store.reflog("repo", "main"));
  assert.deepEqual(moves.map(({ operation }) => operation), [
    "repo create",
    "commit",
    "commit",
    "hard reset",
  ]);
  assert.deepEqual([moves[3]!.oldCommitId, moves[3]!.newCommitId, moves[3]!.who], [second, first, WHO]);
});
