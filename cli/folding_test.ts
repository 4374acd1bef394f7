import assert from "node:assert/strict";
import { it } from "node:test";
import type { ChangeType, DiffItem, ObjectStats } from "../drivers/store.ts";
import { countByFolder, foldChanges, foldedPath, kindOf } from "./folding.ts";

function change(type: ChangeType, path: string, left = 0, right = 0): DiffItem {
  const side = (sizeBytes: number) => ({ path, sizeBytes }) as ObjectStats;
  return {
    type,
    path,
    pathType: "object",
    sizeBytes: right || left,
    ...(type === "added" ? {} : { left: side(left) }),
    ...(type === "removed" ? {} : { right: side(right) }),
  };
}

const CHANGES = [
  change("added", "README", 0, 5),
  change("added", "a/b/x", 0, 10),
  change("removed", "a/b/y", 7),
  change("changed", "a/c", 3, 4),
  change("added", "b/x", 0, 1),
  change("added", "b/y", 0, 1),
];

/** The same changes however they are cut into pages. */
async function* pages(size: number) {
  for (let at = 0; at < CHANGES.length; at += size) yield CHANGES.slice(at, at + size);
}

it("foldedPath() folds at the delimiter that is asked for, after the prefix", () => {
  assert.equal(foldedPath("a/b/c", { delimiter: "/", depth: 1 }), "a/");
  assert.equal(foldedPath("a/b/c", { delimiter: "/", depth: 2 }), "a/b/");
  assert.equal(foldedPath("a/b/c", { delimiter: "/", depth: 3 }), undefined);
  assert.equal(foldedPath("a/b/c", { delimiter: "/", depth: 1, prefix: "a/" }), "a/b/");
  assert.equal(foldedPath("x.tar.gz", { delimiter: ".tar", depth: 1 }), "x.tar");
});

it("foldChanges() makes one of what shares a folder, and leaves the rest", async () => {
  for (const size of [1, 2, 6]) {
    const folded = [];
    for await (const page of foldChanges(pages(size), { delimiter: "/", depth: 1 })) folded.push(...page);
    assert.deepEqual(folded.map(({ path }) => path), ["README", "a/", "b/"]);
    assert.deepEqual(folded[1], {
      path: "a/",
      counts: { added: 1, removed: 1, changed: 1, conflict: 0 },
      bytesAdded: 14,
      bytesRemoved: 10,
    });
    assert.deepEqual(folded.slice(1).map((item) => "counts" in item && kindOf(item)), ["changed", "added"]);
  }
});

it("countByFolder() counts all, by folder and in byte order", async () => {
  const one = await countByFolder(pages(2), { delimiter: "/", depth: 1 });
  assert.deepEqual(one.folders.map(({ path, counts }) => [path, counts.added]), [["", 1], ["a/", 1], [
    "b/",
    2,
  ]]);
  assert.deepEqual(one.total, {
    counts: { added: 4, removed: 1, changed: 1, conflict: 0 },
    bytesAdded: 21,
    bytesRemoved: 10,
  });
  const two = await countByFolder(pages(2), { delimiter: "/", depth: 2 });
  assert.deepEqual(two.folders.map(({ path }) => path), ["", "a/", "a/b/", "b/"]);
});
