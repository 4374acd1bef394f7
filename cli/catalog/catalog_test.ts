/** The verbs of the catalog, over a configuration beside the test's files. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Ending } from "../../tests/support/temporary.ts";
import { write } from "../../tests/support/test_engine.ts";
import { readLock } from "../lock_files.ts";
import { testCli, writeBadlyNamed } from "../testing.ts";

const CONFIG = `
stores:
  files: {driver: file, root: srv}
  bucket: {driver: s3}
  lakefs-own: {driver: graveler}
  lakefs-away: {driver: graveler, home: ./away}
schemes:
  data: {parts: [project], rest: path, target: "lakefs://{project}/{ref}/{path}", ref: main}
  doc: {parts: [name], rest: path, target: "files://docs/{name}/{path}"}
  far: {parts: [name], rest: path, target: "bucket://b/{name}/{path}"}
`;

async function prepared(t: Ending, config = CONFIG) {
  const cli = testCli(t);
  const { folder } = cli;
  writeFileSync(join(folder, "tarn.yaml"), config);
  mkdirSync(join(folder, "srv/docs/guide/sub"), { recursive: true });
  writeFileSync(join(folder, "srv/docs/guide/one"), "one\n");
  writeFileSync(join(folder, "srv/docs/guide/sub/two"), "two!\n");
  await cli.engine.store.createRepository("repo", { committer: "x" });
  await write(cli.engine.store, "main", { "t/a": "1", "t/sub/b": "22" });
  await cli.engine.store.commit("repo", "main", { message: "first", committer: "x" });
  const ok = async (...argv: string[]) => {
    const ran = await cli.run(...argv);
    assert.equal(ran.code, 0, `${argv.join(" ")}: ${ran.err}`);
    return ran.out;
  };
  const head = async (branch = "main") => (await cli.engine.store.getBranch("repo", branch)).commitId;
  return { ...cli, ok, head };
}

describe("the verbs of objects over the catalog", () => {
  it("stat shows what is known of a file or folder", async (t) => {
    const { json, ok } = await prepared(t);
    const file = await json(["stat", "doc://guide/one"]) as Record<string, unknown>;
    assert.deepEqual([file["uri"], file["path"], file["path_type"], file["size_bytes"]], [
      "doc://guide/one",
      "one",
      "object",
      4,
    ]);
    assert.match(await ok("stat", "data://repo/t"), /^URI: data:\/\/repo\/t\nKind: folder/);
    assert.match(await ok("stat", "files://docs/guide/one"), /^Size: 4 bytes$/m);
  });

  it("ls lists a folder, with -r all files below it, and a file itself", async (t) => {
    const { ok, json } = await prepared(t);
    const paths = (text: string) => text.trimEnd().split("\n").map((line) => line.split("\t").at(-1));
    assert.deepEqual(paths(await ok("ls", "doc://guide")), ["one", "sub/"]);
    assert.deepEqual(paths(await ok("ls", "doc://guide/", "-r")), ["one", "sub/two"]);
    assert.deepEqual(paths(await ok("ls", "data://repo/t/", "-r")), ["a", "sub/b"]);
    assert.deepEqual(paths(await ok("ls", "doc://guide/one")), ["one"]);
    assert.deepEqual(paths(await ok("ls", "doc://guide", "--amount", "1")), ["one"]);
    assert.deepEqual(await json(["ls", "data://repo/t/sub"]).then((list) => (list as object[]).length), 1);
    assert.match(
      await ok("ls", "data://repo/t", "-r", "--format", "csv"),
      /^path,path_type,.*\r\na,object,1,/,
    );
  });

  it("cat writes a file's bytes, or some of them", async (t) => {
    const { ok, run, engine } = await prepared(t);
    assert.equal(await ok("cat", "doc://guide/one"), "one\n");
    assert.equal(await ok("cat", "data://repo/t/sub/b", "--range", "1-9"), "2");
    assert.equal(await ok("cat", "doc://guide/sub/two", "--range", "1-2"), "wo");
    assert.equal(await ok("cat", "doc://guide/sub/two", "--range", "3-"), "!\n");
    assert.equal((await run("cat", "data://repo/t/a", "--range", "5-")).code, 2);
    assert.equal((await run("cat", "data://repo/t")).code, 2);
    // What is not committed is on the branch, too.
    await write(engine.store, "main", { staged: "yet" });
    assert.equal(await ok("cat", "data://repo/staged"), "yet");
  });

  it("put writes a file, a folder with its hidden files, and says what it left out", async (t) => {
    const { folder, ok, run, json } = await prepared(t);
    const from = join(folder, "in");
    mkdirSync(join(from, "sub"), { recursive: true });
    for (const name of [".hidden", "a", "b.tmp", "sub/c"]) writeFileSync(join(from, name), name);
    writeFileSync(join(from, ".tarnignore"), "*.tmp\n");
    symlinkSync("a", join(from, "link"));
    assert.equal(await ok("put", "data://repo/x", join(from, "a")), "data://repo/x\n");
    assert.equal(await ok("put", "data://repo/in/", join(from, "a")), "data://repo/in/a\n");
    const ran = await run("put", "-r", "data://repo/all", from);
    assert.deepEqual([ran.code, ran.out], [7, "Put 4 files (19 B), 1 ignored, 1 left out\n"]);
    assert.match(ran.err, /^tarn: Did not put "link": it is a symlink\n$/);
    assert.match((await run("put", "data://repo/all", from)).err, /it is a folder\n +Add -r/);
    const list = await json(["ls", "-r", "data://repo/all"]) as { path: string }[];
    assert.deepEqual(list.map(({ path }) => path), [".hidden", ".tarnignore", "a", "sub/c"]);
    await ok("put", "-r", "doc://new", from, "--exclude", "link");
    assert.equal(readFileSync(join(folder, "srv/docs/new/sub/c"), "utf8"), "sub/c");
  });

  it("put of a folder with a name that is no UTF-8 writes nothing", async (t) => {
    const { folder, run } = await prepared(t);
    const from = join(folder, "in");
    mkdirSync(from);
    writeFileSync(join(from, "a"), "1");
    writeBadlyNamed(from, "z\\377");
    const ran = await run("put", "-r", "data://repo/all", from);
    assert.deepEqual([ran.code, ran.err], [2, 'tarn: Cannot put "z\\xff": its name is not UTF-8\n']);
    assert.equal((await run("ls", "data://repo/all")).code, 3);
  });

  it("rm removes one object, with -r all below a URI, and nothing of what is fixed", async (t) => {
    const { ok, run, head } = await prepared(t);
    assert.equal(await ok("rm", "data://repo/t/a"), "Removed data://repo/t/a\n");
    assert.equal((await run("rm", "data://repo/t/a")).code, 3);
    assert.equal(await ok("rm", "-r", "doc://guide"), "Removed 2 objects\n");
    assert.equal((await run("rm", "-r", `data://repo/t?at=commit:${await head()}`)).code, 2);
    assert.equal((await run("rm", "-r", "data://repo/none")).code, 3);
  });

  it("options of the embedded engine alone are refused, and never passed over", async (t) => {
    const { run } = await prepared(t);
    const lines = [
      "stat data://repo --key k",
      "ls data://repo --after a",
      "put data://repo/x - --meta a=b",
      "rm data://repo/t -r --dry-run",
      "commit data://repo -m x --allow-empty",
      "merge data://repo --from dev --squash",
    ];
    for (const line of lines) {
      const ran = await run(...line.split(" "));
      assert.equal(ran.code, 2, line);
      assert.match(ran.err, /"--[a-z-]+": that is for the embedded engine's lakefs:\/\/ alone/, line);
    }
  });
});

describe("the verbs of history over the catalog", () => {
  it("commit, branch and merge go where the logical URI leads, and remember it", async (t) => {
    const { ok, json, head, folder } = await prepared(t);
    writeFileSync(join(folder, "f"), "new");
    const branch = "data://repo?at=branch:dev";
    assert.equal(await ok("branch", branch, "--from", "main"), "lakefs://repo/dev/\n");
    await ok("put", "data://repo/t/a?at=branch:dev", join(folder, "f"));
    const committed = await json(["commit", branch, "-m", "dev", "--meta", "run=1"]);
    assert.deepEqual(committed, { uri: branch, pinned: `lakefs://repo/${await head("dev")}/` });
    const [commit] = await json(["log", "data://repo?at=branch:dev", "--amount", "1"]) as [
      { metadata: object; committer: string },
    ];
    assert.deepEqual([commit.metadata, commit.committer], [{ run: "1", "provcat.uri": branch }, "tester"]);
    await ok("merge", "data://repo/t", "--from", "dev", "-m", "all");
    assert.equal(await ok("cat", "data://repo/t/a"), "new");
    assert.deepEqual((await json(["show", "data://repo"]) as { metadata: object }).metadata, {
      ".lakefs.merge.strategy": "default",
      "provcat.uri": "data://repo/t",
    });
  });

  it("merge takes SRC and DST, and refuses those of two repositories", async (t) => {
    const { ok, run, engine } = await prepared(t);
    await ok("branch", "create", "data://repo?at=branch:dev", "data://repo");
    await write(engine.store, "dev", { x: "1" });
    await engine.store.commit("repo", "dev", { message: "x", committer: "x" });
    await ok("merge", "data://repo?at=branch:dev", "data://repo");
    assert.equal(await ok("cat", "data://repo/x"), "1");
    await engine.store.createRepository("other", { committer: "x" });
    assert.equal((await run("merge", "data://other", "data://repo")).code, 2);
  });

  it("a commit takes a part with --partial, and no empty message", async (t) => {
    const { ok, run, json, engine } = await prepared(t);
    await write(engine.store, "main", { "t/a": "2", u: "3" });
    assert.equal((await run("commit", "data://repo/t")).code, 2);
    await ok("commit", "data://repo/t", "-m", "t", "--partial");
    assert.deepEqual((await json(["status", "data://repo"]) as { path: string }[]).map(({ path }) => path), [
      "u",
    ]);
    assert.equal((await run("commit", "lakefs://repo/main", "-m", "t", "--partial")).code, 2);
  });

  it("verbs of the embedded engine alone take logical URIs that lead there, and refuse the others", async (t) => {
    const { ok, run, head } = await prepared(t);
    assert.equal(
      await ok("diff", "data://repo", "data://repo?at=branch:main"),
      "--- lakefs://repo/main/ (older)\n+++ lakefs://repo/main/ (newer)\n",
    );
    assert.match(await ok("find", "data://repo/t/"), /sub\/b/);
    assert.match(await ok("blame", "data://repo/t/a"), new RegExp((await head()).slice(0, 8)));
    assert.equal(await ok("find", "lakefs-own://repo/main/t/"), await ok("find", "lakefs://repo/main/t/"));
    assert.equal((await run("log", "lakefs-away://repo/main")).code, 9);
    const ran = await run("log", "doc://guide");
    assert.deepEqual([ran.code, ran.err], [
      9,
      'tarn: Cannot run "log" on "doc://guide", which is "files://docs/guide/": it works on the embedded engine alone\n',
    ]);
  });
});

describe("pins", () => {
  it("pin --write keeps what others write to the same file meanwhile", async (t) => {
    const { folder, ok } = await prepared(t);
    const file = join(folder, "tarn.lock");
    const uris = [
      "data://repo/t",
      "data://repo/t/a",
      "data://repo/t/sub/b",
      "doc://guide",
      "doc://guide/one",
    ];
    await Promise.all(uris.map((uri) => ok("pin", "--write", file, uri)));
    assert.deepEqual((await readLock(file)).map(({ uri }) => uri).sort(), uris);
  });

  it("pin prints each URI with a fixed version", async (t) => {
    const { ok, json, head } = await prepared(t);
    const commit = await head();
    assert.equal(
      await ok("pin", "data://repo/t", "lakefs://repo/main/t/a", "doc://guide"),
      `lakefs://repo/${commit}/t\nlakefs://repo/${commit}/t/a\nfiles://docs/guide/\n`,
    );
    assert.deepEqual(await json(["pin", "data://repo/t"]), [
      { uri: "data://repo/t", pinned: `lakefs://repo/${commit}/t` },
    ]);
  });

  it("--write keeps what it is not asked about, and without URIs locks all anew", async (t) => {
    const { ok, run, folder, engine } = await prepared(t);
    const file = join(folder, "tarn.lock");
    const text = () => readFileSync(file, "utf8");
    assert.equal((await run("pin", "--write", file)).code, 3);
    assert.equal(await ok("pin", "--write", file, "data://repo/t"), `Locked 1 URI with 2 files in ${file}\n`);
    const first = text();
    await ok("pin", "--write", file);
    assert.equal(text(), first);
    await write(engine.store, "main", { "t/c": "3" });
    await engine.store.commit("repo", "main", { message: "second", committer: "x" });
    chmodSync(file, 0o640);
    await ok("pin", "--write", file, "doc://guide");
    assert.ok(text().startsWith(first), "what was locked before stays");
    const ran = await run("pin", "--check", "--lock", file);
    assert.equal(ran.code, 1);
    assert.match(ran.out, /^data:\/\/repo\/t has moved: from lakefs:\/\/\S+ to lakefs:\/\/\S+\n$/);
    await ok("pin", "--write", file);
    assert.match(text(), /\nfile \S+ 1 c\n/);
    assert.equal(await ok("pin", "--check", "--lock", file), "Nothing has moved: 2 URIs checked\n");
    assert.equal((await run("pin", "--check", "--lock", file, "data://repo/u")).code, 2);
  });

  it("says how it is used", async (t) => {
    const { run } = await prepared(t);
    for (
      const line of [
        "pin",
        "pin --check --write x",
        "pin data://repo --lock x",
        "fetch",
        "fetch data://x --locked y",
      ]
    ) {
      assert.equal((await run(...line.split(" "))).code, 2, line);
    }
  });

  it("fetch prints where it is; into a folder it places a copy", async (t) => {
    const { ok, folder, json } = await prepared(t);
    const path = (await ok("fetch", "data://repo/t")).trimEnd();
    assert.equal(readFileSync(join(path, "sub/b"), "utf8"), "22");
    const out = join(folder, "out");
    assert.equal(await ok("fetch", "data://repo/t", out), `${out}\n`);
    assert.equal(readFileSync(join(out, "sub/b"), "utf8"), "22");
    assert.equal(await ok("fetch", "doc://guide/one", out), `${out}/one\n`);
    assert.deepEqual(await json(["fetch", "doc://guide/one"]), {
      uri: "doc://guide/one",
      path: join(folder, "srv/docs/guide/one"),
    });
  });

  it("fetch --locked gives what was locked, and exit code 10 where it is not", async (t) => {
    const { ok, run, folder, engine } = await prepared(t);
    const file = join(folder, "tarn.lock");
    await ok("pin", "--write", file, "data://repo/t", "doc://guide/one");
    await write(engine.store, "main", { "t/a": "other" });
    const [line] = (await ok("fetch", "--locked", file)).split("\n");
    const [uri, path] = line!.split("\t");
    assert.equal(uri, "data://repo/t");
    assert.equal(readFileSync(join(path!, "a"), "utf8"), "1");
    await ok("fetch", "--locked", file, "--offline");
    writeFileSync(join(folder, "srv/docs/guide/one"), "two\n");
    const ran = await run("fetch", "--locked", file);
    assert.deepEqual([ran.code, ran.out], [10, ""]);
    assert.match(ran.err, /"doc:\/\/guide\/one": it is not what was locked: it has other bytes/);
  });

  it("snapshot places a copy, once", async (t) => {
    const { ok, run, folder } = await prepared(t);
    const copy = join(folder, "copy");
    assert.equal(await ok("snapshot", "data://repo/t", copy), `${copy}\n`);
    assert.equal(readFileSync(join(copy, "a"), "utf8"), "1");
    assert.equal((await run("snapshot", "data://repo/t", copy)).code, 2);
  });
});

describe("where the catalog stands between commands and the embedded engine", () => {
  it("a driver that is not there, and a network that may not be used, are told as such", async (t) => {
    const { run } = await prepared(t);
    assert.equal((await run("stat", "far://x")).code, 9);
    const ran = await run("put", "far://x/y", "-", "--offline");
    assert.deepEqual([ran.code, ran.err.split("\n")[0]], [
      8,
      'tarn: Cannot change "bucket://b/x/y" in offline mode: its store is reached over the network',
    ]);
  });

  const hooks = (text: string) => `hooks: [${text}]\n${CONFIG}`;

  it("hooks of the configuration see commands on lakefs://, too", async (t) => {
    const { run, folder } = await prepared(t, hooks("provcat.log"));
    const ran = await run("stat", "lakefs://repo/main/t/a", "--config", join(folder, "tarn.yaml"));
    assert.equal(ran.code, 0);
    const records = ran.err.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(records.map(({ spot, outcome }) => `${spot} ${outcome}`), [
      "session ok",
      "resolve ok",
      "stat ok",
      "session ok",
    ]);
    assert.equal(records[2].principal, "tester");
  });

  it("provcat.logical_only keeps every verb from lakefs://", async (t) => {
    const { run, ok, folder } = await prepared(t, hooks("provcat.logical_only"));
    const config = ["--config", join(folder, "tarn.yaml")];
    const lines = [
      "stat lakefs://repo/main/t/a",
      "ls lakefs://repo/main/",
      "ls lakefs://",
      "cat lakefs://repo/main/t/a",
      "get lakefs://repo/main/t/a -",
      "log lakefs://repo/main",
      "diff lakefs://repo/main",
      "rm lakefs://repo/main/t/a",
      "reset lakefs://repo/main --yes",
      "branch list lakefs://repo",
      "tag lakefs://repo/v1 --from main",
      "fetch lakefs://repo/main/t",
      "pin lakefs://repo/main/t",
      "snapshot lakefs://repo/main/t copy",
      "merge lakefs://repo/dev lakefs://repo/main",
      "repo show lakefs://repo",
      "repo delete lakefs://repo --yes",
      "repo create lakefs://new s3://bucket/new",
    ];
    for (const line of lines) {
      const ran = await run(...line.split(" "), ...config);
      assert.equal(ran.code, 5, `${line}: ${ran.err}`);
      assert.match(ran.err, /allows logical names alone/, line);
    }
    assert.equal(await ok("cat", "data://repo/t/a", ...config), "1");
    await ok("log", "data://repo", ...config);
  });

  it("hooks of a configuration that was only met are not run", async (t) => {
    const { run } = await prepared(t, hooks("provcat.log"));
    const ran = await run("stat", "lakefs://repo/main/t/a");
    assert.equal(ran.code, 5);
    assert.match(ran.err, /^tarn: Cannot use "tarn.yaml"[^\n]*hooks[^\n]*\n/);
  });

  it("a module of the user's own is a hook of every command", async (t) => {
    const { run, folder } = await prepared(t, hooks("module:guard.mjs"));
    writeFileSync(
      join(folder, "guard.mjs"),
      'export default (request, next) => { if (request.spot === "put") throw new Error("closed"); return next(); };',
    );
    const ran = await run(
      "put",
      "data://repo/x",
      join(folder, "guard.mjs"),
      "--config",
      join(folder, "tarn.yaml"),
    );
    assert.deepEqual([ran.code, ran.err], [5, 'tarn: Cannot put "data://repo/x": closed\n']);
  });

  it("config check says which hooks there cannot be", async (t) => {
    const { run, folder } = await prepared(t, hooks('provcat.logg, "exec:./x", my/hook, audit'));
    const ran = await run("config", "check", "--config", join(folder, "tarn.yaml"));
    assert.equal(ran.code, 1);
    assert.match(
      ran.out,
      /:1:9: "hooks\.0": there is no such hook[^\n]*\n  ?Did you mean "provcat\.log"\?\n/,
    );
    assert.match(ran.out, /"hooks\.2": a hook is exec:PROGRAM, module:FILE or a name\n$/);
  });

  it("without a configuration lakefs:// loads none of it", async (t) => {
    const { Catalogs } = await import("../catalogs.ts");
    const { parseArguments } = await import("../arguments.ts");
    const { folder } = testCli(t);
    const places = { workingFolder: folder, userConfigFolder: join(folder, "config"), userName: String };
    const ofRun = () =>
      new Catalogs({
        environment: { configPlaces: () => places, variable: () => undefined } as never,
        arguments: parseArguments([], {}),
        session: undefined as never,
        messages: undefined as never,
      });
    const catalogs = ofRun();
    assert.equal(await catalogs.serving("lakefs://repo/main/x"), undefined);
    assert.equal(await catalogs.embedded("lakefs://repo/main/x", "log"), "lakefs://repo/main/x");
    assert.equal(await catalogs.serving("a/path"), undefined);
    // With a configuration there is more to open than this environment has.
    writeFileSync(join(folder, "tarn.yaml"), "stores: {}\n");
    await assert.rejects(ofRun().serving("lakefs://repo/main/x"));
  });
});
