import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { CodedError } from "../base/errors.ts";
import { makeHome } from "../catalog/home.ts";
import type { BranchWriter, Store } from "../drivers/store.ts";
import { runToExitCode } from "./main.ts";
import { ReaderGone } from "./streams.ts";
import { testCli } from "./testing.ts";
import { VERBS } from "./verbs/mod.ts";
import { GLOBAL_OPTIONS } from "./verbs/verb.ts";

describe("finding the verb", () => {
  it("works with options of every verb before and after it", async (t) => {
    const { run } = testCli(t);
    for (const argv of [["--json", "repo", "list"], ["repo", "--json", "list"], ["repo", "list", "--json"]]) {
      assert.equal((await run(...argv)).out, "[]\n");
    }
  });

  it("suggests the nearest when there is no such verb or option", async (t) => {
    const { run } = testCli(t);
    const slips: Record<string, string> = {
      "comit lakefs://r/main": '"commit"',
      "repo lst": '"repo list"',
      "branch creat lakefs://r/x": '"branch create"',
      "ls --recursiv": '"--recursive"',
    };
    for (const [line, suggestion] of Object.entries(slips)) {
      const { code, err } = await run(...line.split(" "));
      assert.equal(code, 2, line);
      assert.match(err, new RegExp(`Did you mean ${suggestion}\\?`), line);
    }
  });

  it("refuses too few and too many arguments with the right form", async (t) => {
    const { run } = testCli(t);
    assert.match((await run("put", "lakefs://r/main/x")).err, /write tarn put URI PATH \[-r\]/);
    assert.match((await run("cat", "a", "b")).err, /"b" is one argument too many/);
    assert.match((await run("repo")).err, /"repo create"/);
  });

  it("refuses arguments that are no UTF-8 instead of reading others into them", async (t) => {
    const { run } = testCli(t);
    assert.equal((await run("cat", "lakefs://repo/main", "--key", "a\ufffd")).code, 2);
  });
});

describe("help", () => {
  it("has a summary, usage and examples for every verb", async (t) => {
    const { run } = testCli(t);
    const all = (await run("help")).out;
    assert.equal((await run()).out, all);
    assert.equal((await run("--help")).out, all);
    for (const { name, summary, examples } of VERBS) {
      assert.ok(all.includes(name) && all.includes(summary), name);
      const own = await run("help", ...name.split(" "));
      assert.equal(own.code, 0);
      assert.ok(own.out.includes(examples[0]!), name);
      assert.equal((await run(...name.split(" "), "--help")).out, own.out);
    }
    assert.equal((await run("help", "nosuch")).code, 2);
  });

  it("shows examples that the program accepts", async (t) => {
    const { json } = testCli(t);
    const verbs = await json(["help"]) as { name: string; examples: string[]; options: { name: string }[] }[];
    for (const { name, examples, options } of verbs) {
      const known = new Set(options.map((option) => option.name));
      for (const example of examples) {
        assert.ok(example.includes(`tarn ${name}`) || /tarn (branch|tag) lakefs/.test(example), example);
        for (const [, option] of example.matchAll(/ (--[a-z-]+)/g)) assert.ok(known.has(option!), example);
      }
    }
  });

  it("leaves out what is taken for other programs' sake only", async (t) => {
    const { run } = testCli(t);
    assert.doesNotMatch((await run("help", "put")).out, /pre-sign|--source/);
  });
});

it("no verb's option means something else than the option of every verb with that name", () => {
  const letters = Object.values(GLOBAL_OPTIONS).flatMap(({ short }) => short ? [short] : []);
  for (const { name, options = {} } of VERBS) {
    for (const [option, { short }] of Object.entries(options)) {
      assert.ok(!Object.hasOwn(GLOBAL_OPTIONS, option), `${name} --${option}`);
      assert.ok(short === undefined || !letters.includes(short), `${name} -${short}`);
    }
  }
});

it("version prints the program's version, also as --version", async (t) => {
  const { run } = testCli(t);
  const { out } = await run("version");
  assert.match(out, /^tarn \d+\.\d+\.\d+ \(/);
  for (const form of ["--version", "-V"]) assert.equal((await run(form)).out, out);
});

it("version says where the home is and whether it is made, whatever is wrong with it", async (t) => {
  const { run, json, folder } = testCli(t);
  const home = join(folder, "home");
  assert.match((await run("version")).out, /^home: .*home \(not made yet/m);
  fs.mkdirSync(home);
  fs.writeFileSync(join(home, "other"), "");
  assert.match((await run("version")).out, /^home: \(unusable: Cannot use ".*home" as a home/m);
  const { home: none, home_state } = await json(["version"]) as Record<string, unknown>;
  assert.deepEqual([none, home_state], [null, "unusable"]);
  fs.rmSync(home, { recursive: true });
  makeHome(home);
  assert.match((await run("version")).out, /^home: .*home \(ready\)$/m);
  const ready = await json(["version"]) as Record<string, unknown>;
  assert.deepEqual([ready.home, ready.home_state], [home, "ready"]);
});

it("lakectl's forms are taken", async (t) => {
  const { run, json, folder } = testCli(t);
  fs.writeFileSync(join(folder, "f"), "text");
  await run("repo", "create", "lakefs://repo", "mem://x", "-d", "main");
  assert.equal((await run("fs", "upload", "lakefs://repo/main/d/a", "-s", join(folder, "f"))).code, 0);
  assert.equal((await run("fs", "cat", "lakefs://repo/main/d/a")).out, "text");
  assert.equal((await run("fs", "download", "lakefs://repo/main/d/a", join(folder, "g"))).code, 0);
  assert.equal((await json(["fs", "ls", "lakefs://repo/main/"]) as unknown[]).length, 1);
  assert.equal((await run("commit", "lakefs://repo/main", "-m", "x")).code, 0);
  assert.equal((await run("show", "commit", "lakefs://repo/main")).code, 0);
  assert.equal((await run("fs", "rm", "lakefs://repo/main/d/a")).code, 0);
  assert.equal((await run("branch", "reset", "lakefs://repo/main", "--yes")).code, 0);
  assert.equal((await run("fs", "nosuch")).code, 2);
});

describe("failures", () => {
  it("leave nothing half on standard output, and one object on standard error with --json", async (t) => {
    const { run } = testCli(t, {
      around: (store) =>
        overriding(store, {
          async *listRepositories() {
            yield [{ id: "a", storageNamespace: "", defaultBranch: "main", creationDate: 0 }];
            throw new CodedError("unavailable", "kv_unavailable", "Cannot read");
          },
        }),
    });
    const { code, out, err } = await run("repo", "list", "--json");
    assert.deepEqual([code, out], [8, ""]);
    assert.deepEqual(Object.keys(JSON.parse(err)), ["kind", "code", "message", "hint"]);
  });

  it("that nobody foresaw exit with 70 on one line", async (t) => {
    const { run } = testCli(t, {
      around: (store) => overriding(store, { getRepository: () => Promise.reject(new TypeError("oops")) }),
    });
    const { code, err } = await run("repo", "show", "lakefs://repo");
    assert.equal(code, 70);
    assert.match(err, /^tarn: Unexpected failure: oops\n/);
  });

  it("of a reader that stops are none", async (t) => {
    const { engine } = testCli(t);
    const code = await runToExitCode(["help"], {
      environment: {
        outputIsTerminal: () => false,
        wantsColor: () => false,
        messagesAreTerminal: () => false,
      } as never,
      sink: { write: () => Promise.reject(new ReaderGone()) },
      openStore: async () => engine.store,
    });
    assert.equal(code, 0);
  });

  it("of one file leave the rest put, and are no success", async (t) => {
    const { run, folder, engine } = testCli(t, {
      around: (store) =>
        withWriter(store, (path) => {
          if (path === "b") throw new CodedError("invalid", "invalid_path", `Cannot use path "b"`);
        }),
    });
    await engine.store.createRepository("repo", { committer: "x" });
    fs.mkdirSync(join(folder, "tree"));
    for (const name of ["a", "b", "c"]) fs.writeFileSync(join(folder, "tree", name), name);
    const { code, out } = await run("put", "lakefs://repo/main", join(folder, "tree"), "-r");
    assert.deepEqual([code, out], [7, "Put 2 files (2 B), 1 left out\n"]);
    assert.equal((await engine.store.stat("repo", "main", "c")).sizeBytes, 1);
  });

  it("of the store stop a batch, and nothing is claimed", async (t) => {
    const { run, folder, engine } = testCli(t, {
      around: (store) =>
        withWriter(store, () => {
          throw new CodedError("unavailable", "storage_full", "Cannot put: no space is left");
        }),
    });
    await engine.store.createRepository("repo", { committer: "x" });
    fs.mkdirSync(join(folder, "tree"));
    for (const name of ["a", "b", "c"]) fs.writeFileSync(join(folder, "tree", name), name);
    const { code, out } = await run("put", "lakefs://repo/main", join(folder, "tree"), "-r");
    assert.deepEqual([code, out], [8, ""]);
  });
});

/** Lets `check` look at each path that is put. */
function withWriter(store: Store, check: (path: string) => void): Store {
  return overriding(store, {
    async writer(repository, branch) {
      const writer = await store.writer(repository, branch);
      const checked: BranchWriter = {
        copy: (path, source) => writer.copy(path, source),
        async put(path, body, options) {
          check(path);
          return await writer.put(path, body, options);
        },
        async putMany(files, options) {
          for (const { path } of files) check(path);
          await writer.putMany(files, options);
        },
        setMetadata: (path, metadata) => writer.setMetadata(path, metadata),
        delete: (path) => writer.delete(path),
        flush: () => writer.flush(),
        close: () => writer.close(),
        abandon: () => writer.abandon(),
      };
      return checked;
    },
  });
}

function overriding(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const own = Reflect.get(methods, name);
      if (own) return own;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("quickstart", () => {
  it("does the main job and can be run again", async (t) => {
    const { run, json, engine } = testCli(t);
    const { code, out, err } = await run("quickstart");
    assert.equal(code, 0);
    assert.match(err, /^tarn: Cannot merge .*\n.*--strategy.*\n {2}conflict: planets\.csv\n$/);
    assert.match(out, /^\*.* Merge iau-2006 .*\n\|\\\n/m);
    assert.match(out, /^Pluto,1195,/m);
    for (const verb of ["repo create", "put", "commit", "branch", "diff", "merge", "log", "cat", "get"]) {
      assert.match(out, new RegExp(`^\\$ tarn ${verb} `, "m"));
    }
    assert.equal((await run("quickstart")).code, 0);
    const repositories = await json(["repo", "list"]) as { id: string }[];
    assert.deepEqual(repositories.map(({ id }) => id), ["quickstart", "quickstart-2"]);
    const steps = await json(["quickstart"]) as { command: string; exit_code: number }[];
    assert.ok(steps.length > 10 && steps.every(({ exit_code }) => exit_code === 0 || exit_code === 4));
    assert.equal((await engine.store.getRepository("quickstart-3")).defaultBranch, "main");
  });

  it("works on a folder of one's own, and only reads it", async (t) => {
    const { run, folder } = testCli(t);
    const tree = join(folder, "my files");
    fs.mkdirSync(join(tree, "sub"), { recursive: true });
    fs.writeFileSync(join(tree, "it's 100%.txt"), "mine");
    fs.writeFileSync(join(tree, "sub", "x"), "");
    const { code, out } = await run("quickstart", tree);
    assert.equal(code, 0);
    assert.match(out, /equals .*, byte for byte/);
    assert.deepEqual(fs.readdirSync(tree, { recursive: true }).sort(), ["it's 100%.txt", "sub", "sub/x"]);
    assert.equal(fs.readFileSync(join(tree, "it's 100%.txt"), "utf8"), "mine");
    assert.equal((await run("quickstart", join(folder, "none"))).code, 3);
    fs.mkdirSync(join(folder, "bare"));
    assert.equal((await run("quickstart", join(folder, "bare"))).code, 2);
  });
});

it("init makes a home once", async (t) => {
  const { run, json, folder } = testCli(t);
  assert.deepEqual(await json(["init", join(folder, "x")]), { home: join(folder, "x", ".tarn") });
  const again = await run("init", join(folder, "x"));
  assert.deepEqual([again.code, /there is one already/.test(again.err)], [4, true]);
});

it("reading commands make no home", async (t) => {
  const { run, folder } = testCli(t);
  await run("repo", "list");
  await run("cat", "lakefs://repo/main/x");
  assert.deepEqual(fs.readdirSync(folder), []);
  await run("repo", "create", "lakefs://repo");
  assert.deepEqual(fs.readdirSync(folder), ["home"]);
});
