import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { CodedError } from "../../base/errors.ts";
import type { LocalCache } from "./local_cache.ts";
import { bodyOf, contentOf, download, KEY, leftovers, openTestCache, sha256Hex } from "./testing.ts";

const never = () => assert.fail("nothing was to be downloaded");
const put = (cache: LocalCache, text: string, version = "v1") =>
  cache.file(KEY, { version }, async () => download(text, version));

const HOSTILE = [
  ["r", ".."],
  ["..", "..", "etc"],
  ["r", "."],
  ["r", ""],
  ["", "x"],
  ["/etc/passwd"],
  ["r", "a/b"],
  ["r", "a\0b"],
  ["r", "x".repeat(256)],
  ["r", "字".repeat(86)],
  ["r", "\ud800"],
  [],
].map((parts) => ({ store: "s", parts })).concat([{ store: "..", parts: ["x"] }, {
  store: ".provcat",
  parts: ["x"],
}]);

async function copied(t: TestContext, cache: LocalCache): Promise<LocalCache> {
  const root = `${cache.root}-copy`;
  fs.cpSync(cache.root, root, { recursive: true });
  return await openTestCache(t, { root });
}

describe("a file of the cache", () => {
  it("is downloaded once, and again when its store has another version", async (t) => {
    const cache = await openTestCache(t);
    const first = await put(cache, "one");
    assert.deepEqual(first, {
      path: join(cache.root, "s/repo/main/data.csv"),
      version: "v1",
      sizeBytes: 3,
      sha256: sha256Hex("one"),
    });
    assert.deepEqual(await cache.file(KEY, { version: "v1" }, never), first);
    await put(cache, "two", "v2");
    assert.equal(fs.readFileSync(first.path, "utf8"), "two");
    assert.equal((await cache.cachedFile(KEY))?.version, "v2");
  });

  it("is current if its hash is the one of the store, whatever the version is called", async (t) => {
    const cache = await openTestCache(t);
    await put(cache, "one");
    const wanted = { version: "v9", sha256: sha256Hex("one") };
    assert.equal((await cache.file(KEY, wanted, never)).sha256, wanted.sha256);
    let asked = 0;
    await cache.file(KEY, { version: "v1", sha256: sha256Hex("two") }, async () => {
      asked++;
      return download("two", "v1");
    });
    assert.equal(asked, 1);
  });

  it("keeps the version that came with the bytes", async (t) => {
    const cache = await openTestCache(t);
    await cache.file(KEY, { version: "listed", sizeBytes: 99 }, async () => download("one", "came"));
    assert.equal((await cache.cachedFile(KEY))?.version, "came");
  });

  it("stays valid in a copy of the cache: it is hashed once, then known again", async (t) => {
    const cache = await openTestCache(t);
    await put(cache, "one");
    const { root } = await copied(t, cache);
    const hashed: string[] = [];
    const hashFile = async (path: string) => (hashed.push(path), sha256Hex(fs.readFileSync(path, "utf8")));
    const copy = await openTestCache(t, { root, hashFile });
    assert.equal((await copy.file(KEY, { version: "v1" }, never)).sizeBytes, 3);
    assert.equal((await copy.cachedFile(KEY))?.version, "v1");
    assert.equal(hashed.length, 1);
  });

  it("is not hashed as long as it is as it was left", async (t) => {
    const cache = await openTestCache(t, { hashFile: never });
    await put(cache, "one");
    await cache.file(KEY, { version: "v1" }, never);
    await cache.cachedFile(KEY);
  });

  it("counts again after its time alone has changed, and not after its bytes have", async (t) => {
    const cache = await openTestCache(t);
    const { path } = await put(cache, "one");
    fs.utimesSync(path, 1, 1);
    assert.equal((await cache.cachedFile(KEY))?.version, "v1");
    fs.writeFileSync(path, "two");
    assert.equal(await cache.cachedFile(KEY), undefined);
    await put(cache, "one");
    fs.writeFileSync(path, "longer");
    assert.equal(await cache.cachedFile(KEY), undefined);
    assert.equal((await put(cache, "one")).sizeBytes, 3);
  });

  it("is told from another of the same size and time by its inode", async (t) => {
    const cache = await openTestCache(t);
    const { path } = await put(cache, "one");
    const { atime, mtime } = fs.statSync(path);
    fs.writeFileSync(`${path}.new`, "two");
    fs.utimesSync(`${path}.new`, atime, mtime);
    fs.renameSync(`${path}.new`, path);
    assert.equal(await cache.cachedFile(KEY), undefined);
  });

  it("is not given out when its record changes while it is hashed", async (t) => {
    const cache = await openTestCache(t);
    const { path } = await put(cache, "one");
    fs.utimesSync(path, 1, 1);
    const meta = cache.parts.layout.metaOf(KEY);
    const other = await openTestCache(t);
    await put(other, "one", "v2");
    const changed = await openTestCache(t, {
      root: cache.root,
      hashFile: async () => {
        fs.copyFileSync(other.parts.layout.metaOf(KEY), meta);
        return sha256Hex("one");
      },
    });
    assert.equal(await changed.cachedFile(KEY), undefined);
  });

  it("is not given out when it is written while it is hashed", async (t) => {
    const cache = await openTestCache(t);
    const { path } = await put(cache, "one");
    fs.utimesSync(path, 1, 1);
    const changed = await openTestCache(t, {
      root: cache.root,
      hashFile: async () => (fs.writeFileSync(path, "two"), sha256Hex("one")),
    });
    assert.equal(await changed.cachedFile(KEY), undefined);
  });

  it("is downloaded again when its record is cut off or damaged at any byte", async (t) => {
    const cache = await openTestCache(t);
    await put(cache, "one");
    const meta = cache.parts.layout.metaOf(KEY);
    const whole = fs.readFileSync(meta);
    for (let at = 0; at < whole.length; at++) {
      fs.writeFileSync(meta, whole.subarray(0, at));
      assert.equal(await cache.cachedFile(KEY), undefined, `cut off at ${at}`);
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 0x41;
      fs.writeFileSync(meta, damaged);
      assert.equal(await cache.cachedFile(KEY), undefined, `damaged at ${at}`);
    }
    fs.writeFileSync(meta, whole);
    assert.ok(await cache.cachedFile(KEY));
  });

  it("keeps the old one and leaves nothing behind when a download breaks, is short or is another", async (t) => {
    const cache = await openTestCache(t);
    const { path } = await put(cache, "one");
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(300_000);
      throw new CodedError("unavailable", "broken", "It broke");
    }
    const wanted = { version: "v2" };
    const fetch = (came: object) =>
      cache.file(KEY, wanted, async () => ({ version: "v2", body: bodyOf("two"), ...came }));
    await assert.rejects(fetch({ body: broken() }), { code: "broken" });
    await assert.rejects(fetch({ sizeBytes: 4 }), { code: "checksum_mismatch" });
    await assert.rejects(fetch({ sha256: sha256Hex("three") }), { code: "checksum_mismatch" });
    await assert.rejects(
      cache.file(KEY, wanted, () => Promise.reject(new CodedError("not_found", "gone", "Gone"))),
      {
        code: "gone",
      },
    );
    assert.equal(fs.readFileSync(path, "utf8"), "one");
    assert.equal((await cache.cachedFile(KEY))?.version, "v1");
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("is downloaded once for all that ask at a time", async (t) => {
    const cache = await openTestCache(t);
    const other = await openTestCache(t, { root: cache.root });
    let asked = 0;
    const slow = async () => {
      asked++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return download("one", "v1");
    };
    const all = Array.from(
      { length: 20 },
      (_, i) => (i % 2 ? cache : other).file(KEY, { version: "v1" }, slow),
    );
    assert.equal(new Set((await Promise.all(all)).map(({ sha256 }) => sha256)).size, 1);
    assert.equal(asked, 1);
  });

  it("has a record that describes the last of several writes", async (t) => {
    const cache = await openTestCache(t);
    const versions = Array.from({ length: 12 }, (_, i) => `v${i}`);
    await Promise.all(versions.map((version) => put(cache, `text of ${version}`, version)));
    const found = (await cache.cachedFile(KEY))!;
    assert.equal(fs.readFileSync(found.path, "utf8"), `text of ${found.version}`);
  });

  it("gives up waiting for another's download by its signal", async (t) => {
    const cache = await openTestCache(t);
    const started = Promise.withResolvers<void>(), finish = Promise.withResolvers<void>();
    const first = cache.file(KEY, { version: "v1" }, async () => {
      started.resolve();
      await finish.promise;
      return download("one", "v1");
    });
    await started.promise;
    const { root } = cache;
    for (const other of [cache, await openTestCache(t, { root })]) {
      const signal = AbortSignal.timeout(30);
      await assert.rejects(other.file(KEY, { version: "v1" }, never, { signal }), { code: "canceled" });
    }
    finish.resolve();
    assert.equal((await first).version, "v1");
  });

  it("is written once more than memory holds, and flushed before it counts", async (t) => {
    const flushed: string[] = [];
    const flush = {
      files: async (_: string, paths: AsyncIterable<string> | Iterable<string>) => {
        for await (const path of paths) flushed.push(path);
      },
      disk: async () => true,
    };
    const cache = await openTestCache(t, { flush });
    async function* large(): AsyncGenerator<Uint8Array> {
      const piece = new Uint8Array(100_000).fill(7);
      for (let i = 0; i < 30; i++) yield piece;
    }
    const { path, sizeBytes } = await cache.file(
      KEY,
      { version: "v1" },
      async () => ({ version: "v1", body: large() }),
    );
    assert.equal(sizeBytes, 3_000_000);
    assert.equal(fs.statSync(path).size, 3_000_000);
    assert.deepEqual(flushed, [path, cache.parts.layout.metaOf(KEY)]);
  });
});

describe("names of cached files", () => {
  it("are refused when they mean another place or none", async (t) => {
    const cache = await openTestCache(t);
    for (const key of HOSTILE) {
      await assert.rejects(
        cache.file(key, { version: "v" }, never),
        { code: "unplaceable_key" },
        JSON.stringify(key),
      );
      await assert.rejects(cache.cachedList(key), { code: "unplaceable_key" });
      await assert.rejects(cache.folder(key, (async function* () {})(), { each: never }), {
        code: "unplaceable_key",
      });
    }
    assert.equal(fs.existsSync(cache.root), false);
  });

  it("are refused when their path is longer than the system takes", async (t) => {
    const cache = await openTestCache(t);
    const key = { store: "s", parts: Array.from({ length: 30 }, () => "x".repeat(200)) };
    await assert.rejects(cache.file(key, { version: "v" }, async () => download("x", "v")), {
      code: "unplaceable_key",
    });
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("never share a record, however they look", async (t) => {
    const cache = await openTestCache(t);
    const keys = [["a", "b"], ["a\nb"], ["a%2Fb"], ["a b"], ["a", "B"], ["\u00e9"], ["e\u0301"], [
      "x".repeat(255),
    ]];
    for (const parts of keys) {
      const key = { store: "s", parts: ["r", ...parts] };
      await cache.file(key, { version: "v" }, async () => download(parts.join("|"), "v"));
    }
    for (const parts of keys) {
      const found = await cache.cachedFile({ store: "s", parts: ["r", ...parts] });
      assert.equal(fs.readFileSync(found!.path, "utf8"), parts.join("|"));
    }
  });

  it("that a disk takes for one each work: the hash shows which of them is there", async (t) => {
    const cache = await openTestCache(t);
    const [upper, lower] = ["Guide.md", "guide.md"].map((name) => ({ store: "s", parts: ["r", name] }));
    await cache.file(upper!, { version: "v" }, async () => download("UPPER", "v"));
    const { path } = await cache.file(lower!, { version: "v" }, async () => download("lower", "v"));
    // As a disk that folds case has it: the second write replaced the first file.
    fs.copyFileSync(path, cache.parts.layout.contentOf(upper!));
    assert.equal(await cache.cachedFile(upper!), undefined);
    assert.ok(await cache.cachedFile(lower!));
    await cache.file(upper!, { version: "v" }, async () => download("UPPER", "v"));
    assert.ok(await cache.cachedFile(upper!));
  });

  it("of which one would be a file and a folder are told clearly", async (t) => {
    const cache = await openTestCache(t);
    const file = { store: "s", parts: ["r", "a"] }, below = { store: "s", parts: ["r", "a", "b"] };
    await cache.file(below, { version: "v" }, async () => download("b", "v"));
    await assert.rejects(cache.file(file, { version: "v" }, async () => download("a", "v")), {
      code: "cache_clash",
      message: 'Cannot fetch "s://r/a": the cache holds a folder of that name, for objects below it',
    });
    fs.rmSync(cache.parts.layout.contentOf(file), { recursive: true });
    await cache.file(file, { version: "v" }, async () => download("a", "v"));
    await assert.rejects(cache.file(below, { version: "v" }, async () => download("b", "v")), {
      code: "cache_clash",
      message: 'Cannot fetch "s://r/a/b": the cache holds a file where it needs the folder "s://r/a"',
    });
    assert.equal(fs.readFileSync(cache.parts.layout.contentOf(file), "utf8"), "a");
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("that lead through a symlink are not followed", async (t) => {
    const cache = await openTestCache(t);
    await put(cache, "one");
    const outside = `${cache.root}-outside`;
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, "data.csv"), "one");
    fs.rmSync(join(cache.root, "s/repo/main"), { recursive: true });
    fs.symlinkSync(outside, join(cache.root, "s/repo/main"));
    const fresh = await openTestCache(t, { root: cache.root });
    assert.equal(await fresh.cachedFile(KEY), undefined);
    await assert.rejects(put(fresh, "two", "v2"), { code: "cache_clash" });
    assert.deepEqual(contentOf(outside), { "data.csv": "one" });
  });
});

describe("an offline cache", () => {
  it("answers from what is there, whatever version that is, and never downloads", async (t) => {
    const { root } = await (async () => {
      const cache = await openTestCache(t);
      await put(cache, "one");
      return cache;
    })();
    const offline = await openTestCache(t, { root, isOffline: true });
    assert.equal((await offline.file(KEY, { version: "v9" }, never)).version, "v1");
    const other = { store: "s", parts: ["repo", "main", "other"] };
    await assert.rejects(offline.file(other, { version: "v1" }, never), {
      code: "not_cached",
      message: 'Cannot fetch "s://repo/main/other" in offline mode: it is not in the cache',
    });
  });

  it("makes no folder for a look into nothing", async (t) => {
    const cache = await openTestCache(t, { isOffline: true });
    assert.equal(await cache.cachedFile(KEY), undefined);
    assert.equal(await cache.cachedList(KEY), undefined);
    assert.equal(fs.existsSync(cache.root), false);
  });
});

describe("pins", () => {
  it("are kept by kind, so that a tag and a branch never meet", async (t) => {
    const cache = await openTestCache(t);
    const pin = (kind: string, name: string) => ({ store: "s", place: "repo", kind, name });
    await cache.recordPin(pin("tag", "v1"), "c1");
    await cache.recordPin(pin("branch", "v1/x"), "c2");
    await cache.recordPin(pin("branch", "v1"), "c3");
    await cache.recordPin({ store: "s", place: "other", kind: "tag", name: "v1" }, "c4");
    assert.equal(await cache.pinned(pin("tag", "v1")), "c1");
    assert.equal(await cache.pinned(pin("branch", "v1/x")), "c2");
    assert.equal(await cache.pinned(pin("branch", "v1")), "c3");
    assert.equal(await cache.pinned(pin("tag", "v2")), undefined);
    await cache.recordPin(pin("tag", "v1"), "c5");
    assert.equal(await cache.pinned(pin("tag", "v1")), "c5");
  });

  it("count for nothing when their record is damaged", async (t) => {
    const cache = await openTestCache(t);
    const pin = { store: "s", place: "repo", kind: "tag", name: "v1" };
    await cache.recordPin(pin, "c1");
    fs.writeFileSync(cache.parts.layout.refOf(pin), "garbage");
    assert.equal(await cache.pinned(pin), undefined);
  });
});
