import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { commit, contents, WHO, withRepository, write } from "../../tests/support/test_engine.ts";
import { matchesPattern } from "./protection.ts";

test("a pattern fits by its stars and question marks, and quickly whatever it is", () => {
  const fits: readonly (readonly [pattern: string, name: string, fits: boolean])[] = [
    ["main", "main", true],
    ["main", "mainline", false],
    ["main", "domain", false],
    ["*", "anything/at-all", true],
    ["release-*", "release-", true],
    ["release-*", "release-1/a", true],
    ["release-?", "release-12", false],
    ["*-stable", "v1-stable-stable", true],
    ["*a*b*c", "xaxbxbxc", true],
    ["*a*b*c", "xaxbxbxcx", false],
    ["?", "", false],
    ["?", "é", true],
    ["[ab]", "a", false],
    [".*", "main", false],
    ["*a".repeat(100) + "b", "a".repeat(250), false],
  ];
  for (const [pattern, name, expected] of fits) {
    assert.equal(matchesPattern(pattern, name), expected, `${pattern} ${name}`);
  }
});

test("a protected branch takes merges, reverts and cherry-picks, and nothing else", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "work", "main", WHO);
  await write(store, "main", { staged: "1" });
  await store.settings.setBranchProtection("repo", ["ma*"]);
  const refused = { code: "branch_protected", kind: "forbidden" };
  await assert.rejects(store.writer("repo", "main"), refused);
  await assert.rejects(store.commit("repo", "main", { message: "m", committer: WHO }), refused);
  await assert.rejects(store.reset("repo", "main", {}, WHO), refused);
  await assert.rejects(store.hardReset("repo", "main", "main", WHO), refused);
  await assert.rejects(store.issueAddress("repo", "main", "x"), refused);
  await store.settings.setBranchProtection("repo", ["ma*", "w?rk"]);
  await assert.rejects(store.deleteBranch("repo", "work", WHO), refused);

  await store.settings.setBranchProtection("repo", []);
  await store.reset("repo", "main", {}, WHO);
  await store.settings.setBranchProtection("repo", ["main"]);
  const work = await commit(store, "work", { b: "1" });
  await store.merge("repo", "work", "main", { committer: WHO });
  await store.revert("repo", "main", work, { committer: WHO });
  await store.cherryPick("repo", "main", work, { committer: WHO });
  assert.deepEqual(await contents(store, "main"), { a: "1", b: "1" });
});

test("a writer that was open before the rule goes on, and the next one is refused", async () => {
  const { store } = await withRepository();
  const writer = await store.writer("repo", "main");
  await store.settings.setBranchProtection("repo", ["main"]);
  await writer.put("a", utf8("1"));
  await writer.close();
  await assert.rejects(store.writer("repo", "main"), { code: "branch_protected" });
});

test("rules are replaced only if they are those that were seen, when that is asked for", async () => {
  const { store } = await withRepository();
  const { settings } = store;
  const first = await settings.branchProtection("repo");
  assert.deepEqual(first.patterns, []);
  await settings.setBranchProtection("repo", ["a", "b", "a"], first.etag);
  await assert.rejects(settings.setBranchProtection("repo", ["c"], first.etag), {
    code: "settings_changed",
    kind: "precondition",
  });
  assert.deepEqual((await settings.branchProtection("repo")).patterns, ["a", "b"]);
  for (const pattern of ["", "x".repeat(1025), "\ud800"]) {
    await assert.rejects(settings.setBranchProtection("repo", [pattern]), { code: "invalid_pattern" });
  }
  await store.deleteRepository("repo");
  await assert.rejects(settings.branchProtection("repo"), { code: "repository_not_found" });
});
