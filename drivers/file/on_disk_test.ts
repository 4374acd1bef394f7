import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import test, { type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { type FileSync, openFileObjectStore, systemSync } from "./mod.ts";

const body = new Uint8Array(10);

/** Opens a store whose syncs are written down. */
function openWatched(t: TestContext) {
  const root = join(temporaryFolder(t), "objects");
  const calls: string[] = [];
  const sync: FileSync = {
    ...systemSync,
    file: (path) => (calls.push(relative(root, path)), systemSync.file(path)),
    folder: (path) => (calls.push(`${relative(root, path) || "."}/`), systemSync.folder(path)),
  };
  const store = openFileObjectStore({ root, address: "local://x", sync });
  const flushed = async (key: string) => {
    calls.length = 0;
    await store.flush([key]);
    return calls.toSorted();
  };
  return { root, calls, store, flushed };
}

test("the entries of folders that are on disk are not flushed again, those of folders made anew are", async (t) => {
  const { root, store, flushed } = openWatched(t);
  await store.put("a/b/1", body);
  await store.flush(["a/b/1"]);
  assert.deepEqual(await flushed("a/b/1"), ["./", "a/", "a/b/", "a/b/1"], "too young to be told apart");
  await setTimeout(2100);
  assert.deepEqual(await flushed("a/b/1"), ["./", "a/", "a/b/", "a/b/1"]);
  await store.put("a/b/2", body);
  assert.deepEqual(await flushed("a/b/2"), ["a/b/", "a/b/2"]);
  await store.put("a/c/3", body);
  assert.deepEqual(await flushed("a/c/3"), ["a/", "a/c/", "a/c/3"]);
  // Somebody else removes the folder, and it is made again, most likely with the same inode.
  rmSync(join(root, "a"), { recursive: true });
  await store.put("a/b/1", body);
  assert.deepEqual(await flushed("a/b/1"), ["./", "a/", "a/b/", "a/b/1"]);
});

test("data that was flushed ahead is not flushed again, unless the file is another one", async (t) => {
  const { calls, store, flushed } = openWatched(t);
  await store.put("1", body);
  await store.flushData!(["1"]);
  assert.deepEqual(calls, ["1"]);
  assert.deepEqual(await flushed("1"), ["../", "./"].toSorted());
  await store.put("1", body);
  assert.deepEqual(await flushed("1"), ["./", "1"]);
});

test("what could not be flushed ahead is not flushed later either", async (t) => {
  const root = join(temporaryFolder(t), "objects");
  let isBroken = true;
  const file = (path: string) =>
    isBroken ? Promise.reject(Object.assign(new Error("no"), { code: "EIO" })) : systemSync.file(path);
  const store = openFileObjectStore({ root, address: "local://x", sync: { ...systemSync, file } });
  await store.put("1", body);
  await assert.rejects(store.flushData!(["1"]));
  isBroken = false;
  await assert.rejects(store.flush(["1"]), { code: "storage_unavailable" });
  await store.put("1", body);
  await store.flush(["1"]);
});
