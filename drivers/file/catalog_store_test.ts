import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it, type TestContext } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { parseUri, type Uri } from "../../base/uri.ts";
import { openLocalCache } from "../../cache/mod.ts";
import { testCatalogStore } from "../../tests/conformance/catalog_store_suite.ts";
import { filesIn, type OpenCatalogStore } from "../../tests/conformance/catalog_store_support.ts";
import { isKind } from "../../tests/conformance/object_store_support.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { CatalogStore } from "../catalog_store.ts";
import { openFileCatalogStore } from "./mod.ts";

function uriOf(scheme: string, path: string): Uri {
  return { scheme, place: "", segments: path.split("/").slice(1) };
}

const suite = { driver: "file", isCached: false, keepsClashes: false } as const;

testCatalogStore("file", {
  ...suite,
  open: async (t) => ({
    store: openFileCatalogStore({ name: "file" }),
    base: uriOf("file", temporaryFolder(t)),
  }),
});

testCatalogStore("file with a root", { ...suite, open: async (t) => openBelowRoot(t) });

function openBelowRoot(t: TestContext): OpenCatalogStore {
  const root = temporaryFolder(t);
  fs.mkdirSync(join(root, "work"));
  return { store: openFileCatalogStore({ name: "files", root }), base: parseUri("files://work") };
}

describe("the root of a file store", () => {
  /** A store with a root, a folder beside it that nobody may see, and symlinks of all kinds. */
  async function confined(t: TestContext) {
    const folder = fs.realpathSync(temporaryFolder(t));
    const root = join(folder, "root"), outside = join(folder, "outside");
    fs.mkdirSync(join(root, "d"), { recursive: true });
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, "secret"), "secret");
    fs.writeFileSync(join(root, "d", "a"), "a");
    fs.symlinkSync("d/a", join(root, "inside"));
    fs.symlinkSync("d", join(root, "folder"));
    fs.symlinkSync("../outside/secret", join(root, "out"));
    fs.symlinkSync(outside, join(root, "outfolder"));
    fs.symlinkSync("../outside/new", join(root, "dangling"));
    fs.symlinkSync("loop", join(root, "loop"));
    const cache = await openLocalCache({ root: join(folder, "cache") });
    return { root, outside, cache, store: openFileCatalogStore({ name: "files", root }) };
  }
  const outsideRoot = isKind("forbidden", "outside_root");
  const put = (store: CatalogStore, uri: Uri, cache: Parameters<CatalogStore["put"]>[2]) =>
    store.put(uri, { body: utf8("written") }, cache);

  it("confines reads, whatever the URI and the symlinks say", async (t) => {
    const { root, outside, cache, store } = await confined(t);
    assert.equal(fs.readFileSync(await store.fetch(parseUri("files://inside"), cache), "utf8"), "a");
    assert.equal(fs.readFileSync(await store.fetch(parseUri("files://folder/a"), cache), "utf8"), "a");
    assert.equal(await store.fetch(uriOf("files", `${root}/d/a`), cache), join(root, "d/a"));
    const uris = [
      parseUri("files://out"),
      parseUri("files://outfolder"),
      parseUri("files://outfolder/secret"),
      uriOf("files", `${outside}/secret`),
      uriOf("files", `${root}-other/x`),
      uriOf("files", "/etc/passwd"),
      uriOf("files", "/"),
    ];
    for (const uri of uris) {
      await assert.rejects(store.stat(uri, cache), outsideRoot, JSON.stringify(uri));
      await assert.rejects(store.fetch(uri, cache), outsideRoot, JSON.stringify(uri));
    }
    for (
      const path of [
        "..",
        "../outside/secret",
        "d/../../outside/secret",
        "%2e%2e/outside/secret",
        "d/%2e%2e/a",
      ]
    ) {
      await assert.rejects(
        store.fetch(parseUri(`files://${path}`), cache),
        isKind("invalid", "unplaceable_key"),
        path,
      );
      await assert.rejects(store.fetch(uriOf("files", `${root}/${decodeURIComponent(path)}`), cache), {
        code: "unplaceable_key",
      });
    }
    for (const path of ["loop", "dangling"]) {
      await assert.rejects(store.fetch(parseUri(`files://${path}`), cache), { code: "object_not_found" });
    }
  });

  it("is not left by a folder that is handed out, nor shown by a listing", async (t) => {
    const { root, cache, store } = await confined(t);
    await assert.rejects(store.fetch(parseUri("files://"), cache), outsideRoot);
    const names: string[] = [];
    for await (const page of store.list(parseUri("files://"), cache)) {
      names.push(...page.map(({ name }) => name));
    }
    assert.deepEqual(names, ["d", "folder", "inside"]);
    for (const name of ["out", "outfolder"]) fs.rmSync(join(root, name));
    assert.equal(await store.fetch(parseUri("files://"), cache), root);
  });

  it("confines writes and deletions", async (t) => {
    const { root, outside, cache, store } = await confined(t);
    for (const path of ["outfolder/new", "outfolder/secret", "outfolder/x/y", "../x"]) {
      const uri = uriOf("files", `${root}/${path}`);
      const refused = (error: { code: string }) => ["outside_root", "unplaceable_key"].includes(error.code);
      await assert.rejects(put(store, uri, cache), refused);
      await assert.rejects(store.delete(uri, cache), refused);
    }
    // A symlink itself is in the root: it is replaced, and what it leads to left alone.
    await put(store, parseUri("files://out"), cache);
    assert.equal(fs.lstatSync(join(root, "out")).isFile(), true);
    await put(store, parseUri("files://dangling"), cache);
    await put(store, parseUri("files://folder/b/c"), cache);
    assert.equal(fs.readFileSync(join(root, "d/b/c"), "utf8"), "written");
    await store.delete(parseUri("files://outfolder"), cache);
    assert.deepEqual(filesIn(outside), { secret: "secret" });
  });

  it("that is not there is told, and never made", async (t) => {
    const root = join(temporaryFolder(t), "unmounted");
    const store = openFileCatalogStore({ name: "files", root });
    const cache = await openLocalCache({ root: `${root}-cache` });
    for (const uri of [parseUri("files://a"), uriOf("files", `${root}/a`)]) {
      await assert.rejects(put(store, uri, cache), isKind("unavailable", "storage_missing"));
      await assert.rejects(store.stat(uri, cache), { code: "storage_missing" });
    }
    assert.equal(fs.existsSync(root), false);
    assert.throws(() => openFileCatalogStore({ name: "files", root: "relative" }), { code: "invalid_root" });
  });

  it("is what a URI without a leading slash lies below; without a root such a URI says what to write", async (t) => {
    const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
    await assert.rejects(openFileCatalogStore({ name: "file" }).stat(parseUri("file://srv/x"), cache), {
      code: "invalid_uri",
      message: 'Cannot use "file://srv/x": the store has no root; write file:///srv/x for an absolute path',
    });
  });
});

describe("a write to a file store", () => {
  it("keeps the mode of the file that it replaces", async (t) => {
    const { store, base } = openBelowRoot(t);
    const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
    const uri = { ...base, segments: ["script.sh"] };
    await store.put(uri, { body: utf8("one") }, cache);
    const path = await store.fetch(uri, cache);
    assert.equal(fs.statSync(path).mode & 0o777, 0o666 & ~process.umask());
    for (const mode of [0o750, 0o600, 0o444]) {
      fs.chmodSync(path, mode);
      await store.put(uri, { body: utf8(`mode ${mode}`) }, cache);
      assert.equal(fs.statSync(path).mode & 0o7777, mode);
      assert.equal(fs.readFileSync(path, "utf8"), `mode ${mode}`);
    }
  });

  it("leaves nothing beside the file, and what a killed one left is in no listing", async (t) => {
    const { store, base } = openBelowRoot(t);
    const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
    await store.put({ ...base, segments: ["a"] }, { body: utf8("one") }, cache);
    const folder = await store.fetch(base, cache);
    assert.deepEqual(fs.readdirSync(folder), ["a"]);
    fs.writeFileSync(join(folder, ".tarn-0123456789abcdef.tmp"), "half");
    const names: string[] = [];
    for await (const page of store.list(base, cache)) names.push(...page.map(({ name }) => name));
    assert.deepEqual(names, ["a"]);
  });

  it("says what is in the way", async (t) => {
    const { store, base } = openBelowRoot(t);
    const cache = await openLocalCache({ root: join(temporaryFolder(t), "cache") });
    const at = (...segments: string[]) => ({ ...base, segments });
    await store.put(at("d", "f"), { body: utf8("one") }, cache);
    await assert.rejects(store.put(at("d"), { body: utf8("x") }, cache), { code: "folder_in_the_way" });
    await assert.rejects(store.put(at("d", "f", "g"), { body: utf8("x") }, cache), {
      code: "file_in_the_way",
    });
  });
});
