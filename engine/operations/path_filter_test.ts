import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { PathFilter } from "./path_filter.ts";

const KEYS = ["a", "a!", "a/", "a/b", "a/b/c", "a0", "b", "b/x", "c"];

function included(...paths: string[]): string[] {
  const filter = new PathFilter(paths);
  return KEYS.filter((key) => filter.includes(utf8(key)));
}

test("a path stands for one object, one that ends in a slash for all under it", () => {
  assert.deepEqual(included("a"), ["a"]);
  assert.deepEqual(included("a/"), ["a/", "a/b", "a/b/c"]);
  assert.deepEqual(included("c", "a", "a/"), ["a", "a/", "a/b", "a/b/c", "c"]);
  assert.deepEqual(included("b/x", "nowhere/"), ["b/x"]);
});

test("paths that lie in one another become one stretch of keys", () => {
  const filter = new PathFilter(["a/b/", "a/", "a/b", "b", "a/z"]);
  const shown = filter.bounds.map(({ start, end }) => [lossyText(start!), lossyText(end!)]);
  assert.deepEqual(shown, [["a/", "a0"], ["b", "b\0"]]);
});

test("an empty path, or one with a NUL, is refused", () => {
  for (const bad of ["", "a\0", "\ud800/"]) {
    assert.throws(() => new PathFilter([bad]), { code: "invalid_path" });
  }
});
