import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  commit,
  contents,
  testEngine,
  WHO,
  withRepository,
} from "../../tests/support/test_engine.ts";

test("a new repository has a default branch with one commit, and no data", async () => {
  const { store } = testEngine();
  const made = await store.createRepository("repo", {
    committer: WHO,
    defaultBranch: "trunk",
    raggedness: 100,
  });
  assert.deepEqual([made.id, made.defaultBranch], ["repo", "trunk"]);
  assert.deepEqual(await store.getRepository("repo"), made);
  assert.deepEqual(await contents(store, "trunk"), {});
  assert.deepEqual(await collect(store.listRepositories()), [made]);
});

test("bad names, bad chunking and a taken name are refused", async () => {
  const { store } = await withRepository();
  await assert.rejects(store.createRepository("Repo", { committer: WHO }), {
    code: "invalid_repository_name",
  });
  await assert.rejects(store.createRepository("repo", { committer: WHO }), { code: "repository_exists" });
  await assert.rejects(store.createRepository("other", { committer: WHO, raggedness: 0 }), {
    code: "invalid_chunking",
  });
  await assert.rejects(store.createRepository("other", { committer: WHO, defaultBranch: "a b" }), {
    code: "invalid_branch_name",
  });
  await assert.rejects(store.getRepository("other"), { code: "repository_not_found" });
});

test("a namespace that another repository uses, lies in or around, or that holds data, is refused", async () => {
  const { store } = testEngine();
  await store.createRepository("repo", { committer: WHO, storageNamespace: "mem://a/b" });
  for (const storageNamespace of ["mem://a/b", "mem://a/b/c", "mem://a"]) {
    await assert.rejects(store.createRepository("other", { committer: WHO, storageNamespace }), {
      code: "namespace_in_use",
    });
  }
  await store.createRepository("other", { committer: WHO, storageNamespace: "mem://a/bc" });
  await commit(store, "main", { a: "1" });
  await store.deleteRepository("repo");
  await assert.rejects(store.createRepository("repo", { committer: WHO, storageNamespace: "mem://a/b" }), {
    code: "namespace_in_use",
  });
});

test("a deleted repository is gone and its name is free at once, for an empty new one", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.deleteRepository("repo");
  await assert.rejects(store.getRepository("repo"), { code: "repository_not_found" });
  await assert.rejects(store.deleteRepository("repo"), { code: "repository_not_found" });
  await assert.rejects(contents(store, "main"), { code: "repository_not_found" });
  await store.createRepository("repo", { committer: WHO });
  assert.deepEqual(await contents(store, "main"), {});
});

test("of several creations of one name at once, one lands", async () => {
  const { store } = testEngine();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => store.createRepository("repo", { committer: WHO })),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.equal(outcome.reason.code, "repository_exists");
  }
});

test("a creation that stops at any of its writes is invisible and leaves the name free", async () => {
  for (let stopAt = 1;; stopAt++) {
    const kv = openMemoryKv();
    let writes = 0;
    const failing = hookedKv(kv, {
      before({ call }) {
        if (call.startsWith("set") && ++writes === stopAt) throw new Error("stopped");
      },
    });
    const { store: stopped } = testEngine({ kv: failing });
    const outcome = await stopped.createRepository("repo", { committer: WHO }).then(
      () => "done",
      () => "stopped",
    );
    const { store } = testEngine({ kv });
    if (outcome === "done") return assert.ok(stopAt > 3, "the creation wrote nothing that could be stopped");
    assert.deepEqual(await collect(store.listRepositories()), []);
    await assert.rejects(store.getRepository("repo"), { code: "repository_not_found" });
    await store.createRepository("repo", { committer: WHO });
    await commit(store, "main", { a: "1" });
  }
});

test("of two repositories created at once in one namespace, or one in the other, at most one stays", async () => {
  for (const [left, right] of [["mem://a", "mem://a"], ["mem://a", "mem://a/b"]] as const) {
    const { store } = testEngine();
    const outcomes = await Promise.allSettled([
      store.createRepository("one", { committer: WHO, storageNamespace: left }),
      store.createRepository("two", { committer: WHO, storageNamespace: right }),
    ]);
    const landed = outcomes.filter(({ status }) => status === "fulfilled").length;
    assert.ok(landed <= 1);
    assert.equal((await collect(store.listRepositories())).length, landed);
  }
});
