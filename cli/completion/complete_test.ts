import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { write } from "../../tests/support/test_engine.ts";
import type { Ending } from "../../tests/support/temporary.ts";
import { testCli, type TestCliOptions } from "../testing.ts";

async function opened(t: Ending, options: TestCliOptions = {}) {
  const { run, engine, folder } = testCli(t, options);
  const { store } = engine;
  for (const name of ["sales", "samples"]) await store.createRepository(name, { committer: "x" });
  await write(store, "main", { "data/a b": "1", "data/café": "1", "data/x/1": "1", "readme": "1" }, "sales");
  await store.createBranch("sales", "feature", "main", "x");
  await store.createTag("sales", "v1.0", "main", "x");
  const complete = async (...words: string[]) => {
    const { code, out, err } = await run("__complete", "--", ...words);
    assert.deepEqual([code, err], [0, ""]);
    return out === "" ? [] : out.trimEnd().split("\n");
  };
  return { complete, store, folder };
}

it("completes verbs of one and of two words, and lakectl's", async (t) => {
  const { complete } = await opened(t);
  assert.deepEqual(await complete("comm"), ["commit"]);
  assert.ok((await complete("")).includes("quickstart"));
  assert.ok(!(await complete("")).includes("__complete"));
  assert.deepEqual(await complete("repo", "cr"), ["create"]);
  assert.deepEqual(await complete("fs", "s"), ["stat"]);
  assert.deepEqual(await complete("--json", "repo", "del"), ["delete"]);
  assert.deepEqual(await complete("help", "reposit"), []);
  assert.deepEqual(await complete("help", "repo", "sh"), ["show"]);
});

it("completes options, and values of those that have a few", async (t) => {
  const { complete } = await opened(t);
  assert.deepEqual(await complete("commit", "--allow-empty-"), ["--allow-empty-message"]);
  assert.deepEqual(await complete("log", "lakefs://sales/main", "--gra"), ["--graph"]);
  assert.ok(!(await complete("stat", "--")).includes("--pre-sign"));
  assert.deepEqual(await complete("merge", "--strategy", "so"), ["source-wins"]);
  assert.deepEqual(await complete("merge", "--strategy=d"), ["--strategy=dest-wins"]);
  assert.deepEqual(await complete("commit", "-m", ""), []);
  assert.deepEqual(await complete("completion", "z"), ["zsh"]);
});

it("completes the schemes of the configuration, and what lies in local folders of the catalog", async (t) => {
  const { complete, folder } = await opened(t);
  const config = `
stores: {files: {driver: file, root: srv}, bucket: {driver: s3}}
schemes:
  data: {parts: [repo], rest: path, target: "lakefs://{repo}/{ref}/{path}", ref: main}
  far: {parts: [name], rest: path, target: "bucket://b/{name}/{path}"}
`;
  mkdirSync(join(folder, "srv/docs/a b"), { recursive: true });
  writeFileSync(join(folder, "srv/docs/one"), "1");
  writeFileSync(join(folder, "tarn.yaml"), config);
  assert.deepEqual(await complete("fetch", "d"), ["data://", ":files"]);
  assert.ok((await complete("ls", "")).includes("data://"));
  assert.ok((await complete("ls", "")).includes("files://"));
  assert.deepEqual(await complete("ls", "files://docs/"), ["files://docs/a%20b/", "files://docs/one"]);
  assert.deepEqual(await complete("cat", "data://sales/da"), ["data://sales/data/"]);
  assert.deepEqual(await complete("cat", "data://sales/data/a"), ["data://sales/data/a%20b"]);
  // Nothing on the network is asked, and no hook is run.
  assert.deepEqual(await complete("ls", "far://x/"), []);
  writeFileSync(join(folder, "tarn.yaml"), `hooks: [provcat.log]\n${config}`);
  assert.deepEqual(await complete("cat", "data://sales/da"), []);
});

it("completes repositories, refs and paths, encoded, each beginning with what was typed", async (t) => {
  const { complete } = await opened(t);
  assert.deepEqual(await complete("ls", "lak"), ["lakefs://sales/", "lakefs://samples/"]);
  assert.deepEqual(await complete("ls", "lakefs://sal"), ["lakefs://sales/"]);
  assert.deepEqual(await complete("ls", "lakefs://sales/"), [
    "lakefs://sales/feature/",
    "lakefs://sales/main/",
    "lakefs://sales/v1.0/",
  ]);
  assert.deepEqual(await complete("cat", "lakefs://sales/main/d"), ["lakefs://sales/main/data/"]);
  assert.deepEqual(await complete("cat", "lakefs://sales/main/data/"), [
    "lakefs://sales/main/data/a%20b",
    "lakefs://sales/main/data/café",
    "lakefs://sales/main/data/x/",
  ]);
  assert.deepEqual(await complete("cat", "lakefs://sales/main/data/caf%C3%A9"), [
    "lakefs://sales/main/data/caf%C3%A9",
  ]);
  assert.deepEqual(await complete("cat", "lakefs://sales/main/data/%"), []);
  assert.deepEqual(await complete("cat", "lakefs://none/"), []);
});

it("completes refs of the repository that the line names", async (t) => {
  const { complete } = await opened(t);
  assert.deepEqual(await complete("branch", "create", "lakefs://sales/x", "--from", "f"), ["feature"]);
  assert.deepEqual(await complete("branch", "lakefs://sales/x", "--from", "v"), ["v1.0"]);
  assert.deepEqual(await complete("revert", "lakefs://sales/main", "ma"), ["main"]);
  assert.deepEqual(await complete("merge", "lakefs://sales/main", "--from", ""), ["feature", "main", "v1.0"]);
});

it("asks the shell for files where there may be some", async (t) => {
  const { complete } = await opened(t);
  assert.deepEqual(await complete("put", "lakefs://sales/main/", "./d"), [":files"]);
  assert.deepEqual(await complete("put", "lakefs://sales/main/r"), ["lakefs://sales/main/readme"]);
  assert.deepEqual(await complete("ls", "--home", ""), [":files"]);
  assert.deepEqual(await complete("cat", "./d"), []);
});

it("asks for no more of a listing than it shows", async (t) => {
  const asked: unknown[] = [];
  const { complete } = await opened(t, {
    around: (store) =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (name === "list") asked.push(args[2]);
            return value.apply(target, args);
          };
        },
      }),
  });
  await complete("cat", "lakefs://sales/main/");
  assert.deepEqual(asked, [{ prefix: "", delimiter: "/", amount: 200 }]);
});
