/**
 * What every store of the catalog does, whatever stands behind it. A driver's own test opens it and runs this; what it can do
 * beside reading is told by its capabilities, and a call outside them has to be refused.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { SELECTOR_KINDS } from "../../base/uri.ts";
import { CATALOG_DRIVERS } from "../../drivers/catalog_store.ts";
import {
  type Bench,
  type CatalogStoreSuiteOptions,
  type Check,
  checksOf,
  driverCan,
} from "./catalog_store_support.ts";
import { testCatalogVersions } from "./catalog_store_versions_suite.ts";
import { testCatalogWrites } from "./catalog_store_write_suite.ts";
import { isKind } from "./object_store_support.ts";

export const notFound = isKind("not_found", "object_not_found");

/** Runs the suite against the stores that `open` gives. */
export function testCatalogStore(name: string, options: CatalogStoreSuiteOptions): void {
  const check = checksOf(name, options);
  const { driver } = options;
  testReads(check);
  testNames(check, options);
  testRefusals(check);
  if (options.isCached) testCache(check);
  if (driverCan(driver, "write")) testCatalogWrites(check);
  if (driverCan(driver, "commit", "branch", "merge") && CATALOG_DRIVERS[driver].refsInPath) {
    testCatalogVersions(check, options);
  }
}

function testReads(check: Check): void {
  check("stat() tells files, folders and nothing apart", async (bench) => {
    await bench.fill({ "d/a.csv": "one", "d/e/b.csv": "two", "f": "" });
    const file = await bench.stat("d/a.csv");
    assert.deepEqual({ name: file.name, kind: file.kind, sizeBytes: file.sizeBytes }, {
      name: "a.csv",
      kind: "file",
      sizeBytes: 3,
    });
    assert.ok(file.version);
    assert.equal((await bench.stat("f")).sizeBytes, 0);
    for (const path of ["d", "d/", "d/e"]) {
      const { kind, name } = await bench.stat(path);
      assert.equal(`${kind} ${name}`, `folder ${path.replace(/\/$/, "").split("/").at(-1)}`);
    }
    for (const path of ["none", "d/none", "d/a.csv/", "d/a.csv/x", "D", "d/a.cs", "none/"]) {
      await assert.rejects(bench.stat(path), notFound, path);
    }
  });

  check("a file's version changes with its content", async (bench) => {
    await bench.fill({ a: "one" });
    const before = await bench.stat("a");
    assert.equal((await bench.stat("a")).version, before.version);
    await bench.fill({ a: "other" });
    assert.notEqual((await bench.stat("a")).version, before.version);
  });

  check(
    "list() yields what lies directly in a folder, hidden files too, in byte order of names",
    async (bench) => {
      await bench.fill({
        "d/b": "1",
        "d/B": "22",
        "d/.hidden": "3",
        "d/x/y/z": "4",
        "d/é": "5",
        "beside": "6",
      });
      assert.deepEqual(await bench.list("d"), ["file .hidden", "file B", "file b", "folder x", "file é"]);
      assert.deepEqual(await bench.list("d/"), await bench.list("d"));
      assert.deepEqual(await bench.list("d/x"), ["folder y"]);
      assert.deepEqual(await bench.list(""), ["file beside", "folder d"]);
      for await (const page of bench.store.list(bench.at("d"), bench.cache)) {
        for (const { name, sizeBytes } of page) if (name === "B") assert.equal(sizeBytes, 2);
      }
      for (const path of ["none", "d/b", "d/none"]) await assert.rejects(bench.list(path), notFound, path);
    },
  );

  check("list() yields more than a page", async (bench) => {
    const names = Array.from({ length: 1100 }, (_, i) => `f${String(i).padStart(4, "0")}`);
    await bench.fill(Object.fromEntries(names.map((name) => [`many/${name}`, ""])));
    assert.deepEqual(await bench.list("many"), names.map((name) => `file ${name}`));
  });

  check("fetch() gives a file's bytes, and after a change those", async (bench) => {
    await bench.fill({ "d/a": "one", "empty": "" });
    assert.equal(await bench.read("d/a"), "one");
    assert.equal(await bench.read("d/a"), "one");
    assert.equal(await bench.read("empty"), "");
    await bench.fill({ "d/a": "two" });
    assert.equal(await bench.read("d/a"), "two");
    await assert.rejects(bench.fetch("none"), notFound);
    await assert.rejects(bench.fetch("d/a/"), notFound);
  });

  check(
    "fetch() gives a folder as it is, hidden files included, and after changes as it is then",
    async (bench) => {
      const first = { ".hidden": "h", "a": "1", "e/f/g": "2" };
      await bench.fill(Object.fromEntries(Object.entries(first).map(([path, text]) => [`t/${path}`, text])));
      await bench.fill({ "beside": "b", "t2/x": "x" });
      assert.deepEqual(await bench.readAll("t"), first);
      assert.deepEqual(await bench.readAll("t/"), first);
      assert.deepEqual(await bench.readAll("t/e"), { "f/g": "2" });
      await bench.fill({ "t/a": "changed", "t/new": "n", "t/e/f/g": undefined });
      assert.deepEqual(await bench.readAll("t"), { ".hidden": "h", "a": "changed", "new": "n" });
      await assert.rejects(bench.fetch("none"), notFound);
    },
  );

  check("pin() gives a URI that reads the same now", async (bench) => {
    await bench.fill({ "t/a": "1" });
    if (bench.can("commit")) await bench.store.commit(bench.at(""), { message: "x", committer: "tester" });
    const pinned = await bench.store.pin(bench.at("t/a"), bench.cache);
    assert.equal(await bench.read(pinned), "1");
    assert.deepEqual(await bench.store.pin(pinned, bench.cache), pinned);
    if (!bench.can("pin")) assert.deepEqual(pinned, bench.at("t/a"));
  });
}

const NAMES = [
  "a b",
  "a+b",
  "100%",
  "%2e%2e",
  "?at=branch:x",
  "#x",
  "é",
  "e\u0301x",
  "日本",
  "\u{1f600}",
  "it's",
  'a"b',
  "a\\b",
  "a;b&c=d",
  "-r",
  "~",
  "...",
  ".x",
  "x".repeat(255),
  "a\tb\nc",
];

function testNames(check: Check, { isCached, keepsClashes }: CatalogStoreSuiteOptions): void {
  check("any name that a disk takes is kept exactly", async (bench) => {
    await bench.fill(Object.fromEntries(NAMES.map((name) => [`n/${name}/f`, name])));
    for (const name of NAMES) assert.equal(await bench.read(`n/${name}/f`), name);
    assert.deepEqual((await bench.list("n")).sort(), NAMES.map((name) => `folder ${name}`).sort());
    const all = await bench.readAll("n");
    for (const name of NAMES) assert.equal(all[`${name}/f`], name);
  });

  if (isCached) {
    check(
      "a folder with names that some disk takes for one is refused, and each file of it works",
      async (bench) => {
        const pairs = [["Guide.md", "guide.md"], ["straße", "strasse"], ["é", "e\u0301"], ["A/x", "a/y"]];
        for (const [i, names] of pairs.entries()) {
          await bench.fill(Object.fromEntries(names.map((name) => [`c${i}/in/${name}`, name])));
          await assert.rejects(bench.fetch(`c${i}`), isKind("invalid", "unplaceable_key"));
          for (const name of names) assert.equal(await bench.read(`c${i}/in/${name}`), name);
        }
      },
    );
  }

  if (isCached && keepsClashes) {
    check("an object and objects below its name: the second that is fetched fails clearly", async (bench) => {
      await bench.fill({ "x/a": "file", "x/a/b": "below" });
      assert.deepEqual(await bench.list("x"), ["file a", "folder a"]);
      assert.equal((await bench.stat("x/a")).kind, "file");
      assert.equal((await bench.stat("x/a/")).kind, "folder");
      await assert.rejects(bench.fetch("x"), isKind("invalid", "unplaceable_key"));
      assert.equal(await bench.read("x/a"), "file");
      await assert.rejects(bench.fetch("x/a/b"), isKind("conflict", "cache_clash"));
      await assert.rejects(bench.fetch("x/a/"), isKind("conflict", "cache_clash"));
      assert.equal(await bench.read("x/a"), "file");
    });
  }

  check("names that mean another place are refused or not found, never followed", async (bench) => {
    await bench.fill({ "d/a": "1" });
    for (const path of ["d/../d/a", "../x", "d/./a", "..", "d//a"]) {
      const failure = await bench.fetch(path).then(() => undefined, (error: unknown) => error);
      assert.ok(failure instanceof CodedError, path);
      assert.ok(["invalid", "not_found", "forbidden"].includes(failure.kind), `${path}: ${failure.code}`);
    }
  });
}

function testRefusals(check: Check): void {
  check("its capabilities are those of its driver, and calls outside them say so", async (bench) => {
    const { store } = bench;
    const { capabilities, fetchPins, refsInPath } = CATALOG_DRIVERS[store.driver];
    assert.deepEqual([...store.capabilities].sort(), [...capabilities].sort());
    assert.deepEqual([store.fetchPins, store.refsInPath], [fetchPins, refsInPath]);
    const uri = bench.at("x");
    const calls = {
      write: () => store.put(uri, { body: utf8("x") }, bench.cache),
      commit: () => store.commit(uri, { message: "x", committer: "tester" }),
      branch: () => store.branch(uri, "main", { committer: "tester" }),
      merge: () => store.merge(uri, "main", { committer: "tester" }),
    };
    for (const [capability, call] of Object.entries(calls)) {
      if (bench.can(capability as keyof typeof calls)) continue;
      await assert.rejects(call(), (error: CodedError) => {
        assert.ok(isKind("unsupported", "unsupported_by_store")(error));
        assert.equal(error.details["capability"], capability);
        assert.match(error.message, new RegExp(store.name));
        return true;
      });
    }
    if (!bench.can("write")) {
      await assert.rejects(store.delete(uri, bench.cache), { code: "unsupported_by_store" });
    }
  });

  check("a selector that it does not have is refused by every call", async (bench) => {
    await bench.fill({ a: "1" });
    const has: string[] = bench.can("time") ? ["branch", "tag", "commit", "ts"] : [];
    if (bench.can("commit") && !bench.store.refsInPath) has.push("commit", "version");
    for (const kind of SELECTOR_KINDS.filter((one) => !has.includes(one))) {
      const uri = bench.at("a", { kind, value: "x" });
      const refused = isKind("unsupported", "unsupported_selector");
      await assert.rejects(bench.store.stat(uri, bench.cache), refused);
      await assert.rejects(bench.store.fetch(uri, bench.cache), refused);
      await assert.rejects(bench.list(uri), refused);
      await assert.rejects(bench.store.pin(uri, bench.cache), refused);
      if (bench.can("write")) {
        await assert.rejects(bench.store.put(uri, { body: utf8("x") }, bench.cache), refused);
        await assert.rejects(bench.store.delete(uri, bench.cache), refused);
      }
    }
  });
}

function testCache(check: Check): void {
  check("what did not change is not downloaded again", async (bench) => {
    await bench.fill({ "t/a": "1", "t/b": "2" });
    const folder = await bench.fetch("t");
    const before = fs.statSync(join(folder, "a"));
    await bench.fill({ "t/b": "changed" });
    assert.equal(await bench.fetch("t"), folder);
    const after = fs.statSync(join(folder, "a"));
    assert.deepEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs]);
    assert.equal(await bench.fetch("t/a"), join(folder, "a"));
    assert.equal(fs.statSync(join(folder, "a")).ino, before.ino);
  });

  check("offline it answers what was fetched, and nothing else, and asks nobody", async (bench) => {
    await bench.fill({ "t/a": "1", "t/e/b": "2", "alone": "3", "never": "4" });
    await bench.fetch("t");
    await bench.fetch("alone");
    const offline = await bench.goOffline();
    assert.deepEqual(await bench.readAll("t", offline), { "a": "1", "e/b": "2" });
    assert.equal(await bench.read("t/e/b", offline), "2");
    assert.equal(await bench.read("alone", offline), "3");
    assert.deepEqual(await bench.list("t", offline), ["file a", "folder e"]);
    const stat = async (path: string) => await bench.store.stat(bench.at(path), offline);
    assert.equal((await stat("t/a")).sizeBytes, 1);
    assert.equal((await stat("t/e")).kind, "folder");
    const missing = isKind("unavailable", "not_cached");
    for (const path of ["never", "t/none", "none"]) {
      await assert.rejects(bench.fetch(path, offline), missing, path);
      await assert.rejects(stat(path), missing, path);
      await assert.rejects(bench.list(path, offline), missing, path);
    }
    await assert.rejects(bench.fetch("never", offline), (error: CodedError) => {
      assert.ok(
        error.message.includes(bench.text("never")) && error.message.includes("offline"),
        error.message,
      );
      return true;
    });
  });

  check("a copy of the cache answers as the cache does", async (bench) => {
    await bench.fill({ "t/a": "1", "t/e/b": "2" });
    await bench.fetch("t");
    bench.open.cutOff?.();
    const root = `${bench.cache.root}-copy`;
    fs.cpSync(bench.cache.root, root, { recursive: true });
    fs.rmSync(bench.cache.root, { recursive: true });
    const copy = await copyOffline(root);
    assert.deepEqual(await bench.readAll("t", copy), { "a": "1", "e/b": "2" });
    assert.ok((await bench.fetch("t", copy)).startsWith(root));
  });

  check("what was written over in the cache is noticed", async (bench) => {
    await bench.fill({ "t/a": "1", "t/b": "2" });
    const folder = await bench.fetch("t");
    fs.writeFileSync(join(folder, "a"), "9");
    fs.rmSync(join(folder, "b"));
    fs.writeFileSync(join(folder, "stray"), "9");
    assert.deepEqual(await bench.readAll("t"), { a: "1", b: "2" });
  });
}

async function copyOffline(root: string): Promise<Bench["cache"]> {
  const { openLocalCache } = await import("../../cache/mod.ts");
  return await openLocalCache({ root, isOffline: true });
}
