import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { parseUri } from "../../base/uri.ts";
import { openLocalCache } from "../../cache/mod.ts";
import { testCatalogStore } from "../../tests/conformance/catalog_store_suite.ts";
import { filesIn, type OpenCatalogStore } from "../../tests/conformance/catalog_store_support.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { testClock, testEngine, WHO, write } from "../../tests/support/test_engine.ts";
import type { Store } from "../store.ts";
import { openGravelerStore } from "./mod.ts";

async function openRepository(): Promise<OpenCatalogStore> {
  const clock = testClock();
  const engine = testEngine({ clock });
  await engine.store.createRepository("repo", { committer: WHO });
  let isCutOff = false;
  const store = watched(engine.store, () => isCutOff);
  return {
    store: openGravelerStore({ name: "lakefs", store, clock }),
    base: parseUri("lakefs://repo/main"),
    cutOff: () => isCutOff = true,
    clock,
  };
}

/** A store that fails a test which asks it for anything when it should be cut off. */
function watched(store: Store, isCutOff: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        assert.equal(isCutOff(), false, `${String(name)}() was called offline`);
        return value.apply(target, args);
      };
    },
  });
}

testCatalogStore("graveler", {
  driver: "graveler",
  open: openRepository,
  isCached: true,
  keepsClashes: true,
  commitsFolders: true,
});

test("graveler: a folder with keys that no URI can name is refused, and an empty marker of a folder is not in it", async (t) => {
  const engine = testEngine();
  await engine.store.createRepository("repo", { committer: WHO });
  const store = openGravelerStore({ name: "lakefs", store: engine.store });
  const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
  await write(engine.store, "main", {
    "bad/a//b": "1",
    "bad/c": "2",
    "marked/": "",
    "marked/x": "3",
    "full/": "not empty",
  });
  for (const path of ["bad", "full"]) {
    await assert.rejects(store.fetch(parseUri(`lakefs://repo/main/${path}`), cache), {
      code: "unplaceable_key",
    });
  }
  const folder = await store.fetch(parseUri("lakefs://repo/main/marked"), cache);
  assert.deepEqual(filesIn(folder), { x: "3" });
});

test("graveler: a folder of a branch is fetched whole while objects of it come and go", async (t) => {
  const engine = testEngine();
  await engine.store.createRepository("repo", { committer: WHO });
  await write(engine.store, "main", { "t/a": "1", "t/b": "2", "t/c": "3" });
  let isDeleted = false;
  const store = openGravelerStore({
    name: "lakefs",
    store: new Proxy(engine.store, {
      get: (target, name) =>
        name !== "read" ? bound(target, name) : async (...args: Parameters<Store["read"]>) => {
          // After the listing, and before it is read.
          if (!isDeleted) await write(engine.store, "main", { "t/b": undefined });
          isDeleted = true;
          return await target.read(...args);
        },
    }),
  });
  const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
  assert.deepEqual(filesIn(await store.fetch(parseUri("lakefs://repo/main/t"), cache)), { a: "1", c: "3" });
});

test("graveler: a time goes by the commits' own times: a reset leaves no trace of where the branch pointed", async (t) => {
  const clock = testClock();
  const engine = testEngine({ clock });
  await engine.store.createRepository("repo", { committer: WHO });
  const store = openGravelerStore({ name: "lakefs", store: engine.store, clock });
  const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
  for (const text of ["1", "2"]) {
    await write(engine.store, "main", { a: text });
    await engine.store.commit("repo", "main", { message: text, committer: WHO });
    clock.advance(60_000);
  }
  const time = new Date(clock.now()).toISOString();
  const pinned = () => store.pin(parseUri(`lakefs://repo/main/a?at=ts:${time}`), cache);
  const before = await pinned();
  clock.advance(60_000);
  await engine.store.hardReset("repo", "main", "main~1", WHO);
  const { id } = await engine.store.getCommit("repo", "main");
  assert.notEqual(before.segments[0], id);
  assert.equal((await pinned()).segments[0], id);
});

function bound(target: object, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}
