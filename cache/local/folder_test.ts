import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { CodedError } from "../../base/errors.ts";
import { lookByRuntime } from "../../base/file_state.ts";
import type { CacheKey, FolderFile } from "../cache.ts";
import { doneFolder } from "./folder_records.ts";
import type { LocalCache } from "./local_cache.ts";
import {
  contentOf,
  download,
  fetchAll,
  type Files,
  FOLDER,
  leftovers,
  listingOf,
  openTestCache,
  sha256Hex,
  Source,
} from "./testing.ts";

const FILES: Files = { "a.csv": "1", "d/b.csv": "2", "d/e/c.csv": "3", ".hidden": "h", "empty": "" };
const never = { each: () => assert.fail("nothing was to be downloaded") };
const at = (cache: LocalCache, key: CacheKey = FOLDER) => cache.parts.layout.contentOf(key);
const isMarked = async (cache: LocalCache, key: CacheKey = FOLDER) =>
  await doneFolder(cache.parts.layout, key) !== undefined;
const manyFiles = (count: number): Files =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`d${i % 7}/f${String(i).padStart(5, "0")}`, `text ${i}`]),
  );

describe("a folder of the cache", () => {
  it("holds what its store lists, and downloads only what has changed", async (t) => {
    const cache = await openTestCache(t);
    assert.equal((await fetchAll(cache, FILES)).length, 5);
    assert.deepEqual(contentOf(at(cache)), FILES);
    assert.deepEqual(await fetchAll(cache, FILES), []);
    const changed = { ...FILES, "d/b.csv": "two", "new": "n" };
    assert.deepEqual(await fetchAll(cache, changed), ["d/b.csv", "new"]);
    assert.deepEqual(contentOf(at(cache)), changed);
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("loses what its store has no more, with the folders that become empty", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    assert.deepEqual(await fetchAll(cache, { "a.csv": "1" }), []);
    assert.deepEqual(fs.readdirSync(at(cache)), ["a.csv"]);
    // One that was fetched alone, before or since, is no part of it either.
    const alone = { store: "s", parts: [...FOLDER.parts, "x", "alone"] };
    await cache.file(alone, { version: "v" }, async () => download("alone", "v"));
    await fetchAll(cache, { "a.csv": "1" });
    assert.deepEqual(fs.readdirSync(at(cache)), ["a.csv"]);
    assert.equal(await cache.cachedFile(alone), undefined);
  });

  it("may lose all that is in it", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    await fetchAll(cache, {});
    for (const again of [() => fetchAll(cache, {}), () => cache.cachedFolder(FOLDER)]) {
      assert.deepEqual(fs.readdirSync(at(cache)), []);
      fs.rmdirSync(at(cache));
      await again();
    }
    assert.deepEqual(fs.readdirSync(at(cache)), []);
    assert.equal(await cache.cachedFolder(FOLDER), at(cache));
    assert.deepEqual(await cache.cachedList(FOLDER), []);
  });

  it("follows a file that becomes a folder, and back", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, { a: "file" });
    await fetchAll(cache, { "a/b/c": "below" });
    assert.deepEqual(contentOf(at(cache)), { "a/b/c": "below" });
    await fetchAll(cache, { a: "file" });
    assert.deepEqual(contentOf(at(cache)), { a: "file" });
  });

  it("is looked at by states alone when nothing has changed: no byte of its files is read", async (t) => {
    const cache = await openTestCache(t, { hashFile: () => assert.fail("a file was read") });
    const files = manyFiles(1000);
    await fetchAll(cache, files);
    // Whoever reads a file that has no permission, as no superuser, or changes one, would be seen.
    const before = Object.keys(files).map((path) => lookByRuntime(join(at(cache), path)));
    const list = cache.parts.layout.listOf(FOLDER, "list"), written = fs.statSync(list).mtimeMs;
    await cache.folder(FOLDER, listingOf(files, 100), never);
    assert.deepEqual(Object.keys(files).map((path) => lookByRuntime(join(at(cache), path))), before);
    assert.equal(fs.statSync(list).mtimeMs, written);
  });

  it("stays valid in a copy of the cache, and is hashed once there", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    const root = `${cache.root}-copy`;
    fs.cpSync(cache.root, root, { recursive: true });
    let hashed = 0;
    const hashFile = async (path: string) => (hashed++, sha256Hex(fs.readFileSync(path, "utf8")));
    const copy = await openTestCache(t, { root, hashFile });
    assert.equal(await copy.cachedFolder(FOLDER), at(copy));
    assert.equal(hashed, 5);
    assert.equal(await copy.cachedFolder(FOLDER), at(copy));
    assert.deepEqual(await fetchAll(copy, FILES), []);
    assert.equal(hashed, 5);
    // Now its own list says so.
    for (const name of Object.keys(FILES)) {
      fs.rmSync(copy.parts.layout.metaOf({ store: "s", parts: [...FOLDER.parts, ...name.split("/")] }), {
        force: true,
      });
    }
    assert.deepEqual(await fetchAll(copy, FILES), []);
    assert.equal(hashed, 5);
  });

  it("is downloaded where its files were written over, and taken where they were written the same", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    fs.writeFileSync(join(at(cache), "a.csv"), "9");
    fs.writeFileSync(join(at(cache), "d/b.csv"), "2");
    fs.rmSync(join(at(cache), "empty"));
    assert.deepEqual(await fetchAll(cache, FILES), ["a.csv", "empty"]);
    assert.deepEqual(contentOf(at(cache)), FILES);
  });

  it("takes over files that were fetched alone, or with a folder around it", async (t) => {
    const cache = await openTestCache(t);
    const text = FILES["a.csv"]!;
    const key = { store: "s", parts: [...FOLDER.parts, "a.csv"] };
    await cache.file(key, { version: sha256Hex(text) }, async () => download(text, sha256Hex(text)));
    assert.deepEqual(await fetchAll(cache, FILES), [".hidden", "d/b.csv", "d/e/c.csv", "empty"]);
    const inner = { store: "s", parts: [...FOLDER.parts, "d"] };
    assert.deepEqual(await fetchAll(cache, { "b.csv": "2", "e/c.csv": "3" }, inner), []);
    // Once the folder has another one, the record of its own would only hold it when the folder goes.
    await fetchAll(cache, { ...FILES, "a.csv": "changed" });
    assert.equal(fs.existsSync(cache.parts.layout.metaOf(key)), false);
  });
});

describe("the marker of a folder", () => {
  it("goes before anything changes, and comes back when all is there", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    assert.equal(await isMarked(cache), true);
    const seen: boolean[] = [];
    const changed: Files = { ...FILES, "a.csv": "9", "d/b.csv": "9" };
    await cache.folder(FOLDER, listingOf(changed), {
      each: async ({ path }) => {
        seen.push(await isMarked(cache));
        return download(changed[path]!, sha256Hex(changed[path]!));
      },
    });
    assert.deepEqual(seen, [false, false]);
    assert.equal(await isMarked(cache), true);
  });

  it("stays away after a fetch that failed, and nothing is downloaded twice", async (t) => {
    const cache = await openTestCache(t);
    const files = manyFiles(300);
    const broken = Object.keys(files).sort()[150]!;
    const asked: string[] = [];
    await assert.rejects(
      cache.folder(FOLDER, listingOf(files, 50), {
        each: async ({ path }) => {
          if (path === broken) throw new CodedError("unavailable", "broken", "It broke");
          asked.push(path);
          return download(files[path]!, sha256Hex(files[path]!));
        },
      }),
      { code: "broken" },
    );
    assert.equal(await isMarked(cache), false);
    assert.equal(await cache.cachedFolder(FOLDER), undefined);
    assert.equal(await cache.cachedList(FOLDER), undefined);
    assert.ok(asked.length >= 140);
    const rest = await fetchAll(cache, files);
    assert.equal(rest.length, 300 - asked.length);
    assert.deepEqual(contentOf(at(cache)), Object.fromEntries(Object.entries(files).sort()));
    assert.equal(await isMarked(cache), true);
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
    const names = fs.readdirSync(cache.parts.layout.folderOf("meta")).filter((name) => name.includes("."));
    assert.deepEqual(names.map((name) => name.split(".")[1]), ["list"]);
  });

  it("says the version that the folder has as a whole, whatever files it shares with another", async (t) => {
    const cache = await openTestCache(t);
    await cache.folder(FOLDER, listingOf(FILES), new Source(FILES).download, { version: "c1" });
    await cache.folder(FOLDER, listingOf(FILES), never, { version: "c2" });
    assert.equal((await doneFolder(cache.parts.layout, FOLDER))?.version, "c2");
  });

  it("counts for nothing when it or the list is cut off or damaged anywhere", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    const { layout } = cache.parts;
    for (const path of [layout.doneOf(FOLDER), layout.listOf(FOLDER, "list")]) {
      const whole = fs.readFileSync(path);
      for (let place = 0; place < whole.length; place++) {
        fs.writeFileSync(path, whole.subarray(0, place));
        assert.equal(await cache.cachedFolder(FOLDER), undefined, `cut off at ${place}`);
        const damaged = Buffer.from(whole);
        damaged[place]! ^= 0x55;
        fs.writeFileSync(path, damaged);
        assert.equal(await cache.cachedFolder(FOLDER), undefined, `damaged at ${place}`);
        if (place % 16 === 0) {
          await fetchAll(cache, FILES);
          assert.deepEqual(contentOf(at(cache)), FILES);
          assert.equal(await cache.cachedFolder(FOLDER), at(cache));
        }
      }
      await fetchAll(cache, FILES);
    }
  });
});

describe("the names of a folder's files", () => {
  const refusal = async (cache: LocalCache, paths: readonly string[]) => {
    async function* listing(): AsyncGenerator<readonly FolderFile[]> {
      yield paths.map((path) => ({ path, version: "v" }));
    }
    return await cache.folder(FOLDER, listing(), never).then(
      () => "",
      (error: CodedError) => `${error.code}: ${error.message}`,
    );
  };

  it("are all checked before the first byte is written", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    const bad = [
      "..",
      "../x",
      "/etc/x",
      "a//b",
      "a/",
      "a/../b",
      "a/./b",
      "n\0l",
      `l/${"x".repeat(256)}`,
      "C:x",
      "\ud800",
    ];
    for (const path of bad) {
      const said = await refusal(cache, [path]);
      assert.match(
        said,
        /^unplaceable_key: Cannot fetch the folder "s:\/\/repo\/main\/t": /,
        JSON.stringify(path),
      );
      assert.deepEqual(contentOf(at(cache)), FILES);
      assert.equal(await isMarked(cache), true);
    }
  });

  it("are refused when some disk takes two for one, at every level", async (t) => {
    const cache = await openTestCache(t);
    for (
      const [first, second] of [
        ["Guide.md", "guide.md"],
        ["caf\u0065\u0301", "caf\u00e9"],
        ["A/x", "a/y"],
        ["x/A/y", "x/a/y"],
        ["strasse/y", "stra\u00dfe/x"],
        ["STRASSE", "stra\u1e9ee"],
        ["file", "\ufb01le"],
        ["i\u0307", "\u0130"],
        ["\u03c3", "\u03c2"],
        ["A", "a/b"],
      ]
    ) {
      const sorted = [first!, second!].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.match(await refusal(cache, sorted), /some disks take .+ for the same name as/, sorted.join(" "));
    }
    assert.match(await refusal(cache, ["a", "a/b"]), /an object stands where a folder is needed/);
    assert.equal(fs.existsSync(at(cache)), false);
  });

  it("are refused when they come twice or out of order: then nobody could say what is gone", async (t) => {
    const cache = await openTestCache(t);
    assert.match(await refusal(cache, ["a", "a"]), /not list it in order/);
    assert.match(await refusal(cache, ["b", "a"]), /not list it in order/);
  });
});

describe("an offline folder", () => {
  it("answers whole, and for what is in it", async (t) => {
    const { root } = await openTestCache(t);
    await fetchAll(await openTestCache(t, { root }), FILES);
    const cache = await openTestCache(t, { root, isOffline: true });
    assert.equal(await cache.folder(FOLDER, listingOf({}), never), at(cache));
    const inner = { store: "s", parts: [...FOLDER.parts, "d"] };
    assert.equal(await cache.cachedFolder(inner), at(cache, inner));
    assert.deepEqual(await cache.cachedList(inner), [
      { name: "b.csv", kind: "file", sizeBytes: 1, version: sha256Hex("2") },
      { name: "e", kind: "folder" },
    ]);
    assert.deepEqual((await cache.cachedList(FOLDER))?.map(({ name, kind }) => `${kind} ${name}`), [
      "file .hidden",
      "file a.csv",
      "folder d",
      "file empty",
    ]);
    const file = { store: "s", parts: [...inner.parts, "e", "c.csv"] };
    assert.equal((await cache.cachedFile(file))?.version, sha256Hex("3"));
    for (const parts of [["d", "none"], ["nothing"], ["a.csv"]]) {
      const key = { store: "s", parts: [...FOLDER.parts, ...parts] };
      assert.equal(await cache.cachedFolder(key), undefined);
      assert.equal(await cache.cachedList(key), undefined);
      await assert.rejects(cache.folder(key, listingOf({}), never), { code: "not_cached" });
    }
  });

  it("does not answer when a file of it is gone or another", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, FILES);
    fs.writeFileSync(join(at(cache), "d/b.csv"), "9");
    assert.equal(await cache.cachedFolder(FOLDER), undefined);
    const inner = { store: "s", parts: [...FOLDER.parts, "d", "e"] };
    assert.equal(await cache.cachedFolder(inner), at(cache, inner));
    await fetchAll(cache, FILES);
    fs.rmSync(join(at(cache), "d/e/c.csv"));
    assert.equal(await cache.cachedFolder(FOLDER), undefined);
    assert.equal(await cache.cachedFolder(inner), undefined);
  });

  it("finds single files in a list of many frames, and lists inner folders", async (t) => {
    const cache = await openTestCache(t);
    const files = manyFiles(1500);
    await fetchAll(cache, files);
    const paths = Object.keys(files);
    for (const path of [paths[0]!, paths[1234]!, paths[1499]!]) {
      const key = { store: "s", parts: [...FOLDER.parts, ...path.split("/")] };
      assert.equal((await cache.cachedFile(key))?.version, sha256Hex(files[path]!));
    }
    const inner = { store: "s", parts: [...FOLDER.parts, "d3"] };
    assert.equal(
      (await cache.cachedList(inner))?.length,
      paths.filter((path) => path.startsWith("d3/")).length,
    );
    assert.equal((await cache.cachedList(FOLDER))?.length, 7);
    for (const name of ["d", "d3/f", "d7", "d3/f99999"]) {
      assert.equal(
        await cache.cachedFile({ store: "s", parts: [...FOLDER.parts, ...name.split("/")] }),
        undefined,
      );
    }
  });
});

describe("fetches of folders at a time", () => {
  it("of one folder run one by one, and the later finds all there", async (t) => {
    const cache = await openTestCache(t);
    const other = await openTestCache(t, { root: cache.root });
    const asked = await Promise.all([cache, other, cache, other].map((one) => fetchAll(one, FILES)));
    assert.deepEqual(asked.map(({ length }) => length).sort(), [0, 0, 0, 5]);
    assert.deepEqual(contentOf(at(cache)), FILES);
  });

  it("of a folder and one inside it run one by one, and beside each other they run together", async (t) => {
    const cache = await openTestCache(t);
    const inner = { store: "s", parts: [...FOLDER.parts, "d"] },
      beside = { store: "s", parts: ["repo", "main", "u"] };
    const started = Promise.withResolvers<void>(), finish = Promise.withResolvers<void>();
    const order: string[] = [];
    const slow = cache.folder(FOLDER, listingOf(FILES), {
      each: async ({ path }) => {
        started.resolve();
        await finish.promise;
        return download(FILES[path]!, sha256Hex(FILES[path]!));
      },
    }).then(() => order.push("outer"));
    await started.promise;
    const waiting = fetchAll(cache, { "b.csv": "2", "e/c.csv": "3" }, inner).then((asked) => {
      order.push("inner");
      return asked;
    });
    await fetchAll(cache, FILES, beside);
    order.push("beside");
    finish.resolve();
    await slow;
    assert.deepEqual(await waiting, []);
    assert.deepEqual(order, ["beside", "outer", "inner"]);
  });

  it("are bounded in how much they download at a time, and stop by their signal", async (t) => {
    const cache = await openTestCache(t);
    const files = manyFiles(100);
    const stop = new AbortController();
    let now = 0, most = 0, count = 0;
    await assert.rejects(
      cache.folder(FOLDER, listingOf(files), {
        each: async ({ path }) => {
          most = Math.max(most, ++now);
          await new Promise((resolve) => setTimeout(resolve, 1));
          now--;
          if (++count === 40) stop.abort();
          return download(files[path]!, sha256Hex(files[path]!));
        },
      }, { signal: stop.signal }),
      { code: "canceled" },
    );
    assert.equal(most, 8);
    assert.ok(count < 60);
    assert.equal(now, 0);
    const rest = (await fetchAll(cache, files)).length;
    assert.ok(rest >= 60 && rest <= 70, `${rest} were left`);
  });
});

describe("a folder that comes as one stream", () => {
  it("asks for what is missing, takes it in any order, and nothing else", async (t) => {
    const cache = await openTestCache(t);
    await fetchAll(cache, { "a.csv": "1" });
    const asked: string[] = [];
    await cache.folder(FOLDER, listingOf(FILES), {
      stream: async function* (wanted) {
        asked.push(...wanted.map(({ path }) => path));
        for (const path of ["unasked", ...asked].reverse()) {
          yield { path, download: download(FILES[path] ?? "?", sha256Hex(FILES[path] ?? "?")) };
        }
      },
    });
    assert.deepEqual(asked, [".hidden", "d/b.csv", "d/e/c.csv", "empty"]);
    assert.deepEqual(contentOf(at(cache)), FILES);
    await cache.folder(FOLDER, listingOf(FILES), {
      stream: () => assert.fail("nothing was to be asked for"),
    });
  });

  it("fails when something does not come", async (t) => {
    const cache = await openTestCache(t);
    await assert.rejects(cache.folder(FOLDER, listingOf(FILES), { stream: async function* () {} }), {
      code: "download_incomplete",
    });
    assert.equal(await isMarked(cache), false);
  });
});
