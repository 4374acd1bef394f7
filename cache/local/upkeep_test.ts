import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { CacheKey } from "../cache.ts";
import { cacheItems } from "./items.ts";
import { isAtOrBelow, keyHash, shownKey } from "./layout.ts";
import type { LocalCache } from "./local_cache.ts";
import { pruneCache } from "./pruning.ts";
import {
  contentOf,
  download,
  fetchAll,
  FOLDER,
  KEY,
  leftovers,
  listingOf,
  openTestCache,
} from "./testing.ts";
import { verifyCache } from "./verifying.ts";

const FILES = { "a": "one", "d/b": "two", "d/c": "three" };

async function filled(t: Parameters<typeof openTestCache>[0]): Promise<LocalCache> {
  const cache = await openTestCache(t);
  await cache.file(KEY, { version: "v" }, async () => download("alone", "v"));
  await fetchAll(cache, FILES);
  return cache;
}

async function damageOf(cache: LocalCache): Promise<string[]> {
  const found: string[] = [];
  for await (const { damage } of verifyCache(cache.parts)) {
    found.push(...damage.map(({ key, problem }) => `${problem} ${shownKey(key)}`));
  }
  return found.sort();
}

/** Has something happen once, just before a cache tries to take the lock of a key. */
function beforeLocking(cache: LocalCache, key: CacheKey, happen: () => Promise<unknown>): void {
  const { locks } = cache.parts;
  const tryTake = locks.tryTake.bind(locks);
  locks.tryTake = async (name, options) => {
    if (name === keyHash(key)) {
      locks.tryTake = tryTake;
      await happen();
    }
    return await tryTake(name, options);
  };
}

const WHOLE_SECONDS = 1_750_000_000;

/** Lets all files have times that can be set again exactly. */
async function settled(cache: LocalCache): Promise<LocalCache> {
  const folder = cache.parts.layout.contentOf(FOLDER);
  for (
    const path of [
      cache.parts.layout.contentOf(KEY),
      ...Object.keys(FILES).map((name) => join(folder, name)),
    ]
  ) {
    fs.utimesSync(path, WHOLE_SECONDS, WHOLE_SECONDS);
  }
  await cache.cachedFile(KEY);
  assert.deepEqual(await fetchAll(cache, FILES), []);
  return cache;
}

/** Changes a file's bytes and nothing that the system says of it. */
function rot(path: string): void {
  fs.writeFileSync(path, fs.readFileSync(path, "utf8").replace(/./, "?"));
  fs.utimesSync(path, WHOLE_SECONDS, WHOLE_SECONDS);
}

describe("verifying a cache", () => {
  it("finds nothing in one that is as it was left", async (t) => {
    const cache = await filled(t);
    const found = await Array.fromAsync(verifyCache(cache.parts));
    assert.deepEqual(found.map(({ files, bytes, damage }) => [files, bytes, damage.length]).sort(), [[
      1,
      5,
      0,
    ], [3, 11, 0]]);
    assert.ok(await cache.cachedFolder(FOLDER));
  });

  it("finds bytes that changed without a trace, and what is missing; after it that is fetched again", async (t) => {
    const cache = await settled(await filled(t));
    const folder = cache.parts.layout.contentOf(FOLDER);
    rot(join(folder, "a"));
    fs.rmSync(join(folder, "d/b"));
    rot(cache.parts.layout.contentOf(KEY));
    assert.ok(await cache.cachedFile(KEY), "nobody would have noticed");
    assert.deepEqual(await damageOf(cache), [
      "changed s://repo/main/data.csv",
      "changed s://repo/main/t/a",
      "missing s://repo/main/t/d/b",
    ]);
    assert.deepEqual(await damageOf(cache), []);
    assert.equal(await cache.cachedFile(KEY), undefined);
    assert.equal(await cache.cachedFolder(FOLDER), undefined);
    assert.deepEqual(await fetchAll(cache, FILES), ["a", "d/b"]);
    assert.deepEqual(contentOf(folder), FILES);
  });

  it("finds a list that is damaged", async (t) => {
    const cache = await filled(t);
    const list = cache.parts.layout.listOf(FOLDER, "list");
    fs.writeFileSync(list, fs.readFileSync(list).fill(0, 20, 30));
    assert.deepEqual(await damageOf(cache), ["list_damaged s://repo/main/t"]);
    await fetchAll(cache, FILES);
    assert.deepEqual(await damageOf(cache), []);
  });

  it("takes no harm for what was fetched anew, alone or with its folder", async (t) => {
    const cache = await filled(t);
    const inner = { store: "s", parts: [...FOLDER.parts, "a"] };
    await cache.file(inner, { version: "new" }, async () => download("newer", "new"));
    assert.deepEqual(await damageOf(cache), []);
    await fetchAll(cache, { ...FILES, a: "newest" });
    assert.deepEqual(await damageOf(cache), []);
    assert.equal(fs.readFileSync(cache.parts.layout.contentOf(inner), "utf8"), "newest");
  });

  it("finds no damage in what is evicted meanwhile, and does not bring it back", async (t) => {
    const cache = await filled(t);
    const other = await openTestCache(t, { root: cache.root });
    beforeLocking(cache, FOLDER, () => pruneCache(other, {}));
    assert.deepEqual(await damageOf(cache), []);
    assert.deepEqual(await Array.fromAsync(cacheItems(cache.parts.layout)), []);
  });

  it("leaves a file alone that was fetched before it was hashed, and gets its record after", async (t) => {
    const cache = await filled(t);
    const inner = { store: "s", parts: [...FOLDER.parts, "a"] };
    const { path } = await cache.file(inner, { version: "new" }, async () => download("newer", "new"));
    const { layout, writing } = cache.parts;
    const record = fs.readFileSync(layout.metaOf(inner));
    fs.rmSync(layout.metaOf(inner));
    const run = writing.run.bind(writing);
    writing.run = async (work) => {
      fs.writeFileSync(layout.metaOf(inner), record);
      return await run(work);
    };
    assert.deepEqual(await damageOf(cache), []);
    assert.equal(fs.readFileSync(path, "utf8"), "newer");
  });

  it("leaves alone what is being fetched", async (t) => {
    const cache = await filled(t);
    const started = Promise.withResolvers<void>(), finish = Promise.withResolvers<void>();
    const changed = { ...FILES, a: "changed" };
    const fetching = cache.folder(FOLDER, listingOf(changed), {
      each: async (file) => {
        started.resolve();
        await finish.promise;
        return download(changed.a, file.version);
      },
    });
    await started.promise;
    const busy = (await Array.fromAsync(verifyCache(cache.parts))).filter(({ isBusy }) => isBusy);
    assert.deepEqual(busy.map(({ item }) => shownKey(item.key)), ["s://repo/main/t"]);
    finish.resolve();
    await fetching;
    assert.deepEqual(await damageOf(cache), []);
  });
});

describe("pruning a cache", () => {
  it("removes everything, or what is asked for", async (t) => {
    const cache = await filled(t);
    const some = await pruneCache(cache, { matches: ({ key }) => isAtOrBelow(key, FOLDER) });
    assert.deepEqual(some.items.map(({ key }) => shownKey(key)), ["s://repo/main/t"]);
    assert.equal(some.freedBytes, 11);
    assert.deepEqual(contentOf(join(cache.root, "s")), { "repo/main/data.csv": "alone" });
    const rest = await pruneCache(cache, {});
    assert.deepEqual([rest.items.length, rest.freedBytes, rest.strayFiles], [1, 5, 0]);
    assert.equal(fs.existsSync(join(cache.root, "s")), false);
  });

  it("goes down to a size, what was not used for longest first", async (t) => {
    const cache = await filled(t);
    fs.utimesSync(cache.parts.layout.metaOf(KEY), 1, 1);
    const { items } = await pruneCache(cache, { maxBytes: 12 });
    assert.deepEqual(items.map(({ key }) => shownKey(key)), ["s://repo/main/data.csv"]);
  });

  it("takes away folders that another process knows, which makes them again", async (t) => {
    const cache = await filled(t);
    const other = await openTestCache(t, { root: cache.root });
    await pruneCache(other, {});
    assert.equal(fs.existsSync(join(cache.root, "s")), false);
    const beside = { store: "s", parts: ["repo", "dev", "x.csv"] };
    await cache.file(beside, { version: "v1" }, async () => download("beside", "v1"));
    assert.deepEqual(contentOf(join(cache.root, "s")), { "repo/dev/x.csv": "beside" });
    await pruneCache(other, {});
    await fetchAll(cache, {}, { store: "s", parts: ["repo", "dev", "empty"] });
    assert.deepEqual(fs.readdirSync(join(cache.root, "s/repo/dev/empty")), []);
  });

  it("leaves what one folder needs that was fetched since another around it was listed", async (t) => {
    const cache = await filled(t);
    const other = await openTestCache(t, { root: cache.root });
    const inner = { store: "s", parts: [...FOLDER.parts, "d"] };
    const { b, c } = { b: "two", c: "three" };
    beforeLocking(cache, FOLDER, () => fetchAll(other, { b, c }, inner));
    const { items } = await pruneCache(cache, { matches: ({ key }) => shownKey(key) === shownKey(FOLDER) });
    assert.equal(items.length, 1);
    assert.ok(await other.cachedFolder(inner));
    assert.deepEqual(contentOf(cache.parts.layout.contentOf(FOLDER)), { "d/b": b, "d/c": c });
  });

  it("takes no file of a folder for a stray that was fetched since the folders were listed", async (t) => {
    const cache = await filled(t);
    const other = await openTestCache(t, { root: cache.root });
    const stray = { store: "s", parts: ["a-stray"] }, later = { store: "s", parts: ["repo", "other"] };
    fs.writeFileSync(cache.parts.layout.contentOf(stray), "stray");
    beforeLocking(cache, stray, () => fetchAll(other, FILES, later));
    const { strayFiles } = await pruneCache(cache, { matches: () => false });
    assert.equal(strayFiles, 1);
    assert.ok(await other.cachedFolder(later));
  });

  it("names what is used, and leaves it", async (t) => {
    const cache = await filled(t);
    const hold = cache.hold();
    await hold.cachedFolder(FOLDER);
    const { items, inUse } = await pruneCache(cache, {});
    assert.deepEqual([items.length, inUse.map(({ key }) => shownKey(key))], [1, ["s://repo/main/t"]]);
    assert.ok(await cache.cachedFolder(FOLDER));
    await hold.release();
  });

  it("removes files that no record tells of, and what killed processes left", async (t) => {
    const cache = await filled(t);
    const stray = join(cache.root, "s/other/x/y");
    fs.mkdirSync(dirname(stray), { recursive: true });
    fs.writeFileSync(stray, "stray");
    const foreign = join(cache.root, "src/x/y");
    fs.mkdirSync(dirname(foreign), { recursive: true });
    fs.writeFileSync(foreign, "of somebody else");
    const { temporary, locks } = cache.parts.layout;
    fs.mkdirSync(join(temporary, "0123456789abcdef"));
    fs.writeFileSync(join(temporary, "0123456789abcdef", "0"), "half");
    fs.writeFileSync(join(temporary, "0123456789abcdef.lock"), "");
    fs.writeFileSync(join(locks, "dead.use"), "");
    const { strayFiles, freedBytes } = await pruneCache(cache, { matches: () => false });
    assert.deepEqual([strayFiles, freedBytes], [1, 5]);
    assert.equal(fs.existsSync(join(cache.root, "s/other")), false);
    assert.equal(fs.readFileSync(foreign, "utf8"), "of somebody else", "no store of that name is known");
    assert.deepEqual(contentOf(join(cache.root, "s/repo/main")), {
      "data.csv": "alone",
      "t/a": "one",
      "t/d/b": "two",
      "t/d/c": "three",
    });
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });
});

describe("what killed processes left", () => {
  it("goes when another one first writes", async (t) => {
    const cache = await filled(t);
    await cache.close();
    const { temporary, locks } = cache.parts.layout;
    fs.mkdirSync(join(temporary, "0123456789abcdef"));
    fs.writeFileSync(join(temporary, "0123456789abcdef", "0"), "half");
    fs.writeFileSync(join(locks, "dead"), "");
    const alive = await openTestCache(t, { root: cache.root });
    const path = await alive.parts.temporary.path();
    fs.writeFileSync(path, "being written");
    const next = await openTestCache(t, { root: cache.root });
    await next.file(KEY, { version: "v2" }, async () => download("two", "v2"));
    assert.equal(fs.readFileSync(path, "utf8"), "being written");
    await Promise.all([alive.close(), next.close()]);
    assert.deepEqual(leftovers(cache), []);
  });
});
