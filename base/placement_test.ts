import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareBytes, utf8 } from "./bytes.ts";
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

  it("tells names apart that look the same", () => {
    const why = (...keys: string[]) => {
      const check = new PlacementCheck();
      return keys.map((key) => check.refusal(key)).at(-1);
    };
    const alike = "some disks take";
    assert.equal(why("README", "Readme"), `${alike} it for the same name as "README"`);
    assert.equal(
      why("e\u0301", "\u00e9"),
      `${alike} "\u00e9" in NFC for the same name as "e\u0301" in NFD`,
    );
    assert.equal(why("E\u0301", "\u00e9"), `${alike} it for the same name as "E\u0301"`);
    assert.equal(
      why("e\u0301\u00e9", "\u00e9e\u0301"),
      `${alike} "\u00e9e\u0301" in neither NFC nor NFD for the same name as "e\u0301\u00e9" in neither NFC nor NFD`,
    );
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

describe("foldName()", () => {
  const ONE_NAME: readonly (readonly string[])[] = [
    ["README", "readme", "ReadMe"],
    ["straße", "strasse", "STRASSE", "STRAẞE", "ſtraſſe", "STRAſſE"],
    ["é", "e\u0301", "É", "E\u0301"],
    ["ﬁle", "file", "FILE", "ﬁLE"],
    ["oﬀice", "oﬃce", "OFFICE"],
    ["İx", "I\u0307X", "i\u0307x"],
    ["ΟΔΥΣΣΕΥΣ", "οδυσσευς", "οδυσσευσ", "ΟΔΥΣΣΕΥΣ".toLowerCase()],
    ["ΑΣ.txt", "ας.txt", "ασ.txt"],
    ["\u212a", "k", "K"],
    ["\u2126", "ω", "Ω"],
    ["ŉ", "ʼn", "ʼN"],
    ["ᾳ", "αι", "ᾼ", "ΑΙ"],
    ["\u1e9b\u0323", "\u1e69", "\u1e68"],
    ["ǆ", "ǅ", "Ǆ"],
    ["\uac00", "\u1100\u1161"],
    ["\u{10400}", "\u{10428}"],
  ];

  it("is equal for names that differ in case or Unicode form alone", () => {
    for (const names of ONE_NAME) {
      assert.deepEqual([...new Set(names.map(foldName))].length, 1, names.join(" "));
    }
  });

  it("tells apart what no disk takes for one", () => {
    for (const [a, b] of [["a", "b"], ["ılık", "ilik"], ["İ", "i"], ["o", "ö"], ["æ", "ae"], ["ﬁ", "fl"]]) {
      assert.notEqual(foldName(a!), foldName(b!), `${a} ${b}`);
    }
  });

  it("of a folded name is that name", () => {
    for (const names of ONE_NAME) {
      for (const name of names) assert.equal(foldName(foldName(name)), foldName(name), name);
    }
  });
});
