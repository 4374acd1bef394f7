import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { temporaryFolder } from "./temporary.ts";
import { addOddNames, compareTrees, HOSTILE_PATHS, makeHostileTree, makeRealTree } from "./tree.ts";

const options = { timeout: 120_000 };

test("makeHostileTree() writes the same tree for the same seed and another for another", options, (t) => {
  const folder = temporaryFolder(t);
  const written = makeHostileTree(join(folder, "a"), { seed: 7 });
  makeHostileTree(join(folder, "b"), { seed: 7 });
  makeHostileTree(join(folder, "c"), { seed: 8 });
  assert.deepEqual(compareTrees(join(folder, "a"), join(folder, "b")), []);
  assert.notDeepEqual(compareTrees(join(folder, "a"), join(folder, "c")), []);
  for (const path of HOSTILE_PATHS) {
    assert.ok(readFileSync(`${folder}/a/${path}`).equals(written.get(path)!), path);
    assert.ok(new TextEncoder().encode(path).length <= 1024, path);
  }
});

test("compareTrees() sees what is missing, more, changed, or another kind of thing", options, (t) => {
  const folder = temporaryFolder(t);
  const left = join(folder, "left"), right = join(folder, "right");
  for (const side of [left, right]) {
    makeHostileTree(side, { randomFiles: 0, maxBytes: 100 });
    addOddNames(side);
  }
  assert.deepEqual(compareTrees(left, right), []);
  mkdirSync(join(right, "an empty folder"));
  assert.deepEqual(compareTrees(left, right), []);
  appendFileSync(join(right, "a"), "x");
  rmSync(join(right, "nfd/cafe\u0301"));
  writeFileSync(join(right, "nfd/caf\u00e9"), "");
  rmSync(join(right, "odd/to-file"));
  writeFileSync(join(right, "odd/to-file"), "behind a link");
  assert.deepEqual(compareTrees(left, right), [
    'differs: "a"',
    'only left: "nfd/cafe\u0301"',
    'only right: "nfd/caf\u00e9"',
    'differs: "odd/to-file"',
  ]);
});

test("makeRealTree() writes as many files as asked for, no two copies of one alike", options, (t) => {
  const folder = temporaryFolder(t);
  const { files, sizeBytes } = makeRealTree(join(folder, "all"), 700);
  assert.equal(files, 700);
  assert.ok(sizeBytes > 700 * 100);
  makeRealTree(join(folder, "most"), 699);
  assert.match(compareTrees(join(folder, "all"), join(folder, "most")).join("\n"), /^only left: [^\n]*$/);
  const copies = compareTrees(join(folder, "all/copy-0000"), join(folder, "all/copy-0001"));
  assert.ok(copies.length === 20 && copies.every((line) => line.startsWith("differs: ")), copies.join("\n"));
});
