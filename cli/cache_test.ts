import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Ending } from "../tests/support/temporary.ts";
import { write } from "../tests/support/test_engine.ts";
import { testCli } from "./testing.ts";

const CONFIG = `
schemes:
  data: {parts: [project], rest: path, target: "lakefs://{project}/{ref}/{path}", ref: main}
cache: {root: cached, max_size: 1MB}
`;

interface Item {
  uri: string;
  kind: string;
  size_bytes: number;
  files: number;
  whole: boolean;
  last_used: number;
}

async function prepared(t: Ending) {
  const cli = testCli(t);
  fs.writeFileSync(join(cli.folder, "tarn.yaml"), CONFIG);
  await cli.engine.store.createRepository("repo", { committer: "x" });
  await write(cli.engine.store, "main", { "t/a": "one", "t/d/b": "three", "alone": "four" });
  await cli.engine.store.createBranch("repo", "feature/x", "main", "x");
  await write(cli.engine.store, "feature/x", { "t/c": "c" });
  const ok = async (...argv: string[]) => {
    const ran = await cli.run(...argv);
    assert.equal(ran.code, 0, `${argv.join(" ")}: ${ran.err}`);
    return ran.out;
  };
  await ok("fetch", "lakefs://repo/main/t");
  await ok("fetch", "data://repo/alone");
  await ok("fetch", "lakefs://repo/feature%2Fx/t/c");
  const items = async (...argv: string[]) => await cli.json(["cache", "ls", ...argv]) as Item[];
  return { ...cli, ok, items, root: join(cli.folder, "cached") };
}

describe("cache ls", () => {
  it("lists what was fetched, by URI, all of it or below one, logical ones too", async (t) => {
    const { items, ok } = await prepared(t);
    assert.deepEqual(
      (await items()).map(({ kind, size_bytes, files, whole, uri }) => [kind, size_bytes, files, whole, uri]),
      [
        ["file", 1, 1, true, "lakefs://repo/feature%2Fx/t/c"],
        ["file", 4, 1, true, "lakefs://repo/main/alone"],
        ["folder", 8, 2, true, "lakefs://repo/main/t"],
      ],
    );
    const uris = async (...argv: string[]) => (await items(...argv)).map(({ uri }) => uri);
    assert.deepEqual(await uris("lakefs://repo/main/t/"), ["lakefs://repo/main/t"]);
    assert.deepEqual(await uris("data://repo/alone"), ["lakefs://repo/main/alone"]);
    assert.deepEqual(await uris("lakefs://repo/feature%2Fx/t"), ["lakefs://repo/feature%2Fx/t/c"]);
    assert.deepEqual(await uris("lakefs://repo/main/al"), []);
    assert.match(await ok("cache", "ls"), /^file\t4\t1\t\S+Z\tlakefs:\/\/repo\/main\/alone$/m);
    assert.match(
      await ok("cache", "ls", "--format", "csv"),
      /^uri,kind,size_bytes,files,version,last_used,whole\r\n/,
    );
  });

  it("refuses a URI that names no part of the cache", async (t) => {
    const { run } = await prepared(t);
    assert.match(
      (await run("cache", "ls", "lakefs://repo/t?at=branch:main")).err,
      /picks no part of the cache/,
    );
    assert.equal((await run("cache", "ls", "nothing://x")).code, 2);
    assert.equal((await run("cache", "ls", "a b")).code, 2);
  });

  it("of an empty cache lists nothing, and makes no folder", async (t) => {
    const cli = testCli(t);
    assert.deepEqual(await cli.json(["cache", "ls"]), []);
    assert.match((await cli.run("cache", "stat")).out, /^Holds: {3}0 B in 0 files$/m);
    assert.equal(fs.existsSync(join(cli.folder, "cache")), false);
  });
});

describe("cache stat", () => {
  it("says where the cache is, what it holds and what it may", async (t) => {
    const { json, ok, root } = await prepared(t);
    assert.deepEqual(await json(["cache", "stat"]), {
      root,
      size_bytes: 13,
      max_size_bytes: 1_000_000,
      folders: 1,
      unfinished_folders: 0,
      single_files: 2,
      files: 4,
    });
    assert.match(
      await ok("cache", "stat"),
      /^Holds: {3}13 B in 4 files\nLimit: {3}1\.0 MB\nFetched: 1 folder, 2 single files$/m,
    );
  });
});

describe("what was fetched by itself and with its folder", () => {
  it("stands in two lines of cache ls, and counts once in cache stat", async (t) => {
    const { ok, items, json } = await prepared(t);
    await ok("fetch", "lakefs://repo/feature%2Fx/t");
    const of = "lakefs://repo/feature%2Fx/t";
    assert.deepEqual((await items(of)).map(({ uri, size_bytes, files }) => [uri, size_bytes, files]), [
      [of, 1, 1],
      [`${of}/c`, 1, 1],
    ]);
    const { size_bytes, files } = await json(["cache", "stat"]) as { size_bytes: number; files: number };
    assert.deepEqual([size_bytes, files], [8 + 4 + 1, 2 + 1 + 1]);
  });
});

describe("cache prune", () => {
  it("removes what a URI names, and only that", async (t) => {
    const { json, items, root } = await prepared(t);
    const pruned = await json(["cache", "prune", "data://repo/t"]) as {
      removed: Item[];
      freed_bytes: number;
    };
    assert.deepEqual(pruned.removed.map(({ uri }) => uri), ["lakefs://repo/main/t"]);
    assert.equal(pruned.freed_bytes, 8);
    assert.equal((await items()).length, 2);
    assert.equal(fs.existsSync(join(root, "lakefs/repo/main/t")), false);
  });

  it("without a word about what keeps everything but leftovers", async (t) => {
    const { ok, items, root } = await prepared(t);
    fs.writeFileSync(join(root, "lakefs/repo/stray"), "stray");
    assert.equal(
      await ok("cache", "prune"),
      "Removed 0 items, and 1 file that nothing was known of: 5 B freed\n",
    );
    assert.equal((await items()).length, 3);
  });

  it("keeps what was used last, by days or by size", async (t) => {
    const { ok, items, root } = await prepared(t);
    const long = Date.UTC(2020, 0, 1) / 1000;
    for (const name of fs.readdirSync(join(root, ".provcat/done"))) {
      fs.utimesSync(join(root, ".provcat/done", name), long, long);
    }
    assert.equal(await ok("cache", "prune", "--unused-for", "30"), "Removed 1 item: 8 B freed\n");
    assert.equal(await ok("cache", "prune", "--max-size", "4B"), "Removed 1 item: 4 B freed\n");
    assert.deepEqual((await items()).map(({ size_bytes }) => size_bytes), [1]);
  });

  it("removes everything when it is confirmed, and then all is fetched again", async (t) => {
    const { run, ok, items, root } = await prepared(t);
    const refused = await run("cache", "prune", "--all");
    assert.equal(refused.code, 2);
    assert.match(refused.err, /needs a confirmation/);
    assert.equal((await items()).length, 3);
    assert.equal(await ok("cache", "prune", "--all", "--yes"), "Removed 3 items: 13 B freed\n");
    assert.deepEqual(await items(), []);
    await ok("fetch", "lakefs://repo/main/t");
    assert.equal(fs.readFileSync(join(root, "lakefs/repo/main/t/a"), "utf8"), "one");
  });

  it("refuses what makes no sense", async (t) => {
    const { run } = await prepared(t);
    for (
      const argv of [
        ["--max-size", "much"],
        ["--unused-for", "-1"],
        ["--all", "--max-size", "1GB", "--yes"],
        ["--all", "lakefs://repo/main", "--yes"],
      ]
    ) {
      assert.equal((await run("cache", "prune", ...argv)).code, 2, argv.join(" "));
    }
  });
});

describe("cache verify", () => {
  it("finds what is damaged, removes it, and says so by its exit code", async (t) => {
    const { ok, run, json, root } = await prepared(t);
    assert.equal(await ok("cache", "verify"), "Verified 4 files (13 B): nothing is damaged\n");
    fs.writeFileSync(join(root, "lakefs/repo/main/t/a"), "two");
    fs.rmSync(join(root, "lakefs/repo/main/alone"));
    const found = await run("cache", "verify");
    assert.equal(found.code, 1);
    assert.deepEqual(found.out.split("\n").slice(0, 2).sort(), [
      "lakefs://repo/main/alone is missing",
      "lakefs://repo/main/t/a has other bytes",
    ]);
    assert.match(found.out, /2 items are damaged, and removed: they are fetched again\n$/);
    const again = await json(["cache", "verify"]) as { damaged: unknown[] };
    assert.deepEqual(again.damaged, []);
    await ok("fetch", "lakefs://repo/main/t");
    assert.equal(fs.readFileSync(join(root, "lakefs/repo/main/t/a"), "utf8"), "one");
  });
});
