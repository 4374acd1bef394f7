import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { requireTool } from "../../tests/support/requires.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { globExpression } from "./glob.ts";
import { IgnoreRules } from "./ignore_rules.ts";

/** ASCII alone: git matches bytes, and we match characters. */
const PATHS = [
  "a",
  "b.log",
  "debug.log",
  "keep.log",
  "a-b",
  "build/x",
  "build/keep/y",
  "src/build/z",
  "src/a.o",
  "src/deep/er/a.o",
  "src/deep/b.tmp",
  "doc/a.txt",
  "doc/sub/a.txt",
  "foo/bar",
  "foo/x/bar",
  "foo/x/y/bar",
  "x/foo/bar",
  "#hash",
  "!bang",
  "end ",
  "star*",
  "[b]",
  "b]",
  "back\\slash",
  "Upper",
  "upper",
  "dir.d/file",
  "7",
  "-",
];

const FILES: readonly string[] = [
  "*.log\n!keep.log",
  "build",
  "build/",
  "/build",
  "src/build/",
  "*.o\n!src/a.o",
  "foo/**/bar",
  "**/bar",
  "foo/**",
  "foo/**\n!foo/x/\n!foo/x/bar",
  "foo/*/bar",
  "foo**bar",
  "**",
  "*\n!a",
  "/*\n!/src\n!/foo",
  "\\#hash\n\\!bang",
  "# comment\n\n   \nend\\ ",
  "end ",
  "star\\*\n\\[b]",
  "[!a]",
  "[^a]*",
  "[a-c]*",
  "[]-]",
  "[]b]*",
  "[c-a]",
  "[[:digit:]]",
  "[[:upper:]]*",
  "[[:nope:]]",
  "[b",
  "back\\\\slash",
  "back\\",
  "UPPER",
  "doc/*.txt",
  "a?b",
  "src?build",
  "src[/]build",
  "/",
  "*/",
  "dir.d/",
  "!a\na\r",
  "src/**/\n",
  "x/../a",
  "foo//bar",
];

function ignored(text: string): string[] {
  const rules = IgnoreRules.within(undefined, text, "");
  return PATHS.filter((path) => {
    const parts = path.split("/");
    return parts.some((_, i) =>
      rules?.ignores(parts.slice(0, i + 1).join("/"), i < parts.length - 1) ?? false
    );
  });
}

describe("IgnoreRules", () => {
  it("leaves out what git leaves out", (t: TestContext) => {
    if (!requireTool(t, "git")) return;
    const folder = temporaryFolder(t);
    const quiet = { cwd: folder, env: { PATH: "/usr/bin:/bin", HOME: folder, GIT_CONFIG_NOSYSTEM: "1" } };
    execFileSync("git", ["init", "-q"], quiet);
    for (const path of PATHS) {
      fs.mkdirSync(join(folder, path, ".."), { recursive: true });
      fs.writeFileSync(join(folder, path), "");
    }
    for (const text of FILES) {
      fs.writeFileSync(join(folder, ".gitignore"), text);
      const listed = execFileSync("git", ["ls-files", "-z", "-o", "--exclude-standard"], quiet);
      const kept = new Set(listed.toString().split("\0"));
      assert.deepEqual(ignored(text), PATHS.filter((path) => !kept.has(path)), JSON.stringify(text));
    }
  });

  it("lets a folder's own file decide before the ones around it, and --exclude before all", () => {
    const excluded = IgnoreRules.ofPatterns(["*.tmp", "!d/only", "d/a.log"]);
    const outer = IgnoreRules.within(excluded, "*.log\n/only", "");
    const inner = IgnoreRules.within(outer, "!a.log\n/b", "d/")!;
    const found = (key: string) => inner.ignores(key, false);
    assert.deepEqual(["d/a.log", "d/c.log", "d/b", "d/e/b", "d/only"].map(found), [
      true,
      true,
      true,
      false,
      false,
    ]);
    assert.deepEqual([found("d/x.tmp"), outer!.ignores("only", false), outer!.ignores("d/only", false)], [
      true,
      true,
      false,
    ]);
  });
});

it("globExpression() matches whole characters, and never a slash without **", () => {
  const matches = (glob: string, path: string) => globExpression(glob)?.test(path) ?? false;
  for (
    const [glob, path] of [["?", "😀"], ["[😀-😂]", "😁"], ["*.csv", "a\n.csv"], ["**/x", "x"], [
      "a/**",
      "a/b/c",
    ]]
  ) assert.equal(matches(glob!, path!), true, glob);
  for (const [glob, path] of [["*", "a/b"], ["[^a]", "/"], ["[.-0]", "/"], ["a/**", "a"], ["x", "X"]]) {
    assert.equal(matches(glob!, path!), false, glob);
  }
});
