import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { foldName, PlacementCheck } from "./placement.ts";

/** Returns the keys of a listing that are refused. */
function refused(keys: readonly string[], platform = "linux"): string[] {
  const check = new PlacementCheck(platform);
  const sorted = [...keys].sort((a, b) => compareBytes(utf8(a), utf8(b)));
  return sorted.filter((key) => check.refusal(key) !== undefined);
}

describe("PlacementCheck", () => {
  it("takes names that any disk takes", () => {
    const keys = [
      "a",
      "a-b/c",
      "a.b",
      "b/a",
      "b/b/a",
      "b/b/b",
      ".hidden/x",
      "é",
      "a b+%",
      "nl\nx",
      "x".repeat(255),
    ];
    assert.deepEqual(refused(keys), []);
  });

  it("refuses names that mean another place", () => {
    const keys = [
      "../../evil",
      "/abs",
      "C:\\x",
      "c:x/y",
      "a/../b",
      "a/./b",
      "a//b",
      "a/b/",
      "x\0y",
      "y/" + "y".repeat(256),
    ];
    assert.deepEqual(refused(keys).sort(), keys.sort());
  });

  it("refuses an object beside a folder of its name, whatever sorts between them", () => {
    assert.deepEqual(refused(["a", "a-b", "a/b", "a/c"]), ["a/b", "a/c"]);
    assert.deepEqual(refused(["x/a", "x/a.b", "x/a/b"]), ["x/a/b"]);
  });

  it("refuses names that one disk would merge, at every level", () => {
    assert.deepEqual(refused(["File.txt", "file.txt"]), ["file.txt"]);
    assert.deepEqual(refused(["d/caf\u00e9", "d/cafe\u0301"]), ["d/caf\u00e9"]);
    assert.deepEqual(refused(["A/x", "a/y"]), ["a/y"]);
    assert.deepEqual(refused(["stra\u00dfe/x", "strasse/y"]), ["stra\u00dfe/x"]);
    assert.deepEqual(refused(["A", "a/y"]), ["a/y"]);
    assert.deepEqual(refused(["one/File", "two/file"]), []);
  });

  it("does not let a refused key take a name", () => {
    assert.deepEqual(refused(["A", "a/../b", "b/x"]), ["a/../b"]);
  });

  it("refuses on Windows what only Windows refuses", () => {
    const keys = ["a:b", "con", "nul.txt", "dot.", "space ", "what?", "back\\slash", "ok"];
    assert.deepEqual(refused(keys), ["a:b"]);
    assert.deepEqual(refused(keys, "win32").length, 7);
  });

  it("remembers the folders on the current path only", () => {
    const check = new PlacementCheck("linux");
    for (let i = 0; i < 1000; i++) {
      const folder = String(i).padStart(4, "0");
      assert.equal(check.refusal(`${folder}/x`), undefined);
      assert.equal(check.refusal(`${folder}/y/z`), undefined);
    }
    assert.match(check.refusal("0999/Y") ?? "", /same name as "y"/);
  });
});

it("foldName() is equal for what some disk takes for one name", () => {
  assert.equal(foldName("STRASSE"), foldName("straße"));
  assert.equal(foldName("e\u0301"), foldName("É"));
  assert.notEqual(foldName("a"), foldName("b"));
});
