/** Commits of a part, blame, what resets say, and what comes back after a deletion: as a user sees them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Ending } from "../tests/support/temporary.ts";
import { commit, readText, write } from "../tests/support/test_engine.ts";
import { testCli, type TestCliOptions } from "./testing.ts";

type Json = Record<string, unknown>;

async function withCommit(t: Ending, options: TestCliOptions = {}) {
  const cli = testCli(t, options);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "tester" });
  const first = await commit(store, "main", { a: "1", "d/x": "1", "d/y": "1" }, "first");
  return { ...cli, store, first };
}

describe("commit --path", () => {
  it("takes objects and folders, and leaves the rest staged", async (t) => {
    const { run, json, store } = await withCommit(t);
    await write(store, "main", { a: "2", "d/x": undefined, "d2": "1", "e/f/g": "1", h: "1" });
    const made = await run("commit", "lakefs://repo/main", "-m", "part", "--path", "d", "--path", "e/f/");
    assert.equal(made.code, 0, made.err);
    assert.equal((await run("status", "lakefs://repo/main")).out, "changed\ta\nadded\td2\nadded\th\n");
    assert.equal(
      (await run("diff", "lakefs://repo/main~1", "lakefs://repo/main", "--name-only")).out,
      "d/x\ne/f/g\n",
    );
    const nothing = await run("commit", "lakefs://repo/main", "-m", "x", "--path", "d/");
    assert.deepEqual([nothing.code, /"tarn status URI" shows what is staged/.test(nothing.err)], [6, true]);
    const before = await store.resolve("repo", "main");
    const typo = await run(
      "commit",
      "lakefs://repo/main",
      "-m",
      "x",
      "--path",
      "h",
      "--path",
      "d2/",
      "--path",
      "d",
    );
    assert.deepEqual([typo.code, /Cannot commit "d2\/", "d": nothing is staged there/.test(typo.err)], [
      3,
      true,
    ]);
    assert.equal(await store.resolve("repo", "main"), before);
    assert.equal((await run("commit", "lakefs://repo/main", "-m", "x", "--path", "")).code, 2);
    assert.deepEqual(
      (await json(["commit", "lakefs://repo/main", "-m", "x", "--path", "h"]) as Json).message,
      "x",
    );
  });
});

describe("blame", () => {
  it("lists objects in key order with the commit that last changed each", async (t) => {
    const { run, json, store, first } = await withCommit(t);
    const second = await commit(store, "main", { "d/y": "2" }, "second\n\nmore");
    const { out } = await run("blame", "lakefs://repo/main");
    const lines = out.split("\n").map((line) => line.split("\t"));
    assert.deepEqual(lines.slice(0, 3).map(([id, , who, path, subject]) => [id, who, path, subject]), [
      [first, "tester", "a", "first"],
      [first, "tester", "d/x", "first"],
      [second, "tester", "d/y", "second"],
    ]);
    const items = await json(["blame", "lakefs://repo/main/d"]) as Json[];
    assert.deepEqual(items.map(({ path, commit_id }) => [path, commit_id]), [["d/x", first], [
      "d/y",
      second,
    ]]);
    assert.deepEqual(Object.keys(items[0]!), ["path", "commit_id", "committer", "creation_date", "message"]);
    assert.equal((await json(["blame", "lakefs://repo/main/d/y"]) as Json[]).length, 1);
    assert.equal((await json(["blame", "lakefs://repo/main", "--key", "a"]) as Json[]).length, 1);
    const missing = await run("blame", "lakefs://repo/main/nowhere");
    assert.deepEqual([missing.code, /no commit has anything under "nowhere"/.test(missing.err)], [3, true]);
    assert.match(
      (await run("blame", "lakefs://repo/main/d/", "--format", "csv")).out,
      /^path,commit_id,committer,/,
    );
  });

  it("shows nothing harmful on a terminal", async (t) => {
    const { run, store } = await withCommit(t, { terminal: true });
    await commit(store, "main", { "e\x1b[31m": "1" }, "bad\x1b[31m\nsubject");
    const { out } = await run("blame", "lakefs://repo/main/e\x1b[31m");
    assert.match(out, /bad\\x1b\[31m +e\\x1b\[31m\n$/);
  });
});

describe("log", () => {
  it("stops at a ref", async (t) => {
    const { run, json, store, first } = await withCommit(t);
    const second = await commit(store, "main", { a: "2" });
    const third = await commit(store, "main", { a: "3" });
    const ids = async (...words: string[]) =>
      (await json(["log", "lakefs://repo/main", ...words]) as Json[]).map(({ id }) => id);
    assert.deepEqual(await ids("--stop-at", second), [third, second]);
    assert.deepEqual(await ids("--stop-at", `lakefs://repo/${first}`), [third, second, first]);
    assert.equal((await run("log", "lakefs://repo/main", "--stop-at", "nowhere")).code, 3);
  });

  it("says on a terminal that merges hide commits, and only then", async (t) => {
    const { run, store } = await withCommit(t, { terminal: true });
    const hint = /--all-parents or --graph/;
    assert.doesNotMatch((await run("log", "lakefs://repo/main")).err, hint);
    await store.createBranch("repo", "side", "main", "x");
    await commit(store, "side", { s: "1" });
    await store.merge("repo", "side", "main", { committer: "x" });
    assert.match((await run("log", "lakefs://repo/main")).err, hint);
    for (const more of ["--all-parents", "--graph", "--json"]) {
      assert.doesNotMatch((await run("log", "lakefs://repo/main", more)).err, hint);
    }
  });
});

describe("show", () => {
  it("counts what the commit changed, unless told not to, and in JSON when asked", async (t) => {
    const { run, json, store } = await withCommit(t);
    await commit(store, "main", { a: "22", "d/x": undefined });
    const { out } = await run("show", "lakefs://repo/main");
    assert.match(
      out,
      /\n {4}0\t0\t1\t2\t1\t\.\n {4}0\t1\t0\t0\t1\td\/\n {4}1 removed, 1 changed \(\+2 B, -2 B\)\n$/,
    );
    assert.match((await run("show", "lakefs://repo/main", "--no-stat")).out, /\n {4}change\n$/);
    assert.equal((await json(["show", "lakefs://repo/main"]) as Json)["stat"], undefined);
    const patched = await json(["show", "lakefs://repo/main", "--patch"]) as { changes: Json[] };
    assert.deepEqual(patched.changes.map(({ path }) => path), ["a", "d/x"]);
    assert.match(
      (await run("show", "lakefs://repo/main~1", "-p")).out,
      /\n\+\+\+ b\/a\n@@ -0,0 \+1 @@\n\+1\n/,
    );
  });
});

describe("reset and delete", () => {
  it("say in numbers what would be lost", async (t) => {
    const { run, store, first } = await withCommit(t);
    await commit(store, "main", { a: "2" });
    await commit(store, "main", { a: "3" });
    const asked = async (...words: string[]) => (await run(...words)).err.split("\n")[0];
    assert.match(
      (await asked("reset", "lakefs://repo/main", "--to", first))!,
      /main" to commit [0-9a-f]{12} \(2 commits leave it but stay in the reflog\)/,
    );
    await write(store, "main", { "d/x": "2", "d/z": "1", d2: "1" });
    assert.match(
      (await asked("reset", "lakefs://repo/main", "--to", "main~1"))!,
      /\(1 commit leaves it but stays in the reflog; 3 staged changes are lost\)/,
    );
    assert.match(
      (await asked("reset", "lakefs://repo/main/d"))!,
      /drop 2 staged changes of "d" on branch "main"/,
    );
    assert.match((await asked("reset", "lakefs://repo/main"))!, /drop 3 staged changes of branch "main"/);
    await write(store, "main", { d: "an object" });
    assert.match(
      (await asked("reset", "lakefs://repo/main/d"))!,
      /drop 1 staged change of "d" on branch "main"/,
    );
    await store.createBranch("repo", "side", "main", "x");
    assert.equal(
      (await run("reset", "lakefs://repo/side")).out,
      'Dropped 0 staged changes of branch "side"\n',
    );
    assert.equal((await run("reset", "lakefs://repo/side/d")).code, 3);
    await write(store, "side", { s: "1" });
    assert.match(
      (await asked("branch", "delete", "lakefs://repo/side"))!,
      /"side" with its 1 staged change:/,
    );
    assert.match((await run("reset", "lakefs://repo/side", "--to", "main~9")).err, /main~9/);
  });

  it("say that a tag is a tag", async (t) => {
    const { run, store } = await withCommit(t);
    await store.createTag("repo", "v1", "main", "x");
    for (const verb of [["status"], ["branch", "delete"], ["branch", "show"]]) {
      assert.match((await run(...verb, "lakefs://repo/v1")).err, /"v1".*: it is a tag\n/, verb.join(" "));
    }
    assert.match((await run("branch", "delete", "lakefs://repo/v1")).err, /tarn tag/);
    assert.match((await run("tag", "delete", "lakefs://repo/main")).err, /it is a branch\n.*tarn branch/);
  });
});

describe("branch create and restore", () => {
  it("take where a branch starts as the second argument", async (t) => {
    const { run, store, first } = await withCommit(t);
    assert.equal((await run("branch", "create", "lakefs://repo/x", "lakefs://repo/main")).code, 0);
    assert.equal((await run("branch", "lakefs://repo/y", "main@")).code, 0);
    assert.equal((await store.getBranch("repo", "y")).commitId, first);
    assert.equal((await run("branch", "create", "lakefs://repo/z", "main", "--from", "main")).code, 2);
  });

  it("list what was deleted, and bring any of it back", async (t) => {
    const { run, json, store } = await withCommit(t);
    for (const text of ["one", "two"]) {
      await run("branch", "lakefs://repo/x", "main");
      await write(store, "x", { s: text });
      await run("branch", "delete", "lakefs://repo/x", "--yes");
    }
    const deleted = await json(["reflog", "lakefs://repo", "--deleted"]) as {
      id: string;
      operation: string;
    }[];
    assert.deepEqual(deleted.map(({ operation }) => operation), ["branch delete", "branch delete"]);
    assert.equal((await run("branch", "restore", "lakefs://repo/x", "--id", deleted[0]!.id)).code, 0);
    assert.equal(await readText(store, "x", "s"), "one");
    assert.deepEqual(
      (await json(["reflog", "lakefs://repo", "--deleted"]) as Json[]).map(({ id }) => id),
      [deleted[1]!.id],
    );
    const moves = await json(["reflog", "lakefs://repo/x", "-n", "1"]) as Json[];
    assert.equal(moves[0]!.restored, deleted[0]!.id);
    const again = await run("branch", "restore", "lakefs://repo/x", "--id", deleted[1]!.id);
    assert.equal(again.code, 4);
    await run("branch", "delete", "lakefs://repo/x", "--yes");
    assert.equal((await run("branch", "restore", "lakefs://repo/x", "--id", deleted[0]!.id)).code, 3);
  });
});

describe("help refs", () => {
  it("explains expressions and selectors, and the help names it", async (t) => {
    const { run, json } = testCli(t);
    const { code, out } = await run("help", "refs");
    assert.equal(code, 0);
    for (const term of ["main~3", "main^2", "main@", "main$", "?at=ts:TIME", "?at=branch:NAME"]) {
      assert.ok(out.includes(term), term);
    }
    assert.ok(Math.max(...out.split("\n").map((line) => line.length)) <= 140);
    assert.match((await run("help")).out, /\n {2}help refs +how versions are named/);
    assert.equal((await json(["help", "refs"]) as Json)["name"], "refs");
    assert.match((await run("help", "ref")).err, /"refs"/);
  });
});
