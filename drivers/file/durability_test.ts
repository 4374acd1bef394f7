import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { reportsFailedWrites, syncFileSystem } from "../../base/platform.ts";
import { isKind } from "../../tests/conformance/object_store_support.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { type FileSync, openFileObjectStore, systemSync } from "./mod.ts";

/** Opens a store whose syncs are written down, as `what path`, and then done by `sync`. */
function openWatched(t: TestContext, sync: Partial<FileSync> = {}) {
  const folder = temporaryFolder(t);
  const root = join(folder, "home/objects");
  const calls: string[] = [];
  const watch = <K extends keyof FileSync>(what: K): FileSync[K] => {
    const call = (path: string) => {
      calls.push(`${what} ${relative(root, path) || "."}`);
      return (sync[what] ?? systemSync[what])(path);
    };
    return call as FileSync[K];
  };
  const watched = { file: watch("file"), folder: watch("folder"), fileSystem: watch("fileSystem") };
  return { root, calls, store: openFileObjectStore({ root, address: "local://x", sync: watched }) };
}

const body = new Uint8Array(10);

test("the first flush syncs the folders that lead to the root, as far as they were made here", async (t) => {
  const { root, calls, store } = openWatched(t);
  await store.put("a", body);
  assert.equal(calls.length, 0);
  await Promise.all([store.flush(["a"]), store.flush(["a"])]);
  assert.deepEqual(calls.filter((call) => call.includes("..")), ["folder ..", "folder ../.."]);
  calls.length = 0;
  await store.put("b", body);
  await store.flush(["b"]);
  assert.deepEqual(calls, ["file b", "folder ."]);
  rmSync(join(root, ".."), { recursive: true });
  await store.put("c", body);
  await store.flush(["c"]);
  assert.deepEqual(calls.slice(2), ["file c", "folder .", "folder ..", "folder ../.."]);
});

test("a store that finds its root made syncs its entry all the same: who made it may not have flushed", async (t) => {
  const { root, calls, store } = openWatched(t);
  await openFileObjectStore({ root, address: "local://x" }).put("a", body);
  await store.flush(["a"]);
  assert.deepEqual(calls, ["file a", "folder .", "folder .."]);
});

test("flush() syncs each file once, then each folder on the way to it up to the root", async (t) => {
  const { calls, store } = openWatched(t);
  for (const key of ["a/b/1", "a/b/2", "a/c/3", "4"]) await store.put(key, body);
  await store.flush(["4"]);
  calls.length = 0;
  await store.flush(["a/b/1", "a/b/2", "a/c/3", "a/b/1"]);
  assert.deepEqual(calls.slice(0, 3).toSorted(), ["file a/b/1", "file a/b/2", "file a/c/3"]);
  assert.deepEqual(calls.slice(3).toSorted(), ["folder .", "folder a", "folder a/b", "folder a/c"]);
  calls.length = 0;
  await store.flush(["4"]);
  assert.deepEqual(calls, ["file 4", "folder ."]);
});

test("flush() of very many syncs the file system once, where it can, and else each file", async (t) => {
  for (const canSync of [true, false]) {
    const { calls, store } = openWatched(t, {
      file: async () => {},
      folder: async () => {},
      fileSystem: async () => canSync,
    });
    const keys = Array.from({ length: 400 }, (_, i) => `${i % 3}/${i}`);
    for (const key of keys) await store.put(key, body);
    await store.flush([keys[0]!]);
    calls.length = 0;
    await store.flush(keys);
    assert.equal(calls[0], "fileSystem .");
    const files = calls.filter((call) => call.startsWith("file "));
    const folders = calls.filter((call) => call.startsWith("folder "));
    assert.equal(files.length, canSync ? 0 : 400);
    assert.deepEqual(folders.toSorted(), canSync ? [] : ["folder .", "folder 0", "folder 1", "folder 2"]);
  }
});

test("flush() of a missing object syncs nothing", async (t) => {
  const { calls, store } = openWatched(t);
  await store.put("a", body);
  calls.length = 0;
  await assert.rejects(store.flush(["a", "b"]), isKind("not_found", "object_not_found"));
  assert.deepEqual(calls, []);
});

for (const what of ["file", "folder", "fileSystem"] as const) {
  test(`a failed sync of a ${what} is told, and no later flush hides it until the object is put again`, async (t) => {
    let code: string | undefined;
    const { store } = openWatched(t, {
      [what]: async () => {
        if (code) throw Object.assign(new Error("sync failed"), { code });
        return true;
      },
    });
    const keys = Array.from({ length: what === "fileSystem" ? 400 : 1 }, (_, i) => `k${i}`);
    for (const key of [...keys, "other"]) await store.put(key, body);
    code = "EIO";
    await assert.rejects(store.flush(keys), isKind("unavailable", "storage_unavailable"));
    code = undefined;
    await assert.rejects(store.flush(["k0"]), isKind("unavailable", "storage_unavailable"));
    await store.flush(["other"]);
    await store.put("k0", body);
    await store.flush(["k0"]);
    code = "ENOSPC";
    await assert.rejects(store.flush(what === "fileSystem" ? [...keys.slice(1), "other"] : ["other"]));
  });
}

test("a full disk at flush is storage_full", async (t) => {
  const { store } = openWatched(t, {
    file: () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" })),
  });
  await store.put("k", body);
  await assert.rejects(store.flush(["k"]), isKind("unavailable", "storage_full"));
});

test("an object that replaces another is on the disk before it takes the name", async (t) => {
  let inspect = () => {};
  const { root, calls, store } = openWatched(t, { file: async () => inspect() });
  await store.put("k", new Uint8Array(1));
  calls.length = 0;
  const sizes: (number | undefined)[] = [];
  inspect = () => void store.head("k").then((info) => sizes.push(info?.sizeBytes));
  await store.put("k", new Uint8Array(2));
  assert.equal(calls.length, 1);
  assert.match(calls[0]!, /^file \.tarn-tmp-[0-9a-f]{24}$/);
  assert.deepEqual(sizes, [1]);
  assert.equal((await store.head("k"))?.sizeBytes, 2);
  inspect = () => {
    throw Object.assign(new Error("sync failed"), { code: "EIO" });
  };
  await assert.rejects(store.put("k", new Uint8Array(3)), isKind("unavailable", "storage_unavailable"));
  assert.equal((await store.head("k"))?.sizeBytes, 2);
  assert.ok(existsSync(join(root, "k")));
});

test("syncFileSystem() tells of a path that is not there", {
  skip: process.platform === "linux" && "Bun" in globalThis ? false : "no syncfs to call here",
}, async (t) => {
  const folder = temporaryFolder(t);
  assert.equal(await syncFileSystem(folder), true);
  await assert.rejects(syncFileSystem(join(folder, "missing")), /ENOENT/);
});

test("syncfs is trusted from Linux 5.8 on", () => {
  for (const kernel of ["5.8.0", "5.10.0-8-amd64", "6.1.0", "10.0"]) {
    assert.ok(reportsFailedWrites(kernel), kernel);
  }
  for (const kernel of ["5.7.19", "5.4.0-42-generic", "4.19.0", "3.10.0", ""]) {
    assert.ok(!reportsFailedWrites(kernel), kernel);
  }
});
