import assert from "node:assert/strict";
import { test } from "node:test";
import { MERGE_TABLE } from "../../tests/support/merge_table.ts";
import {
  collect,
  commit,
  contents,
  signs,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

const asContent = (letter: string) => letter === "X" ? undefined : letter;

for (const [row, plain, sourceWins, destWins] of MERGE_TABLE) {
  for (
    const [strategy, result] of [[undefined, plain], ["source-wins", sourceWins], [
      "dest-wins",
      destWins,
    ]] as const
  ) {
    test(`merging ${row} with ${strategy ?? "no strategy"} gives ${result}`, async () => {
      const { store } = await withRepository();
      const [base, source, destination] = [...row].map(asContent);
      await commit(store, "main", { f: base, other: "0" });
      await store.createBranch("repo", "source", "main", WHO);
      // A second path on each side, so that there is something to merge and both have moved.
      await commit(store, "source", { f: source, s: "1" });
      await commit(store, "main", { f: destination, d: "1" });
      const before = await store.resolve("repo", "main");
      const merging = store.merge("repo", "source", "main", {
        committer: WHO,
        ...(strategy ? { strategy } : {}),
      });
      if (result === "conflict") {
        await assert.rejects(
          merging,
          (error: { code: string; details: { conflicts: { path: string }[] } }) => {
            assert.equal(error.code, "merge_conflict");
            assert.deepEqual(error.details.conflicts.map(({ path }) => path), ["f"]);
            return true;
          },
        );
        assert.equal(await store.resolve("repo", "main"), before);
        return;
      }
      await merging;
      const expected = { d: "1", other: "0", s: "1", ...(result === "X" ? {} : { f: result }) };
      assert.deepEqual(await contents(store, "main"), expected);
      const merged = await store.getCommit("repo", "main");
      assert.deepEqual(merged.parents, [before, await store.resolve("repo", "source")]);
      assert.equal(merged.metadata[".lakefs.merge.strategy"], strategy ?? "default");
    });
  }
}

test("merging what the destination has already says nothing_to_merge and changes nothing", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "main", { a: "2" });
  const before = await store.resolve("repo", "main");
  for (const source of ["side", "main", "main~1"]) {
    await assert.rejects(store.merge("repo", source, "main", { committer: WHO }), {
      code: "nothing_to_merge",
    });
  }
  assert.equal(await store.resolve("repo", "main"), before);
  assert.deepEqual(await contents(store, "main"), { a: "2" });
});

test("a destination with uncommitted changes refuses a merge; the source's uncommitted changes stay behind", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { b: "1" });
  await write(store, "side", { c: "1" });
  await write(store, "main", { z: "1" });
  await assert.rejects(store.merge("repo", "side", "main", { committer: WHO }), { code: "branch_dirty" });
  assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["+z"]);
  await store.reset("repo", "main", {}, WHO);
  const { summary } = await store.merge("repo", "side", "main", { committer: WHO });
  assert.deepEqual(summary, { added: 1, removed: 0, changed: 0, conflict: 0 });
  assert.deepEqual(await contents(store, "main"), { a: "1", b: "1" });
});

test("a staged record equal to the committed one does not make a branch dirty, nor undoes what is merged", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { a: "2" });
  await write(store, "main", { a: "1" });
  await store.merge("repo", "side", "main", { committer: WHO });
  assert.deepEqual(await contents(store, "main"), { a: "2" });
});

test("a second merge of a grown branch takes only what is new, from the newer base", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { a: "2" });
  await store.merge("repo", "side", "main", { committer: WHO });
  await commit(store, "main", { a: "3" });
  await commit(store, "side", { b: "1" });
  await store.merge("repo", "side", "main", { committer: WHO });
  assert.deepEqual(await contents(store, "main"), { a: "3", b: "1" });
});

test("10 parallel merges into one branch all land", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  for (let i = 0; i < 10; i++) {
    await store.createBranch("repo", `b${i}`, "main", WHO);
    await commit(store, `b${i}`, { [`f${i}`]: "1" });
  }
  await Promise.all(
    Array.from({ length: 10 }, (_, i) => store.merge("repo", `b${i}`, "main", { committer: WHO })),
  );
  assert.equal(Object.keys(await contents(store, "main")).length, 11);
});

test("revert takes a commit's changes back; of a merge only with a parent number", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1", b: "1" });
  const bad = await commit(store, "main", { a: "2", b: undefined, c: "1" });
  await commit(store, "main", { d: "1" });
  const reverted = await store.revert("repo", "main", bad, { committer: WHO });
  assert.deepEqual(await contents(store, "main"), { a: "1", b: "1", d: "1" });
  assert.equal(reverted.message, `Revert ${bad}`);
  await assert.rejects(store.revert("repo", "main", bad, { committer: WHO }), { code: "no_changes" });

  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { s: "1" });
  await commit(store, "main", { m: "1" });
  await store.merge("repo", "side", "main", { committer: WHO });
  const head = await store.resolve("repo", "main");
  await assert.rejects(store.revert("repo", "main", "main", { committer: WHO }), { code: "parent_required" });
  await assert.rejects(store.revert("repo", "main", "main", { committer: WHO, parent: 3 }), {
    code: "invalid_parent",
  });
  assert.equal(await store.resolve("repo", "main"), head);
  await store.revert("repo", "main", "main", { committer: WHO, parent: 1 });
  assert.deepEqual(await contents(store, "main"), { a: "1", b: "1", d: "1", m: "1" });
});

test("revert of a change that was built upon conflicts and leaves the branch", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  const second = await commit(store, "main", { a: "2" });
  const third = await commit(store, "main", { a: "3" });
  await assert.rejects(store.revert("repo", "main", second, { committer: WHO }), { code: "merge_conflict" });
  assert.equal(await store.resolve("repo", "main"), third);
});

test("cherry-pick makes one commit's changes on another branch and keeps its message", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { x: "1" }, "first");
  const wanted = await commit(store, "side", { y: "1" }, "second");
  const picked = await store.cherryPick("repo", "main", wanted, { committer: WHO });
  assert.deepEqual(await contents(store, "main"), { a: "1", y: "1" });
  assert.deepEqual([picked.message, picked.metadata["cherry-pick-origin"]], ["second", wanted]);
});
