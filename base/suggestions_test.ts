import assert from "node:assert/strict";
import { it } from "node:test";
import { closest, editDistance } from "./suggestions.ts";

it("editDistance() counts insertions, deletions, replacements and swaps", () => {
  assert.equal(editDistance("commit", "commit"), 0);
  assert.equal(editDistance("comit", "commit"), 1);
  assert.equal(editDistance("cmomit", "commit"), 1);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("kitten", "sitting"), 3);
});

it("closest() names the nearest known word, and none when all are far", () => {
  const known = ["commit", "merge", "log", "ls"];
  assert.equal(closest("comit", known), "commit");
  assert.equal(closest("LOG", known), "log");
  assert.equal(closest("frobnicate", known), undefined);
});
