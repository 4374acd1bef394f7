import assert from "node:assert/strict";
import test from "node:test";
import { isKind } from "../../tests/conformance/object_store_support.ts";
import { HOSTILE_KEYS } from "../../tests/conformance/object_store_listing_suite.ts";
import { parentOf, Placement, whyUnplaceable } from "./placement.ts";

test("place() keeps a key as the same path under the root", () => {
  const placement = new Placement("/srv/data", "linux");
  for (const key of [...HOSTILE_KEYS, "a\\b", "C:", "C:\\x", "con", "a:b", "a.", "a "]) {
    assert.equal(placement.place(key).path, `/srv/data/${key}`);
  }
  assert.deepEqual(placement.place("a/b/c"), { key: "a/b/c", folder: "a/b", path: "/srv/data/a/b/c" });
  assert.deepEqual(placement.place("c"), { key: "c", folder: "", path: "/srv/data/c" });
});

test("place() refuses what is no relative path, or another path than it says", () => {
  const placement = new Placement("/srv/data", "linux");
  const keys = [
    "",
    "/",
    "/a",
    "//a",
    "a/",
    "a//b",
    "a/b//",
    ".",
    "..",
    "./a",
    "../a",
    "a/.",
    "a/..",
    "a/../b",
    "a/./b",
  ];
  const others = [
    "a\0",
    "\0",
    "a/b\0/c",
    "\ud800",
    "a/\udc00b",
    "\ud83dx",
    ".tarn-tmp-x",
    "a/.tarn-tmp-",
    ".tarn-tmp-/a",
  ];
  for (const key of [...keys, ...others]) {
    assert.throws(() => placement.place(key), isKind("invalid", "unplaceable_key"), JSON.stringify(key));
    assert.equal(placement.isPlaceable(key), false);
  }
});

test("place() takes 255 bytes a segment, whatever the characters, and 4,095 in all", () => {
  const placement = new Placement("/srv/data", "linux");
  for (const [unit, bytes] of [["x", 1], ["\u00e9", 2], ["\u20ac", 3], ["\u{1f600}", 4]] as const) {
    const most = Math.floor(255 / bytes);
    assert.ok(placement.isPlaceable(`a/${unit.repeat(most)}/b`), unit);
    assert.ok(!placement.isPlaceable(`a/${unit.repeat(most + 1)}/b`), unit);
  }
  assert.ok(placement.isPlaceable(`${"a/".repeat(2047)}a`));
  assert.ok(!placement.isPlaceable(`${"a/".repeat(2048)}a`));
});

test("place() refuses on Windows what Windows would read as something else", () => {
  const keys = [
    "C:/x",
    "c:x",
    "a/C:/b",
    "a\\b",
    "..\\a",
    "a:stream",
    "con",
    "a/NUL.txt",
    "com1",
    "Lpt9.x",
    "COM\u00b9",
  ];
  const others = ["a.", "a ", "a./b", "a /b", "a?", "a*", "a<b", "a|b", 'a"b', "a\u0001", "a\nb", "conin$"];
  for (const key of [...keys, ...others]) assert.ok(whyUnplaceable(key, "win32"), JSON.stringify(key));
  for (const key of ["a/b.c", "console", "com", "com12", "nul1", "\u20ac", ".a", "a b"]) {
    assert.equal(whyUnplaceable(key, "win32"), undefined, key);
  }
});

test("a root is absolute, and its trailing slashes mean nothing", () => {
  assert.equal(new Placement("/srv/data//", "linux").place("a/b").path, "/srv/data/a/b");
  assert.equal(new Placement("/", "linux").place("a/b").path, "/a/b");
  assert.equal(new Placement("/", "linux").pathOf(""), "/");
  assert.throws(() => new Placement("srv", "linux"), isKind("invalid", "invalid_root"));
});

test("parentOf() gives the folder, and the root for what lies in it", () => {
  assert.deepEqual(["a/b/c", "a/b", "a", ""].map(parentOf), ["a/b", "a", "", ""]);
});
