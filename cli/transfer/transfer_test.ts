import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import type { BranchWriter, Store } from "../../drivers/store.ts";
import type { Ending } from "../../tests/support/temporary.ts";
import { commit, contents, write } from "../../tests/support/test_engine.ts";
import { testCli, type TestCliOptions } from "../testing.ts";

async function withRepo(t: Ending, options: TestCliOptions = {}) {
  const cli = testCli(t, options);
  const { store } = cli.engine;
  for (const name of ["repo", "other"]) await store.createRepository(name, { committer: "tester" });
  const file = (name: string, text: string) => {
    const path = join(cli.folder, name);
    fs.mkdirSync(join(path, ".."), { recursive: true });
    fs.writeFileSync(path, text);
    return path;
  };
  const other = async () => {
    const found = await cli.json(["ls", "-r", "lakefs://other/main"]) as { path: string }[];
    return found.map(({ path }) => path);
  };
  return { ...cli, store, file, other };
}

/** A store with other writers. */
function aroundWriters(store: Store, around: (writer: BranchWriter) => BranchWriter): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "writer") return value.bind(target);
      return async (...args: [string, string]) => around(await target.writer(...args));
    },
  });
}

/** A store whose writers do something before they flush. */
function beforeFlush(store: Store, act: () => void): Store {
  return aroundWriters(store, (writer) =>
    new Proxy(writer, {
      get(inner, method: keyof BranchWriter) {
        if (method === "close" || method === "flush") act();
        const found = inner[method];
        return typeof found === "function" ? found.bind(inner) : found;
      },
    }));
}

/** A store whose writers do something before they stage a deletion. */
function beforeDelete(store: Store, act: (path: string) => Promise<unknown>): Store {
  return aroundWriters(store, (writer) =>
    new Proxy(writer, {
      get(inner, method: keyof BranchWriter) {
        const found = inner[method];
        if (typeof found !== "function") return found;
        if (method !== "delete") return found.bind(inner);
        return async (...args: Parameters<BranchWriter["delete"]>) => {
          await act(args[0]);
          await inner.delete(...args);
        };
      },
    }));
}

describe("cp", () => {
  it("copies inside a repository without moving bytes, from any version to a branch", async (t) => {
    const { run, json, store } = await withRepo(t);
    await commit(store, "main", { "d/a": "1" });
    await store.createTag("repo", "v1", "main", "tester");
    await commit(store, "main", { "d/a": "2" });
    const address = async (uri: string) =>
      (await json(["stat", uri]) as Record<string, unknown>).physical_address;
    const { out } = await run("cp", "lakefs://repo/v1/d/a", "lakefs://repo/main/é /");
    assert.equal(out, "lakefs://repo/main/%C3%A9%20/a\n");
    assert.equal(await address("lakefs://repo/main/é /a"), await address("lakefs://repo/v1/d/a"));
    for (const target of ["lakefs://repo/main/b", "lakefs://repo/main"]) {
      assert.equal((await run("cp", "lakefs://repo/main~1/d/a", target)).code, 0);
    }
    assert.deepEqual(await contents(store, "main"), { "a": "1", "b": "1", "d/a": "2", "é /a": "1" });
  });

  it("copies between repositories, with content type and metadata", async (t) => {
    const { run, json, store, file } = await withRepo(t);
    await run("put", "lakefs://repo/main/a", file("f", "text"), "--content-type", "text/x", "--meta", "k=v");
    assert.equal((await run("cp", "lakefs://repo/main/a", "lakefs://other/main/b")).code, 0);
    const stat = await json(["stat", "lakefs://other/main/b"]) as Record<string, unknown>;
    assert.deepEqual([stat.content_type, stat.metadata, stat.size_bytes], ["text/x", { k: "v" }, 4]);
    assert.deepEqual(await contents(store, "main"), { "a": "text" });
  });

  it("copies a folder's content with -r, also upward", async (t) => {
    const { run, store, other } = await withRepo(t);
    await write(store, "main", { "p/q/a": "1", "p/q/d/b": "2", "p/qq": "3" });
    assert.match(
      (await run("cp", "-r", "lakefs://repo/main/p/q", "lakefs://repo/main/x")).out,
      /^Copied 2 objects/,
    );
    assert.equal((await run("cp", "-r", "lakefs://repo/main/p/q/", "lakefs://repo/main/p/")).code, 0);
    assert.equal((await run("cp", "-r", "lakefs://repo/main/p", "lakefs://other/main")).code, 0);
    assert.deepEqual(Object.keys(await contents(store, "main")), [
      "p/a",
      "p/d/b",
      "p/q/a",
      "p/q/d/b",
      "p/qq",
      "x/a",
      "x/d/b",
    ]);
    assert.deepEqual(await other(), ["a", "d/b", "q/a", "q/d/b", "qq"]);
  });

  it("brings local files and folders in, and objects out", async (t) => {
    const { run, file, folder, other } = await withRepo(t);
    file("tree/a", "1");
    file("tree/d/b", "2");
    file("tree/.tarnignore", "b\n");
    assert.equal((await run("cp", join(folder, "tree/d/b"), "lakefs://other/main/one/")).code, 0);
    assert.match(
      (await run("cp", "-r", join(folder, "tree"), "lakefs://other/main/t", "--exclude", "c")).out,
      /Copied 2 files .*1 ignored/,
    );
    assert.deepEqual(await other(), ["one/b", "t/.tarnignore", "t/a"]);
    assert.equal((await run("cp", "lakefs://other/main/one/b", join(folder, "out"))).code, 0);
    assert.equal(fs.readFileSync(join(folder, "out"), "utf8"), "2");
    assert.equal((await run("cp", "-r", "lakefs://other/main/t", join(folder, "outs"))).code, 0);
    assert.deepEqual(fs.readdirSync(join(folder, "outs")).sort(), [".tarnignore", "a"]);
    assert.equal((await run("cp", "lakefs://other/main/one/b", "-")).out, "2");
  });

  it("refuses what makes no sense, and changes nothing", async (t) => {
    const { run, store, file } = await withRepo(t);
    const before = { "p/p/a": "1", "p/b": "2" };
    await write(store, "main", before);
    await store.createTag("repo", "v1", "main", "tester");
    const path = file("f", "x");
    const cases: [string[], number][] = [
      [["lakefs://repo/main/p/b", "lakefs://repo/main/p/b"], 2],
      [["lakefs://repo/main/p/b", "lakefs://repo/main/p/"], 2],
      [["-r", "lakefs://repo/main/p", "lakefs://repo/main/p"], 2],
      [["-r", "lakefs://repo/main/p", "lakefs://repo/main/p/inner"], 2],
      [["-r", "lakefs://repo/main", "lakefs://repo/main/inner"], 2],
      [["-r", "lakefs://repo/main$/p", "lakefs://repo/main/p/inner"], 2],
      [["-r", "lakefs://repo/main/p/p", "lakefs://repo/x?at=branch:main"], 0],
      [["-r", "lakefs://repo/main/p", "lakefs://repo/main"], 2],
      [["lakefs://repo/main/p/b", "lakefs://repo/v1/c"], 2],
      [["lakefs://repo/main/none", "lakefs://repo/main/c"], 3],
      [["-r", "lakefs://repo/main/none", "lakefs://repo/main/c"], 3],
      [["lakefs://repo/main/p/b", "lakefs://none/main/c"], 3],
      [["--dry-run", "lakefs://repo/main/p/b", "lakefs://repo/main/c"], 2],
      [[path, `${path}2`], 2],
      [[path, "s3://bucket/x"], 9],
    ];
    for (const [argv, code] of cases) {
      const ran = await run("cp", ...argv);
      assert.equal(ran.code, code, `${argv.join(" ")}: ${ran.err}`);
      if (code !== 0) assert.match(ran.err, /^tarn: \S.*: \S/);
    }
    assert.deepEqual(await contents(store, "main"), { ...before, "x/a": "1" });
  });
});

describe("mv", () => {
  it("renames objects, and moves folders inside a repository, across branches and repositories", async (t) => {
    const { run, store, other } = await withRepo(t);
    await write(store, "main", { "a": "1", "p/b": "2", "p/d/c": "3", "q": "4" });
    await store.createBranch("repo", "dev", "main", "tester");
    assert.equal((await run("mv", "lakefs://repo/main/a", "lakefs://repo/main/z")).code, 0);
    assert.match(
      (await run("mv", "-r", "lakefs://repo/main/p", "lakefs://repo/main/r/")).out,
      /^Moved 2 objects/,
    );
    assert.deepEqual(await contents(store, "main"), { "q": "4", "r/b": "2", "r/d/c": "3", "z": "1" });
    assert.equal((await run("mv", "-r", "lakefs://repo/main/r", "lakefs://repo/dev")).code, 0);
    assert.deepEqual(await contents(store, "dev"), { "b": "2", "d/c": "3" });
    assert.equal((await run("mv", "-r", "lakefs://repo/main/", "lakefs://other/main/")).code, 0);
    assert.deepEqual(await contents(store, "main"), {});
    assert.deepEqual(await other(), ["q", "z"]);
  });

  it("takes local files away after they are stored, with the folders that become empty", async (t) => {
    const { run, file, folder, other } = await withRepo(t);
    file("tree/a", "1");
    file("tree/d/b", "2");
    fs.mkdirSync(join(folder, "tree/empty"));
    assert.equal((await run("mv", file("one", "x"), "lakefs://other/main/")).code, 0);
    assert.equal((await run("mv", "-r", join(folder, "tree"), "lakefs://other/main/t")).code, 0);
    assert.deepEqual(await other(), ["one", "t/a", "t/d/b"]);
    assert.deepEqual(["one", "tree"].map((name) => fs.existsSync(join(folder, name))), [false, false]);
  });

  it("leaves what it does not move, and the file that says so", async (t) => {
    const { run, file, folder, other } = await withRepo(t);
    file("tree/a", "1");
    file("tree/d/b.tmp", "2");
    file("tree/.tarnignore", "*.tmp");
    fs.symlinkSync("a", join(folder, "tree/link"));
    const { code, out } = await run("mv", "-r", join(folder, "tree"), "lakefs://other/main");
    assert.deepEqual([code, /^Moved 2 files .*1 ignored, 1 left out/.test(out)], [7, true]);
    assert.deepEqual(await other(), [".tarnignore", "a"]);
    const left = fs.readdirSync(join(folder, "tree"), { recursive: true, encoding: "utf8" }).sort();
    assert.deepEqual(left, [".tarnignore", "d", "d/b.tmp", "link"]);
  });

  it("keeps a local file that changed before it was stored durably", async (t) => {
    let act = () => {};
    const { run, file, folder } = await withRepo(t, { around: (store) => beforeFlush(store, () => act()) });
    const path = file("tree/a", "first");
    act = () => fs.writeFileSync(path, "other");
    const one = await run("mv", path, "lakefs://repo/main/x");
    assert.deepEqual([one.code, /changed while/.test(one.err)], [4, true], one.err);
    act = () => fs.writeFileSync(path, "third");
    assert.equal((await run("mv", "-r", join(folder, "tree"), "lakefs://repo/main/")).code, 7);
    assert.equal(fs.readFileSync(path, "utf8"), "third");
  });

  it("keeps its sources when what they go to cannot be made durable", async (t) => {
    let act = () => {};
    const { run, file, folder, store } = await withRepo(t, {
      around: (inner) => beforeFlush(inner, () => act()),
    });
    const path = file("tree/a", "first");
    await write(store, "main", { "p/b": "1" });
    let isFirst = true;
    act = () => {
      // The first one is the check that the source can be written to.
      if (!isFirst) throw new Error("no room");
      isFirst = false;
    };
    for (
      const argv of [["-r", "lakefs://repo/main/p", "lakefs://other/main"], [
        "lakefs://repo/main/p/b",
        "lakefs://repo/main/c",
      ]]
    ) {
      isFirst = true;
      assert.match((await run("mv", ...argv)).err, /no room/);
    }
    isFirst = false;
    for (const argv of [["-r", join(folder, "tree"), "lakefs://repo/main"], [path, "lakefs://repo/main/x"]]) {
      assert.match((await run("mv", ...argv)).err, /no room/);
    }
    assert.deepEqual([fs.readFileSync(path, "utf8"), await contents(store, "main")], ["first", {
      "p/b": "1",
    }]);
  });

  it("moves objects out into files, and keeps what cannot be placed", async (t) => {
    const { run, store, folder } = await withRepo(t);
    await write(store, "main", { "p/a": "1", "p/../b": "2", "one": "3" });
    assert.equal((await run("mv", "lakefs://repo/main/one", join(folder, "one"))).code, 0);
    assert.equal((await run("mv", "-r", "lakefs://repo/main/p", join(folder, "out"))).code, 2);
    const { code } = await run("mv", "-r", "lakefs://repo/main/p", join(folder, "out"), "--skip-unplaceable");
    assert.equal(code, 7);
    assert.deepEqual(["one", "out/a"].map((name) => fs.readFileSync(join(folder, name), "utf8")), ["3", "1"]);
    assert.deepEqual(await contents(store, "main"), { "p/../b": "2" });
  });

  it("moves nothing from a fixed version, from or to a stream, or through a symlink", async (t) => {
    const { run, store, file, folder } = await withRepo(t);
    const id = await commit(store, "main", { "a": "1" });
    await store.createTag("repo", "v1", "main", "tester");
    fs.symlinkSync(file("f", "x"), join(folder, "link"));
    for (const from of ["v1", id, "main~0", "main@"]) {
      for (const to of ["lakefs://repo/main/b", join(folder, "b")]) {
        for (const more of [[], ["-r"]]) {
          const source = `lakefs://repo/${from}/${more.length ? "" : "a"}`;
          assert.equal((await run("mv", ...more, source, to)).code, 2, `${source} ${to}`);
        }
      }
    }
    for (
      const argv of [["lakefs://repo/main/a", "-"], ["lakefs://repo/main/a", "/dev/null"], [
        "-",
        "lakefs://repo/main/b",
      ], [join(folder, "link"), "lakefs://repo/main/b"]]
    ) {
      assert.equal((await run("mv", ...argv)).code, 2, argv.join(" "));
    }
    assert.deepEqual(await contents(store, "main"), { "a": "1" });
  });

  it("keeps an object that was written while it was moved", async (t) => {
    let act = async () => {};
    const around = (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          if (name !== "read") return value.bind(target);
          return async (...args: [string, string, string]) => {
            const read = await target.read(...args);
            await act();
            return read;
          };
        },
      });
    const { run, store, folder } = await withRepo(t, { around });
    await write(store, "main", { "p/a": "1" });
    act = () => write(store, "main", { "p/a": "newer" });
    assert.equal((await run("mv", "lakefs://repo/main/p/a", join(folder, "a"))).code, 4);
    await write(store, "main", { "p/a": "1" });
    assert.equal((await run("mv", "-r", "lakefs://repo/main/p", "lakefs://other/main")).code, 7);
    assert.deepEqual(await contents(store, "main"), { "p/a": "newer" });
  });

  it("keeps an object that is written when it was looked at for the last time, and is about to go", async (t) => {
    let act: ((path: string) => Promise<unknown>) | undefined;
    const around = (store: Store) => beforeDelete(store, async (path) => await act?.(path));
    const { run, store } = await withRepo(t, { around });
    for (const [argv, code] of [[["mv"], 4], [["mv", "-r"], 7]] as const) {
      await write(store, "main", { "p/a": "1", "p/b": "2" });
      const key = code === 4 ? "p/a" : "p";
      act = (path) => path === "p/a" ? write(store, "main", { [path]: "newer" }) : Promise.resolve();
      assert.equal((await run(...argv, `lakefs://repo/main/${key}`, "lakefs://other/main")).code, code);
      assert.equal((await contents(store, "main"))["p/a"], "newer");
      act = (path) => write(store, "main", { [path]: undefined });
      assert.equal((await run(...argv, `lakefs://repo/main/${key}`, "lakefs://other/main")).code, 0);
      assert.equal((await contents(store, "main"))["p/a"], undefined);
    }
  });
});

describe("--dry-run", () => {
  it("shows what would be done, and changes nothing", async (t) => {
    const { run, json, store, file, folder } = await withRepo(t);
    await write(store, "main", { "p/a": "1", "p/d/b": "22" });
    file("tree/p/a", "1");
    file("tree/p/new", "333");
    file("tree/p/d/b", "xx");
    file("tree/x.tmp", "");
    const tree = join(folder, "tree"), main = "lakefs://repo/main";
    const plan = async (...argv: string[]) =>
      (await json([...argv, "--dry-run"]) as { action: string; path: string }[]).map(({ action, path }) =>
        `${action} ${path}`
      );
    assert.deepEqual(await plan("put", main, tree, "-r", "--exclude", "*.tmp"), [
      "unchanged p/a",
      "put p/d/b",
      "put p/new",
      "ignored x.tmp",
    ]);
    assert.deepEqual((await plan("mv", "-r", tree, main)).slice(0, 2), ["move p/a", "move p/d/b"]);
    assert.deepEqual(await plan("rm", "-r", `${main}/p`), ["remove p/a", "remove p/d/b"]);
    assert.deepEqual(await plan("cp", "-r", `${main}/p`, "lakefs://other/main"), ["copy p/a", "copy p/d/b"]);
    assert.deepEqual(await plan("mv", "-r", `${main}/p`, join(folder, "out")), ["move p/a", "move p/d/b"]);
    const { out, err } = await run("cp", "-r", `${main}/p/d`, `${main}/q`, "--dry-run");
    assert.equal(out, "copy\tp/d/b\tlakefs://repo/main/q/b\n");
    assert.match(err, /nothing was changed: 1 path to copy \(2 B\)/);
    assert.deepEqual(await contents(store, "main"), { "p/a": "1", "p/d/b": "22" });
    assert.deepEqual(fs.readdirSync(tree).sort(), ["p", "x.tmp"]);
    assert.equal(fs.existsSync(join(folder, "out")), false);
  });
});

it("a key that is too long for its new place is left where it is, and the rest moves", async (t) => {
  const { run, store } = await withRepo(t);
  const long = "x".repeat(1000);
  await write(store, "main", { [`p/${long}`]: "1", "p/a": "2" });
  assert.equal(
    (await run("mv", "-r", "lakefs://repo/main/p", `lakefs://repo/main/${"y".repeat(100)}`)).code,
    7,
  );
  assert.deepEqual(await contents(store, "main"), { [`p/${long}`]: "1", [`${"y".repeat(100)}/a`]: "2" });
  assert.equal(utf8(long).length, 1000);
});
