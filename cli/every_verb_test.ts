/** What holds for every verb: its result as JSON, and a reader that stops early. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Ending } from "../tests/support/temporary.ts";
import { write } from "../tests/support/test_engine.ts";
import { ReaderGone } from "./streams.ts";
import { testCli } from "./testing.ts";
import { VERBS } from "./verbs/mod.ts";

/** A command line of each verb that succeeds on what {@link prepared} makes; `DIR` is the test's folder. */
const LINES: Readonly<Record<string, string>> = {
  "init": "init DIR/new",
  "quickstart": "quickstart",
  "version": "version",
  "doctor": "doctor",
  "completion": "completion bash",
  "help": "help",
  "repo create": "repo create lakefs://other",
  "repo list": "repo list",
  "repo show": "repo show lakefs://repo",
  "repo delete": "repo delete lakefs://repo --yes",
  "put": "put lakefs://repo/main/c DIR/file",
  "get": "get lakefs://repo/main/a DIR/got",
  "cat": "cat lakefs://repo/main/a",
  "ls": "ls lakefs://repo/main/",
  "stat": "stat lakefs://repo/main/a",
  "cp": "cp lakefs://repo/main/a lakefs://repo/main/b",
  "mv": "mv lakefs://repo/main/a lakefs://repo/main/b",
  "rm": "rm lakefs://repo/main/a",
  "find": "find lakefs://repo/main/",
  "du": "du lakefs://repo/main/",
  "status": "status lakefs://repo/staged",
  "commit": "commit lakefs://repo/staged -m x",
  "log": "log lakefs://repo/main --graph --stat",
  "show": "show lakefs://repo/main --stat",
  "diff": "diff lakefs://repo/main lakefs://repo/dev --depth 1",
  "merge": "merge lakefs://repo/dev lakefs://repo/main",
  "revert": "revert lakefs://repo/dev dev",
  "cherry-pick": "cherry-pick lakefs://repo/main dev",
  "reset": "reset lakefs://repo/staged --yes",
  "reflog": "reflog lakefs://repo",
  "blame": "blame lakefs://repo/main",
  "bisect run": "bisect run lakefs://repo/dev --good main true",
  "bisect list": "bisect list lakefs://repo/dev --good main",
  "branch create": "branch create lakefs://repo/new --from main",
  "branch list": "branch list lakefs://repo",
  "branch show": "branch show lakefs://repo/main",
  "branch delete": "branch delete lakefs://repo/dev",
  "branch restore": "branch restore lakefs://repo/gone",
  "tag create": "tag create lakefs://repo/new main",
  "tag list": "tag list lakefs://repo",
  "tag show": "tag show lakefs://repo/v1",
  "tag delete": "tag delete lakefs://repo/v1",
  "tag restore": "tag restore lakefs://repo/gone-tag",
  "kv copy": "kv copy memory: memory:",
  "config show": "config show --config DIR/tarn.yaml",
  "config check": "config check --config DIR/tarn.yaml",
  "config trust": "config trust DIR/tarn.yaml",
  "pin": "pin lakefs://repo/main/a",
  "fetch": "fetch lakefs://repo/main/a",
  "snapshot": "snapshot lakefs://repo/main/d DIR/copy",
  "cache ls": "cache ls lakefs://repo/main/",
  "cache stat": "cache stat",
  "cache prune": "cache prune lakefs://repo/main/",
  "cache verify": "cache verify",
  "auth setup": "auth setup admin",
  "auth key": "auth key admin",
};

/** What a line needs before it. */
const BEFORE: Readonly<Record<string, string>> = {
  "auth key": "auth setup admin",
  "cache ls": "fetch lakefs://repo/main/a",
};

/** What ends only by a signal is tested as a process (`tests/e2e/serve_test.ts`). */
const ENDLESS = new Set(["serve"]);

/** What needs a server is tested against a real one (`cli/config_push_test.ts`). */
const SERVED = new Set(["config push"]);

/** Verbs whose result is the bytes of an object, whatever form is asked for. */
const BYTES = new Set(["cat"]);

async function prepared(t: Ending, verb: string) {
  const cli = testCli(t);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "x" });
  await write(store, "main", { a: "1", "d/x": "2" });
  await store.commit("repo", "main", { message: "first", committer: "x" });
  for (const branch of ["dev", "staged", "gone"]) await store.createBranch("repo", branch, "main", "x");
  await store.deleteBranch("repo", "gone", "x");
  await store.createTag("repo", "v1", "main", "x");
  await store.createTag("repo", "gone-tag", "main", "x");
  await store.deleteTag("repo", "gone-tag", "x");
  await write(store, "dev", { "d/y": "3" });
  await store.commit("repo", "dev", { message: "second", committer: "x" });
  await write(store, "staged", { z: "4" });
  writeFileSync(join(cli.folder, "file"), "text");
  writeFileSync(join(cli.folder, "tarn.yaml"), "stores: {files: {driver: file, root: /srv}}\n");
  if (BEFORE[verb] !== undefined) await cli.run(...BEFORE[verb].split(" "));
  const words = (line: string) => line.replaceAll("DIR", cli.folder).split(" ");
  return { ...cli, words };
}

describe("every option, and argument, that is one of a few words", () => {
  const words = VERBS.flatMap(({ name, options, choices }) => [
    ...Object.entries(options ?? {}).filter(([, option]) => option.choices).map((
      [option],
    ) => [name, `--${option}`]),
    ...(choices ? [[name]] : []),
  ]);
  for (const line of words) {
    it(`refuses other words: ${line.join(" ")}`, async (t) => {
      const { code, out, err } = await testCli(t).run(...line.join(" ").split(" "), "nonsense");
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, /nonsense": it must be \w/);
    });
  }
});

describe("every verb", () => {
  for (const { name } of VERBS.filter((verb) => !ENDLESS.has(verb.name) && !SERVED.has(verb.name))) {
    it(`prints JSON when asked: ${name}`, async (t) => {
      const line = LINES[name];
      assert.ok(line, `there is no line for "${name}" in this test`);
      for (const option of ["--json", "--jsonl"]) {
        const { run, words } = await prepared(t, name);
        const { code, out, err } = await run(...words(line), option);
        assert.equal(code, 0, err);
        if (BYTES.has(name)) assert.equal(out, "1");
        else if (option === "--json") JSON.parse(out);
        else for (const document of out.trimEnd().split("\n")) JSON.parse(document);
      }
    });

    it(`ends quietly when nobody reads on: ${name}`, async (t) => {
      for (const form of [[], ["--json"], ["--jsonl"]]) {
        const { runTo, words } = await prepared(t, name);
        const { code, err } = await runTo({ write: () => Promise.reject(new ReaderGone()) }, [
          ...words(LINES[name]!),
          ...form,
        ]);
        assert.deepEqual([code, err], [0, ""]);
      }
    });
  }
});
