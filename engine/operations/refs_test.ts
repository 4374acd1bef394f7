import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  commit,
  contents,
  readText,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";
import { Repositories } from "../refs/mod.ts";
import { Repository } from "../repository.ts";
import { findBranch } from "./landing.ts";

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

test("a listing goes on after a name, in any case, also when there is no such ref any more", async () => {
  const { store } = await withRepository();
  for (const name of ["a", "b-2", "B1", "c"]) await store.createBranch("repo", name, "main", WHO);
  const after = async (name: string, prefix = "") =>
    ids(await collect(store.listBranches("repo", { after: name, prefix })));
  assert.deepEqual(await after("a"), ["b-2", "B1", "c", "main"]);
  assert.deepEqual(await after("b1"), ["c", "main"]);
  assert.deepEqual(await after("ma"), ["main"]);
  assert.deepEqual(await after("a", "c"), ["c"]);
  assert.deepEqual(await after("x".repeat(5000)), []);
  await store.deleteBranch("repo", "b-2", WHO);
  assert.deepEqual(await after("b-2"), ["B1", "c", "main"]);
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
  await assert.rejects(store.restoreRef("repo", "tag", "side", { who: WHO }), { code: "ref_not_deleted" });
  await assert.rejects(store.restoreRef("repo", "branch", "never", { who: WHO }), {
    code: "ref_not_deleted",
  });
  await store.restoreRef("repo", "branch", "side", { who: WHO });
  await store.restoreRef("repo", "tag", "v1", { who: WHO });
  assert.equal(await store.resolve("repo", "side"), head);
  assert.equal(await store.resolve("repo", "v1"), head);
  assert.deepEqual(await contents(store, "side"), { a: "1", b: "staged" });
  await assert.rejects(store.restoreRef("repo", "branch", "side", { who: WHO }), { code: "branch_exists" });
});

test("log() stops at a ref: what that is made on is left out, on its own line or merged", async () => {
  const { store } = await withRepository();
  const a = await commit(store, "main", { a: "1" }, "a");
  const b = await commit(store, "main", { b: "1" }, "b");
  await store.createBranch("repo", "side", "main", WHO);
  const s1 = await commit(store, "side", { s: "1" }, "s1");
  const c = await commit(store, "main", { c: "1" }, "c");
  const { reference: m } = await store.merge("repo", "side", "main", { committer: WHO });
  const s2 = await commit(store, "side", { s: "2" }, "s2");
  const d = await commit(store, "main", { d: "1" }, "d");
  const log = async (stopAt: string, options: object = {}, ref = "main") =>
    ids(await collect(store.log("repo", ref, { stopAt, ...options })));
  const all = { allParents: true };
  assert.deepEqual(await log(c), [d, m, c]);
  assert.deepEqual((await log(c, all)).sort(), [d, m, c, s1].sort());
  assert.deepEqual(await log(b), [d, m, c, b]);
  // A merged branch's commit: the first parents that it is made on are left out, too.
  assert.deepEqual(await log(s1), [d, m, c]);
  assert.deepEqual((await log(s1, all)).sort(), [d, m, c, s1].sort());
  assert.deepEqual(await log(s2), [d, m, c]);
  assert.deepEqual(await log("main"), [d]);
  assert.deepEqual(await log("main", {}, a), []);
  assert.deepEqual(await log(c, { amount: 2 }), [d, m]);
  assert.deepEqual(await log(a, { paths: ["b"] }), [b]);
  await assert.rejects(log("nowhere"), { code: "ref_not_found" });
});

test("each deleted branch of a name comes back, by the id of its deletion, with its own staged changes", async () => {
  const { store } = await withRepository();
  for (const text of ["1", "2", "3"]) {
    await store.createBranch("repo", "side", "main", WHO);
    await write(store, "side", { a: text });
    await store.deleteBranch("repo", "side", WHO);
  }
  const deletions = (await collect(store.reflog("repo", "side")))
    .filter(({ operation }) => operation === "branch delete").map(({ id }) => id);
  assert.equal(new Set(deletions).size, 3);
  const restore = (id?: string) =>
    store.restoreRef("repo", "branch", "side", { who: WHO, ...(id ? { id } : {}) });
  await restore();
  assert.deepEqual(await contents(store, "side"), { a: "3" });
  await assert.rejects(restore(deletions[0]), { code: "branch_exists" });
  await store.deleteBranch("repo", "side", WHO);
  await restore(deletions[0]);
  assert.deepEqual(await contents(store, "side"), { a: "1" });
  const moves = await collect(store.reflog("repo", "side"));
  assert.equal(moves.at(-1)!.restored, deletions[0]);
  await store.deleteBranch("repo", "side", WHO);
  // What was restored once, and was deleted again, comes back by that deletion only.
  await assert.rejects(restore(deletions[0]), { code: "ref_not_deleted" });
  await assert.rejects(restore("nothing"), { code: "ref_not_deleted" });
  await restore(deletions[1]);
  assert.deepEqual(await contents(store, "side"), { a: "2" });
});

test("a branch comes back after a tag of its name was made and deleted, and the tag after the branch", async () => {
  const { store } = await withRepository();
  const head = await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "x", "main", WHO);
  await write(store, "x", { b: "staged" });
  await store.deleteBranch("repo", "x", WHO);
  await store.createTag("repo", "x", "main~1", WHO);
  await assert.rejects(store.restoreRef("repo", "branch", "x", { who: WHO }), { code: "tag_exists" });
  await store.deleteTag("repo", "x", WHO);
  await store.restoreRef("repo", "branch", "x", { who: WHO });
  assert.deepEqual(await contents(store, "x"), { a: "1", b: "staged" });
  assert.equal((await store.getBranch("repo", "x")).commitId, head);
  await store.deleteBranch("repo", "x", WHO);
  await store.restoreRef("repo", "tag", "x", { who: WHO });
  assert.equal(await store.resolve("repo", "x"), await store.resolve("repo", "main~1"));
  await store.deleteTag("repo", "x", WHO);
  await store.restoreRef("repo", "tag", "x", { who: WHO });
});

test("a creation that loses to a restore leaves nothing from which the branch could come back twice", async () => {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  await store.createBranch("repo", "x", "main", WHO);
  await write(store, "x", { a: "staged" });
  await store.deleteBranch("repo", "x", WHO);
  let isArmed = true;
  const losing = testEngine({
    kv: hookedKv(kv, {
      async before({ call, key }) {
        if (!isArmed || call !== "setIf" || !key.startsWith("refs/")) return;
        isArmed = false;
        await store.restoreRef("repo", "branch", "x", { who: WHO });
      },
    }),
    objects,
    clock,
  });
  await assert.rejects(losing.store.createBranch("repo", "x", "main", WHO), { code: "branch_exists" });
  const [deletion] = (await collect(store.reflog("repo", "x")))
    .filter(({ operation }) => operation === "branch delete");
  // The creation has copied the deleted branch by now; it was restored all the same, and lives on.
  const head = (await store.commit("repo", "x", { message: "m", committer: WHO })).id;
  await store.deleteBranch("repo", "x", WHO);
  const restore = (id?: string) =>
    store.restoreRef("repo", "branch", "x", { who: WHO, ...(id ? { id } : {}) });
  await assert.rejects(restore(deletion!.id), { code: "ref_not_deleted" });
  assert.equal((await restore()).commitId, head);
});

test("of restores of two deletions at once one lands, and the other says that the name is taken", async () => {
  const { store } = await withRepository();
  for (const text of ["1", "2"]) {
    await store.createBranch("repo", "x", "main", WHO);
    await write(store, "x", { a: text });
    await store.deleteBranch("repo", "x", WHO);
  }
  const deletions = (await collect(store.reflog("repo", "x")))
    .filter(({ operation }) => operation === "branch delete");
  const outcomes = await Promise.allSettled(
    deletions.map(({ id }) => store.restoreRef("repo", "branch", "x", { who: WHO, id })),
  );
  const failed = outcomes.filter((outcome) => outcome.status === "rejected");
  assert.deepEqual(failed.map(({ reason }) => reason.code), ["branch_exists"]);
});

test("who takes a tag for a branch, or a branch for a tag, is told what it is", async () => {
  const { store } = await withRepository();
  await store.createTag("repo", "v1", "main", WHO);
  const isTag = { message: /"v1".*: it is a tag$/ };
  await assert.rejects(store.getBranch("repo", "v1"), isTag);
  await assert.rejects(store.deleteBranch("repo", "v1", WHO), isTag);
  await assert.rejects(collect(store.status("repo", "v1")), isTag);
  await assert.rejects(store.deleteTag("repo", "main", WHO), { message: /"main".*: it is a branch$/ });
});

test("a branch that comes and goes while it is looked for is missing, and no commit", async () => {
  const engine = testEngine({ kv: openMemoryKv() });
  const { store: other } = await withRepository(engine);
  await other.createBranch("repo", "side", "main", WHO);
  let looks = 0;
  const kv = hookedKv(engine.kv, {
    async before({ call, key }) {
      if (call !== "get" || key !== "refs/side") return;
      looks++;
      if (looks % 2 === 1) await other.deleteBranch("repo", "side", WHO);
      else await other.restoreRef("repo", "branch", "side", { who: WHO });
    },
  });
  const { context, objects } = testEngine({ ...engine, kv });
  const repository = new Repository(context, await new Repositories(kv).get("repo"), objects);
  await assert.rejects(findBranch(repository, "side"), { code: "branch_not_found" });
  assert.ok(looks > 1, "the branch came back meanwhile");
});
