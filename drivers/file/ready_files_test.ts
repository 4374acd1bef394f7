import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { once } from "node:events";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openFileObjectStore } from "./mod.ts";
import { takeReady } from "./ready_files.ts";

async function openTemporary(t: TestContext) {
  const root = join(temporaryFolder(t), "root");
  const store = openFileObjectStore({ root, address: "local://name" });
  // A folder that is known.
  await store.put("a/first", new Uint8Array(1), { mode: "fresh" });
  return { root, store };
}

test("file: a small object goes into the file that was made ahead", async (t) => {
  const { root, store } = await openTemporary(t);
  assert.equal(store.makeReady!("a/b"), true);
  const { ino } = statSync(join(root, "a/b"));
  await store.put("a/b", new Uint8Array([1, 2, 3]), { mode: "fresh" });
  assert.equal(statSync(join(root, "a/b")).ino, ino);
  assert.equal(takeReady(join(root, "a/b")), undefined);
});

test("file: an object is where it belongs, although the folder with the file that was made ahead was moved away", async (t) => {
  const { root, store } = await openTemporary(t);
  assert.equal(store.makeReady!("a/b"), true);
  renameSync(join(root, "a"), join(root, "moved"));
  await store.put("a/b", new Uint8Array([1, 2, 3]), { mode: "fresh" });
  assert.deepEqual(await store.read("a/b", 0, 10), new Uint8Array([1, 2, 3]));
});

test("file: nothing is put where a copy of the root took its place", async (t) => {
  const { root, store } = await openTemporary(t);
  assert.equal(store.makeReady!("a/b"), true);
  cpSync(root, `${root}-copy`, { recursive: true });
  renameSync(root, `${root}-before`);
  renameSync(`${root}-copy`, root);
  const put = store.put("a/b", new Uint8Array([1, 2, 3]), { mode: "fresh" });
  await assert.rejects(put, { code: "object_exists" });
});

test("file: nothing is made ahead in a folder that is not known to be there", async (t) => {
  const { root, store } = await openTemporary(t);
  assert.equal(store.makeReady!("b/c"), false);
  assert.deepEqual(readdirSync(root), ["a"]);
});

test("file: what was made ahead and is not used is gone soon", async (t) => {
  const { root, store } = await openTemporary(t);
  for (const key of ["a/b", "a/c"]) assert.equal(store.makeReady!(key), true);
  await store.put("a/b", new Uint8Array(1), { mode: "fresh" });
  for (let tries = 0; existsSync(join(root, "a/c")); tries++) {
    assert.ok(tries < 100, "it is still there");
    await setTimeout(100);
  }
  assert.deepEqual(readdirSync(join(root, "a")).sort(), ["b", "first"]);
  await store.put("a/c", new Uint8Array(1), { mode: "fresh" });
  assert.deepEqual(readdirSync(join(root, "a")).sort(), ["b", "c", "first"]);
});

test("file: a process that ends leaves nothing that was made ahead", async (t) => {
  const root = join(temporaryFolder(t), "root");
  mkdirSync(root);
  const program = fileURLToPath(new URL("testdata/make_ready.ts", import.meta.url));
  const child = spawn(process.execPath, [program, root], { stdio: ["ignore", "pipe", "inherit"] });
  const [text] = await once(child.stdout, "data");
  assert.equal(`${text}`, "true");
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.deepEqual(readdirSync(join(root, "a")), ["first"]);
});
