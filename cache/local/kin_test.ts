import assert from "node:assert/strict";
import * as fs from "node:fs";
import { describe, it } from "node:test";
import type { CacheKey } from "../cache.ts";
import type { LocalCache } from "./local_cache.ts";
import {
  contentOf,
  download,
  type Files,
  leftovers,
  listingOf,
  openTestCache,
  sha256Hex,
  Source,
} from "./testing.ts";

const at = (version: string, ...parts: string[]): CacheKey => ({
  store: "s",
  parts: ["repo", version, ...parts],
});
const VERSION_PART = 1;
const FILES: Files = { a: "one", "d/b": "two", "d/e/c": "three" };

async function fetch(cache: LocalCache, version: string, files: Files, below: readonly string[] = ["t"]) {
  const source = new Source(files);
  const path = await cache.folder(at(version, ...below), listingOf(files), source.download, {
    versionPart: VERSION_PART,
  });
  assert.deepEqual(contentOf(path), files);
  return source.asked.sort();
}

describe("another version of a folder", () => {
  it("has what is the same: only the rest is downloaded, and neither depends on the other then", async (t) => {
    const cache = await openTestCache(t);
    await fetch(cache, "c1", FILES);
    const changed = { ...FILES, "d/b": "changed", new: "new" };
    assert.deepEqual(await fetch(cache, "c2", changed), ["d/b", "new"]);
    assert.deepEqual(await fetch(cache, "c3", FILES), []);
    assert.deepEqual(await fetch(cache, "main", { ...changed, "d/b": "two" }), []);
    fs.rmSync(cache.parts.layout.contentOf(at("c1")), { recursive: true });
    assert.ok(await cache.cachedFolder(at("c2", "t")));
    assert.ok(await cache.cachedFolder(at("c3", "t")));
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("has it as a part of what was fetched around it", async (t) => {
    const cache = await openTestCache(t);
    await fetch(cache, "c1", { "t/a": "one", "t/d/b": "two", other: "x" }, []);
    assert.deepEqual(await fetch(cache, "c2", { a: "one", "d/b": "two" }), []);
  });

  it("counts for nothing under another path, in another place, or without being asked for", async (t) => {
    const cache = await openTestCache(t);
    await fetch(cache, "c1", FILES);
    assert.equal((await fetch(cache, "c2", FILES, ["u"])).length, 3);
    const source = new Source(FILES);
    const elsewhere = { store: "s", parts: ["other", "c1", "t"] };
    await cache.folder(elsewhere, listingOf(FILES), source.download, { versionPart: VERSION_PART });
    assert.equal(source.asked.length, 3);
    const unasked = new Source(FILES);
    await cache.folder(at("c3", "t"), listingOf(FILES), unasked.download);
    assert.equal(unasked.asked.length, 3);
  });

  it("is not trusted where its files are not what they were, though nothing shows it", async (t) => {
    const cache = await openTestCache(t);
    await fetch(cache, "c1", FILES);
    const { layout } = cache.parts;
    const path = layout.contentOf(at("c1", "t", "a"));
    fs.utimesSync(path, 1_750_000_000, 1_750_000_000);
    await fetch(cache, "c1", FILES);
    fs.writeFileSync(path, "eno");
    fs.utimesSync(path, 1_750_000_000, 1_750_000_000);
    fs.writeFileSync(layout.contentOf(at("c1", "t", "d", "b")), "otherwise");
    assert.deepEqual(await fetch(cache, "c2", FILES), ["a", "d/b"]);
  });

  it("takes nothing from a stream that it has", async (t) => {
    const cache = await openTestCache(t);
    await fetch(cache, "c1", FILES);
    const asked: string[] = [];
    const changed: Files = { ...FILES, a: "changed" };
    await cache.folder(at("c2", "t"), listingOf(changed), {
      stream: async function* (wanted) {
        asked.push(...wanted.map(({ path }) => path));
        yield { path: "a", download: download("changed", sha256Hex("changed")) };
      },
    }, { versionPart: VERSION_PART });
    assert.deepEqual(asked, ["a"]);
  });
});

describe("another version of a file", () => {
  it("is copied if it is the same, fetched alone or with its folder", async (t) => {
    const cache = await openTestCache(t);
    await fetch(cache, "c1", FILES);
    let asked = 0;
    const file = async (version: string, text: string) => {
      const { path, version: found } = await cache.file(at(version, "t", "d", "b"), {
        version: sha256Hex(text),
      }, async () => {
        asked++;
        return download(text, sha256Hex(text));
      }, { versionPart: VERSION_PART });
      assert.deepEqual([fs.readFileSync(path, "utf8"), found], [text, sha256Hex(text)]);
    };
    await file("c2", "two");
    assert.equal(asked, 0);
    await file("c3", "other");
    await file("c4", "other");
    assert.equal(asked, 1);
    assert.equal((await cache.cachedFile(at("c4", "t", "d", "b")))?.version, sha256Hex("other"));
  });
});
