import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { CacheKey } from "../cache.ts";
import { cacheItems, totalOf } from "./items.ts";
import { shownKey } from "./layout.ts";
import type { LocalCache } from "./local_cache.ts";
import { contentOf, download, fetchAll, FOLDER, leftovers, openTestCache } from "./testing.ts";

const PROGRAM = fileURLToPath(new URL("testdata/hold_item.ts", import.meta.url));
const fileKey = (name: string): CacheKey => ({ store: "s", parts: ["repo", "main", ...name.split("/")] });
const folderKey = (name: string): CacheKey => ({ store: "s", parts: ["repo", "main", name] });

async function putFile(cache: LocalCache, name: string, bytes: number): Promise<void> {
  await cache.file(fileKey(name), { version: "v" }, async () => download("x".repeat(bytes), "v"));
}

/** Lets items look as if they had been used one after the other, in this order. */
function used(cache: LocalCache, ...keys: readonly CacheKey[]): void {
  const { layout } = cache.parts;
  for (const [i, key] of keys.entries()) {
    const time = Date.UTC(2026, 0, 1) / 1000 + i;
    for (const path of [layout.metaOf(key), layout.doneOf(key), layout.listOf(key, "unfinished")]) {
      if (fs.existsSync(path)) fs.utimesSync(path, time, time);
    }
  }
}

async function held(cache: LocalCache): Promise<string[]> {
  const items = await Array.fromAsync(cacheItems(cache.parts.layout));
  return items.map(({ kind, key, isWhole }) => `${kind} ${shownKey(key)}${isWhole ? "" : " unfinished"}`)
    .sort();
}

describe("a cache with a limit", () => {
  it("lets go what was not used for longest, files and folders alike", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    await putFile(cache, "a", 300);
    await fetchAll(cache, { x: "x".repeat(100), "d/y": "y".repeat(200) }, folderKey("f"));
    await putFile(cache, "b", 300);
    used(cache, fileKey("b"), folderKey("f"), fileKey("a"));
    await putFile(cache, "c", 200);
    assert.deepEqual(await held(cache), [
      "file s://repo/main/a",
      "file s://repo/main/c",
      "folder s://repo/main/f",
    ]);
    await putFile(cache, "d", 300);
    assert.deepEqual(await held(cache), [
      "file s://repo/main/a",
      "file s://repo/main/c",
      "file s://repo/main/d",
    ]);
    assert.deepEqual(Object.keys(contentOf(join(cache.root, "s"))), [
      "repo/main/a",
      "repo/main/c",
      "repo/main/d",
    ]);
    assert.deepEqual(fs.readdirSync(join(cache.root, "s/repo/main")).sort(), ["a", "c", "d"]);
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("counts a use: what was read last stays", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    for (const name of ["a", "b", "c"]) await putFile(cache, name, 300);
    used(cache, ...["a", "b", "c"].map(fileKey));
    await cache.cachedFile(fileKey("a"));
    await putFile(cache, "d", 300);
    assert.ok((await held(cache)).includes("file s://repo/main/a"));
    assert.ok(!(await held(cache)).includes("file s://repo/main/b"));
  });

  it("keeps what has just been fetched, also when that alone is over the limit", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 100 });
    await putFile(cache, "a", 50);
    await putFile(cache, "large", 500);
    assert.deepEqual(await held(cache), ["file s://repo/main/large"]);
    await fetchAll(cache, { x: "x".repeat(400) });
    assert.deepEqual(await held(cache), ["folder s://repo/main/t"]);
    assert.equal(await cache.cachedFolder(FOLDER), cache.parts.layout.contentOf(FOLDER));
  });

  it("counts what other processes wrote, and nothing twice", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    const other = await openTestCache(t, { root: cache.root, maxBytes: 1000 });
    await putFile(cache, "a", 400);
    await putFile(other, "b", 400);
    used(cache, fileKey("a"), fileKey("b"));
    await putFile(cache, "c", 400);
    assert.deepEqual(await held(cache), ["file s://repo/main/b", "file s://repo/main/c"]);
    await fetchAll(cache, { "in/x": "x".repeat(300) });
    const inner = { store: "s", parts: [...FOLDER.parts, "in"] };
    await fetchAll(cache, { x: "x".repeat(300) }, inner);
    const items = await Array.fromAsync(cacheItems(cache.parts.layout));
    assert.equal(totalOf(items.filter(({ kind }) => kind === "folder")).sizeBytes, 300);
  });

  it("goes on counting when its count is damaged", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    await putFile(cache, "a", 600);
    fs.writeFileSync(cache.parts.layout.usage, "garbage");
    used(cache, fileKey("a"));
    await putFile(cache, "b", 600);
    assert.deepEqual(await held(cache), ["file s://repo/main/b"]);
  });

  it("lets go an unfinished folder with all that is left of it", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    const files = { a: "a".repeat(300), b: "b".repeat(300), c: "c" };
    await assert.rejects(cache.folder(FOLDER, listing(files), {
      each: async ({ path }) => {
        if (path === "c") throw new Error("broken");
        return download(files[path as "a"], path);
      },
    }));
    assert.deepEqual(await held(cache), ["folder s://repo/main/t unfinished"]);
    used(cache, FOLDER);
    await putFile(cache, "d", 800);
    assert.deepEqual(await held(cache), ["file s://repo/main/d"]);
    assert.deepEqual(fs.readdirSync(join(cache.root, "s/repo/main")), ["d"]);
    assert.deepEqual(fs.readdirSync(cache.parts.layout.folderOf("meta")).length, 1);
  });

  it("takes only what nothing else holds from a folder that goes", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    await fetchAll(cache, { "in/x": "x".repeat(100), "own": "o".repeat(200), "rest": "r".repeat(300) });
    const inner = { store: "s", parts: [...FOLDER.parts, "in"] },
      own = { store: "s", parts: [...FOLDER.parts, "own"] };
    await fetchAll(cache, { x: "x".repeat(100) }, inner);
    await cache.file(own, { version: "new" }, async () => download("n".repeat(200), "new"));
    used(cache, FOLDER, inner, own);
    await putFile(cache, "d", 500);
    assert.deepEqual(contentOf(cache.parts.layout.contentOf(FOLDER)), {
      "in/x": "x".repeat(100),
      own: "n".repeat(200),
    });
    assert.equal(await cache.cachedFolder(FOLDER), undefined);
    assert.ok(await cache.cachedFolder(inner));
    assert.ok(await cache.cachedFile(own));
  });
});

async function* listing(files: Readonly<Record<string, string>>) {
  yield Object.keys(files).map((path) => ({ path, version: path }));
}

describe("what is used", () => {
  /** Starts a process that holds what it has fetched. */
  async function holder(
    t: TestContext,
    cache: LocalCache,
    kind: string,
    name: string,
  ): Promise<ChildProcess> {
    const child = spawn(process.execPath, [PROGRAM, cache.root, kind, name], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    t.after(() => void child.kill("SIGKILL"));
    await new Promise<void>((resolve, reject) => {
      child.stdout!.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
    });
    return child;
  }

  it("is not evicted while it is held, here or in another process, and is once it is released", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    for (const name of ["a", "b"]) await putFile(cache, name, 300);
    await fetchAll(cache, { x: "x".repeat(300) }, folderKey("f"));
    used(cache, fileKey("a"), folderKey("f"), fileKey("b"));
    const hold = cache.hold();
    await hold.cachedFile(fileKey("a"));
    used(cache, fileKey("a"), folderKey("f"), fileKey("b"));
    const child = await holder(t, cache, "folder", "f");
    used(cache, fileKey("a"), folderKey("f"), fileKey("b"));
    await putFile(cache, "c", 300);
    assert.deepEqual(await held(cache), [
      "file s://repo/main/a",
      "file s://repo/main/c",
      "folder s://repo/main/f",
    ]);
    await hold.release();
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    used(cache, fileKey("a"), folderKey("f"), fileKey("c"));
    await putFile(cache, "d", 500);
    assert.deepEqual(await held(cache), ["file s://repo/main/c", "file s://repo/main/d"]);
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("keeps the folder that it is in, and what is in it", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 1000 });
    await fetchAll(cache, { x: "x".repeat(300) }, folderKey("f"));
    await putFile(cache, "g/y", 300);
    await fetchAll(cache, { y: "x".repeat(300) }, folderKey("g"));
    const inner = cache.hold(), outer = cache.hold();
    await inner.cachedFile(fileKey("f/x"));
    await outer.cachedFolder(folderKey("g"));
    used(cache, folderKey("f"), fileKey("g/y"), folderKey("g"));
    await putFile(cache, "c", 900);
    assert.ok(await cache.cachedFolder(folderKey("f")));
    assert.ok(await cache.cachedFolder(folderKey("g")));
    await inner.release();
    await outer.release();
    used(cache, folderKey("f"), fileKey("g/y"), folderKey("g"));
    await putFile(cache, "d", 900);
    assert.deepEqual(await held(cache), ["file s://repo/main/d"]);
  });

  it("is left alone while it is fetched", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 500 });
    const started = Promise.withResolvers<void>(), finish = Promise.withResolvers<void>();
    const files = { a: "a".repeat(300), b: "b".repeat(300) };
    const fetching = cache.folder(FOLDER, listing(files), {
      each: async ({ path }) => {
        if (path === "b") {
          started.resolve();
          await finish.promise;
        }
        return download(files[path as "a"], path);
      },
    });
    await started.promise;
    await putFile(cache, "other", 400);
    await putFile(cache, "another", 400);
    assert.equal(fs.existsSync(join(cache.parts.layout.contentOf(FOLDER), "a")), true);
    finish.resolve();
    await fetching;
    assert.equal(await cache.cachedFolder(FOLDER), cache.parts.layout.contentOf(FOLDER));
  });

  it("stays whole under many fetches and evictions at a time", async (t) => {
    const cache = await openTestCache(t, { maxBytes: 2000 });
    const caches = [cache, await openTestCache(t, { root: cache.root, maxBytes: 2000 })];
    let next = 1;
    const random = (below: number) => (next = (next * 48271) % 2147483647) % below;
    await Promise.all(Array.from({ length: 6 }, async (_, lane) => {
      for (let i = 0; i < 25; i++) {
        const hold = caches[lane % 2]!.hold();
        const name = `k${random(8)}`;
        if (random(2) === 0) {
          const { path } = await hold.file(
            fileKey(name),
            { version: name },
            async () => download(name.repeat(150), name),
          );
          await new Promise((resolve) => setTimeout(resolve, random(3)));
          assert.equal(fs.readFileSync(path, "utf8"), name.repeat(150));
        } else {
          const files = { a: name.repeat(50), "b/c": name.repeat(60) };
          const path = await hold.folder(folderKey(`f${name}`), listing(files), {
            each: async (file) => download(files[file.path as "a"], file.version),
          });
          await new Promise((resolve) => setTimeout(resolve, random(3)));
          assert.deepEqual(contentOf(path), files);
        }
        await hold.release();
      }
    }));
    await cache.eviction.keepWithin(0);
    assert.deepEqual(contentOf(join(cache.root, "s")), {});
  });
});
