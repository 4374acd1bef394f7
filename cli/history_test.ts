import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { displayWidth } from "./render/width.ts";
import { testCli } from "./testing.ts";
import type { Ending } from "../tests/support/temporary.ts";
import { readText, write } from "../tests/support/test_engine.ts";

type Json = Record<string, unknown>;

/** A repository with one commit on `main` that has `a` and `b`. */
async function withCommit(t: Ending) {
  const cli = testCli(t);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "tester" });
  const change = async (branch: string, contents: Record<string, string | undefined>, message = "change") => {
    await write(store, branch, contents);
    const { id } = await cli.json(["commit", `lakefs://repo/${branch}`, "-m", message]) as { id: string };
    return id;
  };
  const first = await change("main", { a: "1", b: "1" }, "first");
  return { ...cli, store, change, first };
}

describe("commit", () => {
  it("prints the URI of the commit, or the commit in the lakeFS API's words", async (t) => {
    const { run, json, store } = await withCommit(t);
    await write(store, "main", { c: "1" });
    const { out } = await run("commit", "lakefs://repo/main", "-m", "second");
    assert.match(out, /^lakefs:\/\/repo\/[0-9a-f]{64}\n$/);
    await write(store, "main", { d: "1" });
    const commit = await json([
      "commit",
      "lakefs://repo/main",
      "-m",
      "x",
      "--meta",
      "k=v",
      "--date",
      "2020-01-02",
    ]) as Json;
    assert.deepEqual(Object.keys(commit), [
      "id",
      "parents",
      "committer",
      "message",
      "creation_date",
      "meta_range_id",
      "metadata",
      "generation",
      "version",
    ]);
    assert.deepEqual([commit.committer, commit.metadata, commit.creation_date], [
      "tester",
      { k: "v" },
      1577923200,
    ]);
  });

  it("exits with 6 when nothing is staged, and with 2 without a message", async (t) => {
    const { run } = await withCommit(t);
    assert.equal((await run("commit", "lakefs://repo/main", "-m", "x")).code, 6);
    assert.equal((await run("commit", "lakefs://repo/main", "-m", "x", "--allow-empty")).code, 0);
    assert.equal((await run("commit", "lakefs://repo/main", "--allow-empty")).code, 2);
    assert.equal(
      (await run("commit", "lakefs://repo/main", "--allow-empty", "--allow-empty-message")).code,
      0,
    );
  });

  it("H42 reads times with zones and fractions, and refuses the future", async (t) => {
    const { run, json } = await withCommit(t);
    const times: Record<string, number> = {
      "2024-01-15T10:00:00-05:00": Date.UTC(2024, 0, 15, 15) / 1000,
      "2024-01-15T10:00:00.5Z": Date.UTC(2024, 0, 15, 10) / 1000,
      "2024-01-15": Date.UTC(2024, 0, 15) / 1000,
    };
    for (const [time, seconds] of Object.entries(times)) {
      const commit = await json([
        "commit",
        "lakefs://repo/main",
        "-m",
        time,
        "--allow-empty",
        "--date",
        time,
      ]) as Json;
      assert.equal(commit.creation_date, seconds, time);
    }
    for (const time of ["2999-01-01", "yesterday", "2024-02-30", "2024-01-15T25:00:00Z"]) {
      assert.equal(
        (await run("commit", "lakefs://repo/main", "-m", "x", "--allow-empty", "--date", time)).code,
        2,
      );
    }
  });
});

describe("status and diff", () => {
  it("list what is staged, and what differs, the older side first", async (t) => {
    const { run, json, store, change } = await withCommit(t);
    await write(store, "main", { a: "2", b: undefined, c: "22" });
    const staged = [
      { type: "changed", path: "a", path_type: "object", size_bytes: 1 },
      { type: "removed", path: "b", path_type: "object", size_bytes: 1 },
      { type: "added", path: "c", path_type: "object", size_bytes: 2 },
    ];
    assert.deepEqual(await json(["status", "lakefs://repo/main"]), staged);
    assert.deepEqual(await json(["diff", "lakefs://repo/main"]), staged);
    assert.equal((await run("status", "lakefs://repo/main")).out, "changed\ta\nremoved\tb\nadded\tc\n");
    await change("main", {});
    assert.deepEqual(await json(["diff", "lakefs://repo/main~1", "lakefs://repo/main"]), staged);
    const { out } = await run("diff", "lakefs://repo/main~1", "main");
    assert.match(out, /^--- lakefs:\/\/repo\/main~1 \(older\)\n\+\+\+ main \(newer\)\nchanged\ta\n/);
  });

  it("count, name, and restrict", async (t) => {
    const { run, json, change } = await withCommit(t);
    await change("main", { a: "2", "d/x": "", "d/y": "" });
    const sides = ["lakefs://repo/main~1", "lakefs://repo/main"];
    assert.equal(
      (await run("diff", ...sides, "--stat")).out,
      "0\t0\t1\t1\t1\t.\n2\t0\t0\t0\t0\td/\n2 added, 1 changed (+1 B, -1 B)\n",
    );
    assert.equal((await run("diff", ...sides, "--name-only", "--prefix", "d/")).out, "d/x\nd/y\n");
    assert.deepEqual(
      await json(["diff", "lakefs://repo/main~1/d/", "lakefs://repo/main/d/", "--name-only"]),
      [
        "d/x",
        "d/y",
      ],
    );
    assert.deepEqual(await json(["diff", ...sides, "--stat"]), {
      added: 2,
      removed: 0,
      changed: 1,
      conflict: 0,
      bytes_added: 1,
      bytes_removed: 1,
      folders: [
        { path: "", added: 0, removed: 0, changed: 1, conflict: 0, bytes_added: 1, bytes_removed: 1 },
        { path: "d/", added: 2, removed: 0, changed: 0, conflict: 0, bytes_added: 0, bytes_removed: 0 },
      ],
    });
    assert.equal((await run("diff", "lakefs://repo/main/a", "lakefs://repo/main/d")).code, 2);
  });

  it("fold what begins alike, with counts", async (t) => {
    const { run, json, change } = await withCommit(t);
    await change("main", { a: "2", "d/e/x": "1", "d/e/y": "12", "d/z": "1", "f-1": "", "f-2": "" });
    const sides = ["lakefs://repo/main~1", "lakefs://repo/main"];
    const paths = async (...options: string[]) =>
      (await json(["diff", ...sides, ...options]) as { path: string }[]).map(({ path }) => path);
    assert.deepEqual(await paths("--depth", "1"), ["a", "d/", "f-1", "f-2"]);
    assert.deepEqual(await paths("--depth", "2"), ["a", "d/e/", "d/z", "f-1", "f-2"]);
    assert.deepEqual(await paths("--delimiter", "/", "--prefix", "d/"), ["d/e/", "d/z"]);
    assert.deepEqual(await paths("--delimiter", "-"), ["a", "d/e/x", "d/e/y", "d/z", "f-"]);
    const { out } = await run("diff", ...sides, "--depth", "1");
    assert.match(out, /^changed\ta\nadded\td\/\t3\t0\t0\t4\t0\nadded\tf-1\n/m);
    assert.equal((await run("diff", ...sides, "--depth", "1", "--name-only")).out, "a\nd/\nf-1\nf-2\n");
    assert.equal((await run("diff", ...sides, "--delimiter", "")).code, 2);
    assert.equal((await run("diff", ...sides, "--depth", "0")).code, 2);
  });

  it("say by the exit code whether there is a difference, when asked", async (t) => {
    const { run, change } = await withCommit(t);
    await change("main", { a: "2" });
    const sides = ["lakefs://repo/main~1", "lakefs://repo/main"];
    assert.equal((await run("diff", ...sides)).code, 0);
    assert.equal((await run("diff", ...sides, "--exit-code")).code, 1);
    assert.equal((await run("diff", sides[0]!, sides[0]!, "--exit-code")).code, 0);
  });
});

describe("merge", () => {
  it("takes both forms, and exits with 6 when there is nothing to merge", async (t) => {
    const { run, json, change } = await withCommit(t);
    await run("branch", "lakefs://repo/dev", "--from", "main");
    await change("dev", { c: "1", b: undefined });
    const merged = await json([
      "merge",
      "lakefs://repo/dev",
      "lakefs://repo/main",
      "-m",
      "M",
      "--meta",
      "k=v",
    ]) as Json;
    assert.deepEqual(merged.summary, { added: 1, removed: 1, changed: 0, conflict: 0 });
    const [head] = await json(["log", "lakefs://repo/main"]) as Json[];
    assert.deepEqual([head!.id, head!.message], [merged.reference, "M"]);
    assert.equal((await run("merge", "lakefs://repo/main", "--from", "dev")).code, 6);
    assert.equal((await run("merge", "lakefs://repo/main")).code, 2);
    assert.equal((await run("merge", "lakefs://repo/dev", "lakefs://other/main")).code, 2);
  });

  it("lists conflicts, changes nothing, and settles them by a strategy", async (t) => {
    const { run, change, store } = await withCommit(t);
    await run("branch", "lakefs://repo/dev", "--from", "main");
    await change("dev", { a: "dev", b: "dev" });
    await change("main", { a: "main", b: undefined });
    const failed = await run("merge", "lakefs://repo/main", "--from", "lakefs://repo/dev", "--json");
    assert.equal(failed.code, 4);
    const { code, details } = JSON.parse(failed.err);
    assert.equal(code, "merge_conflict");
    assert.deepEqual(details.conflicts.map(({ path }: Json) => path), ["a", "b"]);
    assert.equal(details.conflicts[1].destination, null);
    assert.match(
      (await run("merge", "lakefs://repo/dev", "lakefs://repo/main")).err,
      /conflict: a\n {2}conflict: b\n/,
    );
    assert.equal(await readText(store, "main", "a"), "main");
    const unknown = await run("merge", "lakefs://repo/dev", "lakefs://repo/main", "--strategy", "source-win");
    assert.match(unknown.err, /Did you mean "source-wins"/);
    await run("merge", "lakefs://repo/dev", "lakefs://repo/main", "--strategy", "source-wins");
    assert.equal(await readText(store, "main", "a"), "dev");
  });
});

describe("revert and cherry-pick", () => {
  it("H28 want a parent number for merge commits", async (t) => {
    const { run, change, store } = await withCommit(t);
    await run("branch", "lakefs://repo/dev", "--from", "main");
    await change("dev", { c: "1" });
    await change("main", { d: "1" });
    await run("merge", "lakefs://repo/dev", "lakefs://repo/main");
    const refused = await run("revert", "lakefs://repo/main", "main");
    assert.deepEqual([refused.code, /--parent 1/.test(refused.err)], [2, true]);
    assert.equal(await readText(store, "main", "c"), "1");
    assert.equal(
      (await run("branch", "revert", "lakefs://repo/main", "main", "--parent-number", "1")).code,
      0,
    );
    assert.equal(await readText(store, "main", "c"), undefined);
    assert.equal((await run("cherry-pick", "lakefs://repo/main", "lakefs://repo/dev")).code, 0);
    assert.equal(await readText(store, "main", "c"), "1");
  });

  it("settle conflicts as a merge does: source is what the commit, or its undoing, makes of a path", async (t) => {
    const { run, change, store } = await withCommit(t);
    await change("main", { c: "1", d: "1" });
    await change("main", { c: "2", d: "2" });
    await change("main", { c: "3", d: "3" });
    const revert = ["revert", "lakefs://repo/main", "main~1"];
    const refused = await run(...revert);
    assert.deepEqual([refused.code, /--resolve/.test(refused.err)], [4, true], refused.err);
    assert.equal(
      (await run(...revert, "--resolve", "c=source", "--resolve", "q=dest", "--resolve", "d=dest")).code,
      2,
    );
    const settled = await run(...revert, "--resolve", "c=source", "--resolve", "d*=dest");
    assert.equal(settled.code, 0, settled.err);
    assert.deepEqual([await readText(store, "main", "c"), await readText(store, "main", "d")], ["1", "3"]);
    const picked = await run("cherry-pick", "lakefs://repo/main", "main~2", "--resolve", "*=source");
    assert.equal(picked.code, 0, picked.err);
    assert.deepEqual([await readText(store, "main", "c"), await readText(store, "main", "d")], ["2", "2"]);
  });
});

describe("reset", () => {
  it("drops staged changes of a branch, a folder or an object, but never without a yes", async (t) => {
    const { run, json, store } = await withCommit(t);
    await write(store, "main", { a: "2", "d/x": "1", "d/y": "1", "d2": "1" });
    const paths = async () =>
      (await json(["status", "lakefs://repo/main"]) as Json[]).map(({ path }) => path);
    const refused = await run("reset", "lakefs://repo/main");
    assert.deepEqual([refused.code, /--yes/.test(refused.err)], [2, true]);
    await run("reset", "lakefs://repo/main/a", "--yes");
    assert.deepEqual(await paths(), ["d/x", "d/y", "d2"]);
    await run("reset", "lakefs://repo/main/d/", "--yes");
    assert.deepEqual(await paths(), ["d2"]);
    await run("reset", "lakefs://repo/main", "-y");
    assert.deepEqual(await paths(), []);
  });

  it("H36 moves a branch to a commit, and the old head stays findable", async (t) => {
    const { run, json, store, change, first } = await withCommit(t);
    const second = await change("main", { a: "2" });
    await write(store, "main", { c: "1" });
    assert.equal((await run("reset", "lakefs://repo/main", "--to", "main~1")).code, 2);
    assert.equal((await run("reset", "lakefs://repo/main/a", "--to", "main~1", "--yes")).code, 2);
    const moved = await json(["reset", "lakefs://repo/main", "--to", "main~1", "--yes"]) as Json;
    assert.equal(moved.id, first);
    assert.deepEqual(await json(["status", "lakefs://repo/main"]), []);
    const moves = await json(["reflog", "lakefs://repo/main", "-n", "1"]) as Json[];
    assert.deepEqual([moves[0]!.old_commit_id, moves[0]!.new_commit_id], [second, first]);
    assert.equal((await run("show", `lakefs://repo/${second}`)).code, 0);
  });
});

describe("log", () => {
  it("follows first parents or all, counts, and filters by time and path", async (t) => {
    const { run, json, change } = await withCommit(t);
    await run("branch", "lakefs://repo/dev", "--from", "main");
    await change("dev", { "d/x": "1" }, "on dev");
    await change("main", { a: "2" }, "on main");
    await run("merge", "lakefs://repo/dev", "lakefs://repo/main", "-m", "merged");
    const messages = async (uri: string, ...more: string[]) =>
      (await json(["log", uri, ...more]) as Json[]).map(({ message }) => message);
    assert.deepEqual(await messages("lakefs://repo/main"), [
      "merged",
      "on main",
      "first",
      "Repository created",
    ]);
    assert.equal((await messages("lakefs://repo/main", "--all-parents")).length, 5);
    assert.deepEqual(await messages("lakefs://repo/main", "--amount", "1"), ["merged"]);
    assert.deepEqual(await messages("lakefs://repo/main/a"), ["on main", "first"]);
    assert.deepEqual(await messages("lakefs://repo/main/d"), ["merged"]);
    const none = await run("log", "lakefs://repo/main/nowhere");
    assert.deepEqual([none.code, none.out, none.err], [0, "", 'No commit here changed "nowhere"\n']);
    assert.equal((await run("log", "lakefs://repo/main", "--since", "soon")).code, 2);
  });

  it("shows messages indented and exact", async (t) => {
    const { run, change } = await withCommit(t);
    await change("main", { a: "2" }, "title\n\nbody\x1b[31m");
    const { out } = await run("log", "lakefs://repo/main", "-n", "1");
    assert.match(out, /\n\n {4}title\n\n {4}body\x1b\[31m\n/);
    const onTerminal = testCli(t, { terminal: true, around: () => testStoreWith("body\x1b[31m") });
    assert.match((await onTerminal.run("log", "lakefs://repo/main")).out, / {4}body\\x1b\[31m\n/);
  });
});

/** A store whose only ref has one commit. */
function testStoreWith(message: string) {
  const commit = {
    id: "0".repeat(64),
    parents: [],
    committer: "c",
    message,
    creationDate: 0,
    metaRangeId: "",
    metadata: {},
    generation: 1,
    version: 1,
  };
  return {
    async *log() {
      yield [commit];
    },
  } as unknown as ReturnType<typeof testCli>["engine"]["store"];
}

describe("branch and tag", () => {
  it("make, list, show and delete", async (t) => {
    const { run, json, first } = await withCommit(t);
    assert.equal(
      (await run("branch", "create", "lakefs://repo/x%2Fy", "--source", "lakefs://repo/main")).code,
      0,
    );
    assert.equal((await run("tag", "create", "lakefs://repo/v1", "lakefs://repo/main")).code, 0);
    assert.equal((await run("tag", "lakefs://repo/v2", "--from", "main")).code, 0);
    assert.deepEqual(await json(["branch", "list", "lakefs://repo"]), [
      { id: "main", commit_id: first },
      { id: "x/y", commit_id: first },
    ]);
    assert.deepEqual(await json(["tag", "show", "lakefs://repo/v1"]), { id: "v1", commit_id: first });
    assert.equal(
      (await run("branch", "show", "lakefs://repo?at=branch:x/y")).out,
      `lakefs://repo/x%2Fy\t${first}\n`,
    );
    assert.equal((await run("tag", "delete", "lakefs://repo/v1")).code, 0);
    assert.equal((await run("tag", "show", "lakefs://repo/v1")).code, 3);
    assert.equal((await run("branch", "delete", "lakefs://repo/x%2Fy")).code, 0);
    assert.equal((await run("branch", "delete", "lakefs://repo/x%2Fy")).code, 3);
  });

  it("want to know where a new one starts, once", async (t) => {
    const { run } = await withCommit(t);
    assert.match((await run("branch", "lakefs://repo/dev")).err, /--from REF/);
    assert.equal((await run("tag", "create", "lakefs://repo/v1", "main", "--from", "main")).code, 2);
    assert.equal((await run("branch", "lakefs://repo/main", "--from", "main")).code, 4);
  });

  it("do not lose staged changes with a branch without a yes", async (t) => {
    const { run, store } = await withCommit(t);
    await run("branch", "lakefs://repo/dev", "--from", "main");
    await write(store, "dev", { z: "1" });
    assert.equal((await run("branch", "delete", "lakefs://repo/dev")).code, 2);
    assert.equal((await run("branch", "delete", "lakefs://repo/dev", "--yes")).code, 0);
  });
});

describe("repo", () => {
  it("create, list, show and delete take both ways of naming the namespace", async (t) => {
    const { run, json } = testCli(t);
    await run("repo", "create", "lakefs://one", "mem://one", "-d", "trunk");
    const two = await json(["repo", "create", "lakefs://two", "--storage-namespace", "mem://two"]) as Json;
    assert.deepEqual(Object.keys(two), ["id", "creation_date", "default_branch", "storage_namespace"]);
    const list = await json(["repo", "list"]) as Json[];
    assert.deepEqual(list.map(({ id, default_branch }) => [id, default_branch]), [["one", "trunk"], [
      "two",
      "main",
    ]]);
    assert.match((await run("repo", "show", "lakefs://one")).out, /^Repository: +one\n/);
    assert.equal((await run("repo", "create", "lakefs://one")).code, 4);
    assert.equal((await run("repo", "delete", "lakefs://one")).code, 2);
    const deleted = await run("repo", "delete", "lakefs://one", "--yes");
    assert.deepEqual(
      [deleted.code, deleted.out, deleted.err],
      [0, "Deleted repository one\nIts files stay in mem://one, and take as much room as before\n", ""],
    );
    assert.equal((await run("repo", "show", "lakefs://one")).code, 3);
    assert.match((await run("repo", "create", "three")).err, /write lakefs:\/\/REPO\n/);
  });
});

describe("log and show", () => {
  it("count what each commit changed, by folder", async (t) => {
    const { run, json, change } = await withCommit(t);
    await change("main", { a: undefined, "d/e/x": "12" }, "second");
    const [second, first, start] = await json(["log", "lakefs://repo/main", "--stat"]) as {
      stat: { added: number; removed: number; bytes_added: number; folders: { path: string }[] };
    }[];
    assert.deepEqual([second!.stat.added, second!.stat.removed, second!.stat.bytes_added], [1, 1, 2]);
    assert.deepEqual(second!.stat.folders.map(({ path }) => path), ["", "d/"]);
    assert.deepEqual([first!.stat.added, start!.stat.added], [2, 0]);
    const { out } = await run("show", "lakefs://repo/main", "--stat", "--depth", "2");
    assert.match(
      out,
      /\n {4}0\t1\t0\t0\t1\t\.\n {4}1\t0\t0\t2\t0\td\/e\/\n {4}1 added, 1 removed \(\+2 B, -1 B\)\n$/,
    );
    assert.equal((await json(["show", "lakefs://repo/main"]) as Json)["stat"], undefined);
  });

  it("draw the graph through all parents, with the names that point at commits", async (t) => {
    const { run, json, change, first } = await withCommit(t);
    await run("branch", "lakefs://repo/dev", "--from", "main");
    const dev = await change("dev", { d: "1" }, "on dev\nmore");
    const main = await change("main", { m: "1" }, "on \x1b[31mmain");
    await run("merge", "lakefs://repo/dev", "lakefs://repo/main", "-m", "merge dev");
    await run("tag", "lakefs://repo/v1", "--from", "dev");
    const { out } = await run("log", "lakefs://repo/main", "--graph");
    const lines = out.trimEnd().split("\n");
    const expected = [
      /^\* {3}[0-9a-f]{64} \(main\) merge dev <tester> 2026-/,
      /^\|\\$/,
      /^[|*] [|*] [0-9a-f]{64} /,
      /^[|*] [|*] [0-9a-f]{64} /,
      /^\|\/$/,
      new RegExp(`^\\* ${first} first `),
      /^\* [0-9a-f]{64} /,
    ];
    assert.equal(lines.length, expected.length, out);
    for (const [i, line] of expected.entries()) assert.match(lines[i]!, line);
    assert.ok(out.includes(`${dev} (dev, tag v1) on dev <`) && out.includes(`${main} on \x1b[31mmain`), out);
    const commits = await json(["log", "lakefs://repo/main", "--graph"]) as { parents: string[] }[];
    assert.equal(commits.length, 5);
    assert.equal(commits[0]!.parents.length, 2);
    assert.equal((await run("log", "lakefs://repo/main/d", "--graph")).code, 2);
  });

  it("keep the graph on one line a commit, and harmless, on a terminal", async (t) => {
    const cli = testCli(t, { terminal: true, columns: 40 });
    await cli.engine.store.createRepository("repo", { committer: "tester" });
    await write(cli.engine.store, "main", { a: "1" });
    const message = "a long \x1b[31mmessage with 漢字 that does not fit";
    await cli.run("commit", "lakefs://repo/main", "-m", message);
    const { out } = await cli.run("log", "lakefs://repo/main", "--graph", "--amount", "1");
    assert.match(out, /^\* [0-9a-f]{12} \(main\) a long \\x1b\[31mm[^\n]*…\n$/);
    assert.ok(displayWidth(out.trimEnd()) <= 40, out);
  });
});
