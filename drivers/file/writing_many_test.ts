import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openFileObjectStore } from "./mod.ts";

const storeAt = (root: string) => openFileObjectStore({ root, address: "local://test" });

const objectsIn = (folder: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `${folder}/${i}`, body: utf8(`content ${i}`) }));

test("putMany() makes files that only their owner may read", async (t) => {
  const root = temporaryFolder(t);
  await storeAt(root).putMany(objectsIn("a/b", 3));
  for (const name of ["0", "1", "2"]) {
    assert.equal(readFileSync(join(root, "a/b", name), "utf8"), `content ${name}`);
    if (process.platform !== "win32") assert.equal(statSync(join(root, "a/b", name)).mode & 0o777, 0o600);
  }
});

test("putMany() makes a folder anew that somebody has taken away", async (t) => {
  const root = temporaryFolder(t);
  const store = storeAt(root);
  await store.putMany(objectsIn("a/b", 3));
  rmSync(join(root, "a"), { recursive: true });
  await store.putMany(objectsIn("a/b", 100));
  assert.equal(readdirSync(join(root, "a/b")).length, 100);
});

test("putMany() writes through no symlink, neither under a name nor on the way to it", async (t) => {
  const root = temporaryFolder(t), outside = temporaryFolder(t);
  mkdirSync(join(root, "a"));
  symlinkSync(join(outside, "target"), join(root, "a", "1"));
  symlinkSync(outside, join(root, "b"));
  for (const folder of ["a", "b"]) {
    await assert.rejects(storeAt(root).putMany(objectsIn(folder, 3)), { code: "unplaceable_key" });
  }
  assert.ok(!existsSync(join(outside, "target")));
  assert.deepEqual(readdirSync(outside), []);
});
