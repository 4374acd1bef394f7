import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { lossyText, utf8 } from "../base/bytes.ts";
import { CONFIG, fill, testCatalog } from "./testing.ts";

async function names(pages: AsyncIterable<readonly { name: string }[]>): Promise<string[]> {
  const all = [];
  for await (const page of pages) all.push(...page.map(({ name }) => name));
  return all;
}

describe("Catalog", () => {
  it("reads by a logical URI what lies at the physical one", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    const commit = await fill(engine, { "t/a.csv": "1,2\n", "t/b.csv": "3\n" }, { message: "first" });
    const pinned = await catalog.pin("data://acme/sales/t");
    assert.equal(pinned, `lakefs-acme://acme-sales/${commit}/t`);
    assert.equal((await catalog.stat("data://acme/sales/t/a.csv")).sizeBytes, 4);
    assert.deepEqual(await names(catalog.list("data://acme/sales/t")), ["a.csv", "b.csv"]);
    for (const uri of ["data://acme/sales/t", "lakefs-acme://acme-sales/main/t", pinned]) {
      assert.equal(readFileSync(join(await catalog.fetch(uri), "a.csv"), "utf8"), "1,2\n");
    }
  });

  it("makes a store when it is first used, one for each entry, and tries again one that failed", async (t) => {
    const opened: string[] = [];
    const { catalog } = await testCatalog(t, CONFIG, {
      openStore: async ({ name }) => {
        opened.push(name);
        throw new Error("not yet");
      },
    });
    await catalog.resolve("data://acme/sales");
    assert.deepEqual(opened, []);
    for (let i = 0; i < 2; i++) await assert.rejects(catalog.stat("data://acme/sales"), /not yet/);
    assert.deepEqual(opened, ["lakefs-acme", "lakefs-acme"]);
  });

  it("says of a scheme that neither the configuration nor a store has what is near", async (t) => {
    const { catalog } = await testCatalog(t);
    await assert.rejects(catalog.stat("date://acme/x"), (error: { code: string; details: unknown }) => {
      assert.equal(error.code, "unknown_scheme");
      assert.deepEqual(error.details, { uri: "date://acme/x", suggestion: "data" });
      return true;
    });
  });

  it("reads a file and a folder of this machine where they are", async (t) => {
    const { catalog, folder } = await testCatalog(t);
    mkdirSync(join(folder, "docs/guide"), { recursive: true });
    writeFileSync(join(folder, "docs/guide/one"), "1");
    assert.equal(await catalog.fetch("doc://guide/one"), join(folder, "docs/guide/one"));
    assert.equal(await catalog.pin("doc://guide/one"), "files://docs/guide/one");
    await assert.rejects(catalog.stat("doc://guide/two"), { code: "object_not_found" });
  });

  it("what was replaced is never served: an online read asks for the version first", async (t) => {
    const { catalog } = await testCatalog(t);
    const uri = "data://acme/sales/t/a";
    for (const text of ["one", "two"]) {
      await catalog.put(uri, { body: utf8(text) });
      assert.equal(readFileSync(await catalog.fetch(uri), "utf8"), text);
    }
  });

  it("offline answers from the cache alone: what was fetched and pinned, and errors for the rest (H54)", async (t) => {
    const { catalog, engine, again } = await testCatalog(t);
    const commit = await fill(engine, { "t/a": "1", u: "2" }, { message: "m" });
    await catalog.pin("data://acme/sales/t");
    await catalog.fetch("data://acme/sales/t");
    const offline = await again({ isOffline: true });
    assert.equal(await offline.pin("data://acme/sales/t"), `lakefs-acme://acme-sales/${commit}/t`);
    assert.equal(readFileSync(join(await offline.fetch("data://acme/sales/t"), "a"), "utf8"), "1");
    assert.deepEqual(await names(offline.list("data://acme/sales/t")), ["a"]);
    assert.equal((await offline.stat("data://acme/sales/t/a")).sizeBytes, 1);
    await assert.rejects(offline.fetch("data://acme/sales/u"), {
      code: "not_cached",
      message: 'Cannot fetch "lakefs-acme://acme-sales/main/u" in offline mode: it is not in the cache',
    });
    await assert.rejects(offline.pin("data://acme/sales?at=tag:v1"), {
      code: "not_cached",
      message: /offline mode/,
    });
  });
});

it("pins live under the name of the store: what was pinned through one is not known through another", async (t) => {
  const config = "stores: {lakefs-acme: {driver: graveler}, lakefs-two: {driver: graveler}}\n";
  const { catalog, engine, again } = await testCatalog(t, config);
  await fill(engine, { a: "1" }, { message: "m" });
  await catalog.pin("lakefs-acme://acme-sales/main");
  const offline = await again({ isOffline: true });
  await offline.pin("lakefs-acme://acme-sales/main");
  await assert.rejects(offline.pin("lakefs-two://acme-sales/main"), { code: "not_cached" });
});

describe("openFile()", () => {
  it("reads blocks at any place, fewer bytes at the end, until it is closed", async (t) => {
    const { catalog } = await testCatalog(t);
    const uri = "data://acme/sales/a";
    await catalog.put(uri, { body: utf8("0123456789") });
    await catalog.commit("data://acme/sales", { message: "m" });
    const file = await catalog.openFile(uri);
    assert.equal(file.sizeBytes, 10);
    const block = async (offset: number, length: number) => lossyText(await file.readBlock(offset, length));
    assert.deepEqual(
      [await block(2, 3), await block(8, 9), await block(10, 1), await block(99, 1), await block(0, 0)],
      ["234", "89", "", "", ""],
    );
    for (const [offset, length] of [[-1, 1], [0, -1], [0.5, 1], [0, 4 * 1024 * 1024 + 1]] as const) {
      await assert.rejects(file.readBlock(offset, length), { code: "invalid_range" });
    }
    await file.close();
    await file.close();
    await assert.rejects(file.readBlock(0, 1), { code: "invalid_range", message: /closed/ });
  });

  it("reads the version that was there when it was opened, whatever becomes of it and of the cache", async (t) => {
    const { catalog, cache } = await testCatalog(t);
    const uri = "data://acme/sales/a";
    await catalog.put(uri, { body: utf8("old") });
    await catalog.commit("data://acme/sales", { message: "m" });
    await using file = await catalog.openFile(uri);
    await catalog.put(uri, { body: utf8("new") });
    await catalog.commit("data://acme/sales", { message: "m" });
    await catalog.fetch(uri);
    rmSync(cache.root, { recursive: true });
    assert.equal(lossyText(await file.readBlock(0, 10)), "old");
  });

  it("is for files", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await fill(engine, { "t/a": "1" }, { message: "m" });
    await assert.rejects(catalog.openFile("data://acme/sales/t"), {
      code: "folder_in_the_way",
      message: 'Cannot open "data://acme/sales/t": it is a folder',
    });
  });
});

function modesOf(folder: string): Record<string, number> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Object.fromEntries(
    [".", ...names].sort().map((name) => [name, statSync(join(folder, name)).mode & 0o777]),
  );
}

describe("snapshot()", () => {
  it("places a read-only copy with a manifest, which later fetches never rewrite", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    const commit = await fill(engine, { "t/a": "1", "t/sub/b": "22" }, { message: "first" });
    const copy = join(folder, "copies/one");
    assert.equal(await catalog.snapshot("data://acme/sales/t", copy), copy);
    await fill(engine, { "t/a": "changed" }, { message: "second" });
    await catalog.fetch("data://acme/sales/t");
    assert.equal(readFileSync(join(copy, "a"), "utf8"), "1");
    assert.deepEqual(readdirSync(copy).sort(), [".tarn-snapshot.lock", "a", "sub"]);
    assert.equal(
      readFileSync(join(copy, ".tarn-snapshot.lock"), "utf8"),
      `# Made by "tarn pin --write"; "tarn fetch --locked" fetches exactly this.
tarn-lock 1

uri data://acme/sales/t
pin lakefs-acme://acme-sales/${commit}/t
file 6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b 1 a
file 785f3ec7eb32f30b90cd0fcf3657d388b5ff4297f2f9716ff66e9b69c05ddd09 2 sub/b
`,
    );
    assert.deepEqual(modesOf(copy), {
      ".": 0o555,
      ".tarn-snapshot.lock": 0o444,
      a: 0o444,
      sub: 0o555,
      "sub/b": 0o444,
    });
    assert.deepEqual(readdirSync(dirname(copy)), ["one"]);
  });

  it("of a file places it under its name", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    await fill(engine, { "t/a": "1" }, { message: "first" });
    await catalog.snapshot("data://acme/sales/t/a", join(folder, "copy"));
    assert.equal(readFileSync(join(folder, "copy/a"), "utf8"), "1");
    assert.match(readFileSync(join(folder, "copy/.tarn-snapshot.lock"), "utf8"), /\nfile [0-9a-f]{64} 1\n$/);
  });

  it("takes no place that is taken, and leaves nothing behind where it fails", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    await fill(engine, { "t/a": "1" }, { message: "first" });
    const holder = join(folder, "holder");
    mkdirSync(join(holder, "full"), { recursive: true });
    mkdirSync(join(holder, "empty"));
    writeFileSync(join(holder, "full/x"), "mine");
    writeFileSync(join(holder, "file"), "mine");
    symlinkSync("nowhere", join(holder, "link"));
    for (const name of ["full", "file", "link"]) {
      await assert.rejects(catalog.snapshot("data://acme/sales/t", join(holder, name)), {
        code: "folder_in_the_way",
      });
    }
    await catalog.snapshot("data://acme/sales/t", join(holder, "empty"));
    await fill(engine, { "u/.tarn-snapshot.lock": "clash" }, { message: "second" });
    await assert.rejects(catalog.snapshot("data://acme/sales/u", join(holder, "new")), {
      code: "unplaceable_key",
    });
    assert.deepEqual(readdirSync(holder).sort(), ["empty", "file", "full", "link"]);
    assert.equal(readFileSync(join(holder, "full/x"), "utf8"), "mine");
  });
});
