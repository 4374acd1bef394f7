import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import type { Ending } from "../../tests/support/temporary.ts";
import { commit, write } from "../../tests/support/test_engine.ts";
import { testCli, type TestCliOptions } from "../testing.ts";

async function withTexts(t: Ending, options: TestCliOptions = {}) {
  const cli = testCli(t, options);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "tester" });
  await commit(store, "main", { a: "one\ntwo\nthree\n", gone: "x\n", same: "s\n" });
  const put = async (path: string, bytes: Uint8Array) => {
    const writer = await store.writer("repo", "main");
    await writer.put(path, bytes);
    await writer.close();
  };
  return { ...cli, store, put };
}

const SIDES = ["lakefs://repo/main~1", "lakefs://repo/main"];

describe("diff --patch", () => {
  it("shows changed, added and removed texts as patch reads them", async (t) => {
    const { run, store } = await withTexts(t);
    await commit(store, "main", { a: "one\n2\nthree\n", gone: undefined, "new file": "n" });
    const { out, code } = await run("diff", ...SIDES, "--patch");
    assert.equal(code, 0);
    assert.equal(
      out,
      "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" +
        "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
        "--- /dev/null\n+++ b/new file\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n",
    );
    assert.equal((await run("diff", ...SIDES, "-p", "--exit-code")).code, 1);
    assert.equal((await run("diff", SIDES[0]!, SIDES[0]!, "-p", "--exit-code")).code, 0);
  });

  it("shows what is staged against what is committed, and one part of it with a prefix", async (t) => {
    const { run, store } = await withTexts(t);
    await write(store, "main", { a: "one\n", gone: undefined });
    assert.match(
      (await run("diff", "lakefs://repo/main", "-p")).out,
      /^--- a\/a\n\+\+\+ b\/a\n@@ -1,3 \+1 @@\n one\n-two\n/,
    );
    assert.match(
      (await run("diff", "lakefs://repo/main", "lakefs://repo/main$", "-p")).out,
      /\n-two\n-three\n/,
    );
    assert.match((await run("diff", "lakefs://repo/main/g", "-p")).out, /^--- a\/gone\n/);
  });

  it("only says that they differ of files that are no text, or have more than 1 MiB", async (t) => {
    const { run, json, store, put } = await withTexts(t);
    await put("large", utf8("x\n".repeat(512 * 1024)));
    await put("larger", utf8("x\n".repeat(512 * 1024 + 1)));
    await put("latin", Uint8Array.of(0xe9, 0x0a));
    await put("zero", utf8("a\0b\n"));
    await store.commit("repo", "main", { message: "m", committer: "x" });
    const { out } = await run("diff", ...SIDES, "-p");
    const binary = [...out.matchAll(/^Binary files \/dev\/null and b\/(\w+) differ$/gm)].map(([, name]) =>
      name
    );
    assert.deepEqual(binary, ["larger", "latin", "zero"]);
    assert.match(out, /^\+\+\+ b\/large\n@@ -0,0 \+1,524288 @@$/m);
    const items = await json(["diff", ...SIDES, "-p"]) as {
      path: string;
      type: string;
      patch: string | null;
    }[];
    assert.deepEqual(items.map(({ path, patch }) => [path, patch === null]), [
      ["large", false],
      ["larger", true],
      ["latin", true],
      ["zero", true],
    ]);
  });

  it("quotes names that would garble a line, and is exact in a pipe", async (t) => {
    const { run, store } = await withTexts(t);
    await commit(store, "main", { 'q"\n\x01': "\ufeffbom\x1b[31m\r\n" });
    const { out } = await run("diff", ...SIDES, "-p");
    assert.equal(out, '--- /dev/null\n+++ "b/q\\"\\n\\001"\n@@ -0,0 +1 @@\n+\ufeffbom\x1b[31m\r\n');
  });

  it("cannot steer a terminal", async (t) => {
    const { run, store } = await withTexts(t, { terminal: true });
    await commit(store, "main", { "n\x1b[2J": "\ta\x1b[31m\u202e\r\n" });
    const { out } = await run("diff", ...SIDES, "-p");
    assert.match(out, /\n\+\ta\\x1b\[31m\\u\{202e\}\\r\n$/);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(out, /[\x1b\r\u202e]/);
  });

  it("is refused with what folds or counts", async (t) => {
    const { run } = await withTexts(t);
    for (
      const other of [["--stat"], ["--name-only"], ["--depth", "1"], ["--delimiter", "/"], [
        "--format",
        "csv",
      ]]
    ) {
      const { code, err } = await run("diff", ...SIDES, "-p", ...other);
      assert.deepEqual([code, err.includes(other[0]!)], [2, true], err);
    }
  });
});
