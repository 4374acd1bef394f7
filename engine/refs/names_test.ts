import assert from "node:assert/strict";
import { test } from "node:test";
import { checkBranchName, checkRepositoryName, checkTagName, foldName } from "./names.ts";

test("checkRepositoryName() takes 3 to 63 of a-z 0-9 -, first a letter or digit", () => {
  for (const good of ["abc", "0-a", "a".repeat(63), "a--"]) assert.equal(checkRepositoryName(good), good);
  for (const bad of ["", "ab", "a".repeat(64), "-ab", "Abc", "a_b", "a.b", "a/b", "añb", "abc\n"]) {
    assert.throws(() => checkRepositoryName(bad), { code: "invalid_repository_name" }, bad);
  }
});

test("checkBranchName() takes git's names of plain characters", () => {
  for (const good of ["main", "_x", "feature/x", "767", "v1.0", "a-b_c.d", "a/b/c"]) {
    assert.equal(checkBranchName(good), good);
  }
  const bad = [
    "",
    "-a",
    "/a",
    "a/",
    "a//b",
    "a..b",
    ".a",
    "a/.b",
    "a.",
    "a.lock",
    "a.lock/b",
    "a b",
    "a@b",
    "a~",
    "a^",
  ];
  for (const name of [...bad, "a:b", "é", "a$", "a%", "f".repeat(64), "a".repeat(256)]) {
    assert.throws(() => checkBranchName(name), { code: "invalid_branch_name" }, name);
  }
});

test("checkTagName() takes git's ref names, in any script", () => {
  for (const good of ["v.0.1.1", "версия-1", "a+b", "a=b", "release/1", "-x".slice(1)]) {
    assert.equal(checkTagName(good), good);
  }
  const bad = [
    "",
    "a b",
    "a\tb",
    "a\x7f",
    "a?",
    "a*",
    "a[",
    "a\\b",
    "a@{1}",
    "@",
    "a..b",
    "-a",
    "a.lock",
    "A".repeat(64),
  ];
  for (const name of [...bad, "\ud800"]) {
    assert.throws(() => checkTagName(name), { code: "invalid_tag_name" }, name);
  }
});

test("foldName() makes names equal that one disk would merge", () => {
  assert.equal(foldName("Main"), foldName("main"));
  assert.equal(foldName("é"), foldName("e\u0301"));
  assert.notEqual(foldName("main"), foldName("main2"));
});
