import assert from "node:assert/strict";
import { test } from "node:test";
import {
  collect,
  commit,
  contents,
  readText,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

const ids = (refs: readonly { id: string }[]) => refs.map(({ id }) => id);

test("a branch is a pointer with staged changes of its own", async () => {
  const { store } = await withRepository();
  const head = await commit(store, "main", { a: "1" });
  await write(store, "main", { a: "staged" });
  const made = await store.createBranch("repo", "feature/x", "main", WHO);
  assert.deepEqual(made, { id: "feature/x", commitId: head });
  assert.equal(await readText(store, "feature/x", "a"), "1");
  await write(store, "feature/x", { b: "1" });
  assert.equal(await readText(store, "main", "b"), undefined);
  assert.deepEqual(ids(await collect(store.listBranches("repo"))), ["feature/x", "main"]);
});

test("names that are taken, by the other kind too, or that differ only in case, are refused", async () => {
  const { store } = await withRepository();
  await store.createTag("repo", "v1", "main", WHO);
  await assert.rejects(store.createBranch("repo", "main", "main", WHO), { code: "branch_exists" });
  await assert.rejects(store.createBranch("repo", "Main", "main", WHO), { code: "branch_exists" });
  await assert.rejects(store.createBranch("repo", "v1", "main", WHO), { code: "tag_exists" });
  await assert.rejects(store.createTag("repo", "main", "main", WHO), { code: "branch_exists" });
  await assert.rejects(store.createTag("repo", "V1", "main", WHO), { code: "tag_exists" });
  await assert.rejects(store.getBranch("repo", "Main"), { code: "branch_not_found" });
  await assert.rejects(store.resolve("repo", "Main"), { code: "ref_not_found" });
});

test("of two creations of one name at once, branch or tag, one lands", async () => {
  const { store } = await withRepository();
  const outcomes = await Promise.allSettled([
    store.createBranch("repo", "x", "main", WHO),
    store.createTag("repo", "x", "main", WHO),
    store.createBranch("repo", "X", "main", WHO),
  ]);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
});

test("a tag stays where it is, cannot be written to, and its name is free when it is deleted", async () => {
  const { store } = await withRepository();
  const first = await commit(store, "main", { a: "1" });
  await store.createTag("repo", "v.0.1.1", "main", WHO);
  await commit(store, "main", { a: "2" });
  assert.deepEqual(await contents(store, "v.0.1.1"), { a: "1" });
  assert.equal((await store.getTag("repo", "v.0.1.1")).commitId, first);
  await assert.rejects(write(store, "v.0.1.1", { a: "3" }), { code: "not_a_branch" });
  await assert.rejects(write(store, first, { a: "3" }), { code: "not_a_branch" });
  await assert.rejects(write(store, "main~1", { a: "3" }), { code: "not_a_branch" });
  await assert.rejects(write(store, "main~9", { a: "3" }), { code: "branch_not_found" });
  await store.deleteTag("repo", "v.0.1.1", WHO);
  await assert.rejects(store.getTag("repo", "v.0.1.1"), { code: "tag_not_found" });
  assert.deepEqual(await collect(store.listTags("repo")), []);
  await store.createBranch("repo", "v.0.1.1", "main", WHO);
});

test("a deleted branch is gone, its commits stay; the default branch cannot be deleted", async () => {
  const { store } = await withRepository();
  await store.createBranch("repo", "side", "main", WHO);
  const head = await commit(store, "side", { s: "1" });
  await store.deleteBranch("repo", "side", WHO);
  await assert.rejects(store.deleteBranch("repo", "side", WHO), { code: "branch_not_found" });
  await assert.rejects(store.deleteBranch("repo", "main", WHO), { code: "default_branch" });
  await assert.rejects(write(store, "side", { a: "1" }), { code: "branch_not_found" });
  assert.deepEqual(await contents(store, head), { s: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  assert.deepEqual(await contents(store, "side"), {});
  const moves = await collect(store.reflog("repo", "side"));
  assert.deepEqual(moves.map(({ operation }) => operation), [
    "branch create",
    "commit",
    "branch delete",
    "branch create",
  ]);
  assert.equal(moves[2]!.oldCommitId, head);
});

test("a branch named like a commit prefix is the branch", async () => {
  const { store } = await withRepository();
  const head = await commit(store, "main", { a: "1" });
  await store.createBranch("repo", head.slice(0, 6), "main~1", WHO);
  assert.deepEqual(await contents(store, head.slice(0, 6)), {});
});

test("select() gives branches, tags, commits and times, and refuses the wrong kind", async () => {
  const { store, clock } = await withRepository();
  const first = await commit(store, "main", { a: "1" });
  clock.advance(60_000);
  const between = new Date(clock.now()).toISOString();
  clock.advance(60_000);
  const second = await commit(store, "main", { a: "2" });
  await store.createTag("repo", "v1", first, WHO);
  assert.equal(await store.select("repo", { kind: "branch", value: "main" }, undefined), "main");
  assert.equal(await store.select("repo", { kind: "commit", value: second.slice(0, 10) }, undefined), second);
  assert.equal(await store.select("repo", { kind: "ts", value: between }, "main"), first);
  assert.equal(await store.select("repo", { kind: "ts", value: `main@${between}` }, undefined), first);
  await assert.rejects(store.select("repo", { kind: "branch", value: "v1" }, undefined), {
    code: "branch_not_found",
  });
  await assert.rejects(store.select("repo", { kind: "tag", value: "main" }, undefined), {
    code: "tag_not_found",
  });
  await assert.rejects(store.select("repo", { kind: "ts", value: "2020-01-01" }, "main"), {
    code: "no_commit_at_time",
  });
  await assert.rejects(store.select("repo", { kind: "ts", value: "2999-01-01" }, "main"), {
    code: "future_time",
  });
});

test("log() follows first parents, all parents, or only commits that touched a path", async () => {
  const { store } = await withRepository();
  const a = await commit(store, "main", { "x/a": "1", y: "1" }, "a");
  await store.createBranch("repo", "side", "main", WHO);
  const b = await commit(store, "side", { "x/b": "1" }, "b");
  const c = await commit(store, "main", { y: "2" }, "c");
  const { reference: m } = await store.merge("repo", "side", "main", { committer: WHO });
  const log = async (options: object) => ids(await collect(store.log("repo", "main", options)));
  const root = await store.resolve("repo", a + "~1");
  assert.deepEqual(await log({}), [m, c, a, root]);
  assert.deepEqual(await log({ amount: 2 }), [m, c]);
  assert.deepEqual((await log({ allParents: true })).sort(), [m, c, b, a, root].sort());
  assert.deepEqual(await log({ paths: ["x/"] }), [m, a]);
  assert.deepEqual(await log({ paths: ["y"] }), [c, a]);
  assert.deepEqual(
    await log({ paths: ["x/"], allParents: true }).then((all) => all.sort()),
    [m, b, a].sort(),
  );
});

test("the reflog of a whole repository is in order of time, each move once", async () => {
  const { store } = await withRepository();
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "main", { a: "1" });
  await commit(store, "side", { b: "1" });
  await commit(store, "main", { a: "2" });
  const moves = await collect(store.reflog("repo"));
  assert.deepEqual(moves.map(({ ref, operation }) => `${ref} ${operation}`), [
    "main repo create",
    "side branch create",
    "main commit",
    "side commit",
    "main commit",
  ]);
});

test("a deleted branch or tag comes back where it was, a branch with what was staged on it", async () => {
  const { store } = await withRepository();
  await store.createBranch("repo", "side", "main", WHO);
  const head = await commit(store, "side", { a: "1" });
  await write(store, "side", { b: "staged" });
  await store.createTag("repo", "v1", "side", WHO);
  await store.deleteBranch("repo", "side", WHO);
  await store.deleteTag("repo", "v1", WHO);
  await assert.rejects(store.restoreRef("repo", "tag", "side", WHO), { code: "ref_not_deleted" });
  await assert.rejects(store.restoreRef("repo", "branch", "never", WHO), { code: "ref_not_deleted" });
  await store.restoreRef("repo", "branch", "side", WHO);
  await store.restoreRef("repo", "tag", "v1", WHO);
  assert.equal(await store.resolve("repo", "side"), head);
  assert.equal(await store.resolve("repo", "v1"), head);
  assert.deepEqual(await contents(store, "side"), { a: "1", b: "staged" });
  await assert.rejects(store.restoreRef("repo", "branch", "side", WHO), { code: "branch_exists" });
});
