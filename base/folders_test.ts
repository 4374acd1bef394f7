import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../tests/support/temporary.ts";
import { makeFolderWithin } from "./folders.ts";

test("folders are made below one that is there, and the topmost that was made is told", (t) => {
  const within = temporaryFolder(t);
  assert.equal(makeFolderWithin({ folder: join(within, "a", "b"), within }), join(within, "a"));
  assert.equal(statSync(join(within, "a", "b")).mode & 0o777, 0o700);
  assert.equal(makeFolderWithin({ folder: join(within, "a", "c"), within }), join(within, "a", "c"));
  assert.equal(makeFolderWithin({ folder: join(within, "a", "c"), within }), undefined);
});

test("nothing is made where the folder that it belongs to is gone", (t) => {
  const within = join(temporaryFolder(t), "home");
  assert.throws(() => makeFolderWithin({ folder: join(within, "a", "b"), within }), { code: "ENOENT" });
  assert.ok(!existsSync(within));
});

test("a file in the way is an error, and a symlink to a folder is none", (t) => {
  const within = temporaryFolder(t);
  writeFileSync(join(within, "file"), "");
  assert.throws(() => makeFolderWithin({ folder: join(within, "file", "b"), within }), { code: "ENOTDIR" });
  mkdirSync(join(within, "real"));
  symlinkSync(join(within, "real"), join(within, "link"));
  makeFolderWithin({ folder: join(within, "link", "b"), within });
  assert.ok(existsSync(join(within, "real", "b")));
});
