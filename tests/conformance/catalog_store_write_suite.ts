/** What every store of the catalog that can be written does. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { utf8 } from "../../base/bytes.ts";
import type { Check } from "./catalog_store_support.ts";
import { failingAfter, isKind, patternOf, piecesOf } from "./object_store_support.ts";

const notFound = isKind("not_found", "object_not_found");

export function testCatalogWrites(check: Check): void {
  check("put() writes bytes, a stream or a local file, of any size", async (bench) => {
    const local = join(dirname(bench.cache.root), "local");
    for (const size of [0, 1, 65_536, 3_000_000]) {
      const content = patternOf(size);
      fs.writeFileSync(local, content);
      for (const source of [{ body: content }, { body: piecesOf(content, 10_000) }, { path: local }]) {
        const entry = await bench.put("d/e/f", source);
        assert.equal(`${entry.kind} ${entry.name} ${entry.sizeBytes}`, `file f ${size}`);
        assert.deepEqual(new Uint8Array(fs.readFileSync(await bench.fetch("d/e/f"))), content);
        assert.equal((await bench.stat("d/e/f")).version, entry.version);
      }
    }
  });

  check("put() that fails leaves the old file, and nothing where none was", async (bench) => {
    await bench.fill({ "d/a": "old" });
    const broken = () => failingAfter(patternOf(300_000), new Error("the source broke"));
    await assert.rejects(bench.put("d/a", { body: broken() }), /the source broke/);
    await assert.rejects(bench.put("d/b", { body: broken() }), /the source broke/);
    await assert.rejects(bench.put("d/a", { path: "/nowhere/at/all" }), { code: "file_not_found" });
    await assert.rejects(bench.put("d/a", { path: dirname(bench.cache.root) }), { code: "file_unusable" });
    assert.equal(await bench.read("d/a"), "old");
    assert.deepEqual(await bench.list("d"), ["file a"]);
  });

  check("put() stops by its signal", async (bench) => {
    const signal = AbortSignal.timeout(20);
    async function* endless(): AsyncGenerator<Uint8Array> {
      while (true) {
        yield new Uint8Array(1000);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    const writing = bench.store.put(bench.at("d/a"), { body: endless() }, bench.cache, { signal });
    await assert.rejects(writing, { code: "canceled" });
    await assert.rejects(bench.stat("d/a"), notFound);
  });

  check("put() takes the name of a file, not of a folder", async (bench) => {
    for (const path of ["d/", ""]) {
      await assert.rejects(
        bench.put(path, { body: utf8("x") }),
        (error: { kind: string }) => error.kind === "invalid",
      );
    }
  });

  check("a reader sees an old or a new file whole while it is written", async (bench) => {
    const texts = [patternOf(200_000), patternOf(200_000).reverse()];
    await bench.put("a", { body: texts[0]! });
    let isDone = false;
    const writing = (async () => {
      for (let i = 1; i <= 10; i++) await bench.put("a", { body: piecesOf(texts[i % 2]!, 5000) });
      isDone = true;
    })();
    let count = 0;
    while (!isDone) {
      const read = fs.readFileSync(await bench.fetch("a"));
      assert.ok(texts.some((text) => Buffer.compare(read, text) === 0), `read ${++count} was torn`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
  });

  check("delete() takes one file away, and says when there is none", async (bench) => {
    await bench.fill({ "d/a": "1", "d/b": "2" });
    await bench.store.delete(bench.at("d/a"), bench.cache);
    assert.deepEqual(await bench.list("d"), ["file b"]);
    await assert.rejects(bench.fetch("d/a"), notFound);
    for (const path of ["d/a", "none", "none/x"]) {
      await assert.rejects(bench.store.delete(bench.at(path), bench.cache), notFound, path);
    }
    for (const path of ["d/", "d"]) {
      const failure = await bench.store.delete(bench.at(path), bench.cache).then(
        () => "",
        (error) => error.kind,
      );
      assert.ok(["invalid", "not_found"].includes(failure), path);
    }
    assert.deepEqual(await bench.list("d"), ["file b"]);
  });
}
