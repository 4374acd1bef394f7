import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Ending } from "../tests/support/temporary.ts";
import { commit, write } from "../tests/support/test_engine.ts";
import { testCli } from "./testing.ts";

async function withObjects(t: Ending) {
  const cli = testCli(t);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "tester" });
  await write(store, "main", {
    "a b.csv": "x".repeat(1500),
    "d/%.csv": "",
    "d/e/f/x.txt": "12",
    "d/e/y.CSV": "123",
    "d-": "1",
    "z/": "",
  });
  const find = async (...argv: string[]) => (await cli.run("find", ...argv)).out.split("\n").slice(0, -1);
  return { ...cli, store, find };
}

describe("find", () => {
  it("prints the URIs of what passes all tests, encoded", async (t) => {
    const { run, find } = await withObjects(t);
    const main = "lakefs://repo/main";
    assert.deepEqual(await find(main, "--name", "*.csv"), [`${main}/a%20b.csv`, `${main}/d/%25.csv`]);
    for (const uri of await find(main)) assert.equal((await run("stat", uri)).code, 0, uri);
    assert.equal((await find(main)).length, 6);
    assert.deepEqual(await find(`${main}/d`, "--path", "d/**/[x-z].*"), [
      `${main}/d/e/f/x.txt`,
      `${main}/d/e/y.CSV`,
    ]);
    assert.deepEqual(await find(main, "--path", "*"), [`${main}/a%20b.csv`, `${main}/d-`]);
    assert.deepEqual(await find(main, "--size", "+1kB"), [`${main}/a%20b.csv`]);
    assert.deepEqual(await find(main, "--size", "+0", "--size", "-3B"), [
      `${main}/d-`,
      `${main}/d/e/f/x.txt`,
    ]);
    assert.deepEqual(await find(main, "--size", "1.5 kb", "--amount", "1"), [`${main}/a%20b.csv`]);
    const none = await run("find", `${main}/none`);
    assert.deepEqual([none.code, none.out, /nothing under "none"/.test(none.err)], [3, "", true]);
    assert.deepEqual(await find(`${main}/d/`, "--name", "none"), [], "what is filtered out is there");
    assert.deepEqual([(await run("du", `${main}/none`)).code, (await run("du", `${main}/d`)).code], [3, 0]);
  });

  it("tells objects by their time, and folders from objects", async (t) => {
    const { run, find, json, engine, store } = await withObjects(t);
    engine.clock.advance(10_000);
    await write(store, "main", { "new": "x" });
    const main = "lakefs://repo/main";
    assert.deepEqual(await find(main, "--newer-than", "2026-01-01T00:00:05Z"), [`${main}/new`]);
    assert.deepEqual(await find(main, "--type", "folder"), [
      `${main}/d/`,
      `${main}/d/e/`,
      `${main}/d/e/f/`,
      `${main}/z/`,
    ]);
    assert.deepEqual(await json(["find", `${main}/d/`, "--type", "folder", "--name", "f"]), [
      { path: "d/e/f/", path_type: "common_prefix" },
    ]);
    const [object] = await json(["find", main, "--name", "new"]) as Record<string, unknown>[];
    assert.deepEqual([object!.path, object!.path_type, object!.size_bytes], ["new", "object", 1]);
    assert.deepEqual(await json(["find", main, "--name", "none"]), []);
    for (
      const bad of [["--name", "[a"], ["--size", "big"], ["--size", "+-1"], ["--type", "f"], [
        "--newer-than",
        "x",
      ], [
        "--type",
        "folder",
        "--size",
        "1",
      ]]
    ) assert.equal((await run("find", main, ...bad)).code, 2, bad.join(" "));
  });

  it("lists the folders of many objects once each", async (t) => {
    const { store, find } = await withObjects(t);
    const many: Record<string, string> = {};
    for (let i = 0; i < 1000; i++) many[`m/${i % 3}/${i}/${i}`] = "";
    await write(store, "main", many);
    const folders = await find("lakefs://repo/main/m", "--type", "folder");
    assert.equal(folders.length, 1003);
    assert.equal(new Set(folders).size, 1003);
  });
});

describe("du", () => {
  it("counts objects and bytes in each folder, inner ones first", async (t) => {
    const { run, json } = await withObjects(t);
    const main = "lakefs://repo/main";
    const lines = async (...argv: string[]) => (await run("du", ...argv)).out.split("\n").slice(0, -1);
    assert.deepEqual(await lines(main), [`5\t3\t${main}/d/`, `0\t1\t${main}/z/`, `1506\t6\t${main}/`]);
    assert.deepEqual(await lines(main, "--depth", "0"), [`1506\t6\t${main}/`]);
    assert.deepEqual(await lines(`${main}/d`, "--depth", "9"), [
      `2\t1\t${main}/d/e/f/`,
      `5\t2\t${main}/d/e/`,
      `5\t3\t${main}/d/`,
    ]);
    assert.deepEqual(await json(["du", `${main}/d/e/f/`]), [
      { path: "d/e/f/", path_type: "common_prefix", size_bytes: 2, count: 1 },
    ]);
  });

  it("shows sizes for people in units of 1,000", async (t) => {
    const cli = testCli(t, { terminal: true });
    await cli.engine.store.createRepository("repo", { committer: "tester" });
    await write(cli.engine.store, "main", { "a": "x".repeat(1500) });
    assert.match(
      (await cli.run("du", "lakefs://repo/main")).out,
      /^ +1\.5 kB +1 object +lakefs:\/\/repo\/main\/\n$/,
    );
  });
});

it("branch restore and tag restore bring back what was deleted, staged changes included", async (t) => {
  const { run, json, store } = await withObjects(t);
  const id = await commit(store, "main", { "c": "1" });
  await run("branch", "lakefs://repo/dev%2F1", "--from", "main");
  await run("tag", "lakefs://repo/v1", "--from", "main");
  await write(store, "dev/1", { "staged": "x" });
  assert.equal((await run("branch", "delete", "lakefs://repo/dev%2F1", "--yes")).code, 0);
  assert.equal((await run("tag", "delete", "lakefs://repo/v1")).code, 0);
  assert.deepEqual(await json(["branch", "restore", "lakefs://repo/dev%2F1"]), {
    id: "dev/1",
    commit_id: id,
  });
  assert.equal((await run("tag", "restore", "lakefs://repo/v1")).out, `lakefs://repo/v1\t${id}\n`);
  assert.equal((await run("cat", "lakefs://repo/dev%2F1/staged")).out, "x");
  assert.equal((await run("branch", "restore", "lakefs://repo/dev%2F1")).code, 4);
  assert.equal((await run("tag", "restore", "lakefs://repo/none")).code, 3);
});
