import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { binaryPath } from "../support/binary.ts";
import { openHome } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";
import type { Ending } from "../support/temporary.ts";

/** A home with something to complete, and a way to run a shell that finds the executable. */
async function prepared(t: Ending) {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://sales"]);
  await home.ok(["put", "lakefs://sales/main/tables/a b.csv", "-"], { stdin: "x" });
  await home.ok(["put", "lakefs://sales/main/report.csv", "-"], { stdin: "x" });
  await home.ok(["branch", "lakefs://sales/feature", "--from", "main"]);
  mkdirSync(join(home.folder, "bin"));
  symlinkSync(binaryPath(), join(home.folder, "bin", "tarn"));
  mkdirSync(join(home.folder, "work", "some folder"), { recursive: true });
  writeFileSync(join(home.folder, "work", "some file"), "");
  const shell = (program: string, args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: join(home.folder, "work"),
      env: {
        PATH: `${join(home.folder, "bin")}:${process.env["PATH"] ?? ""}`,
        HOME: home.folder,
        TARN_HOME: home.path,
        LC_ALL: "C.UTF-8",
      },
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    return stdout.split("\n").filter((line) => line !== "");
  };
  return { shell };
}

/** A line, split into words as bash splits it: at spaces, and around `:` and `=`. */
function bashWords(line: string): string[] {
  return line.split(" ").flatMap((part) => part === "" ? [""] : part.match(/[:=]+|[^:=]+/g)!);
}

test("completion works in bash, which splits URIs at colons", async (t) => {
  if (!requireTool(t, "bash")) return;
  const { shell } = await prepared(t);
  const complete = (line: string) => {
    const words = bashWords(line).map((word) => `'${word}'`).join(" ");
    return shell("bash", [
      "--norc",
      "-c",
      `source <(tarn completion bash); COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${words});
       COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _tarn; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]);
  };
  assert.deepEqual(complete("tarn comm"), ["commit"]);
  assert.deepEqual(complete("tarn repo cr"), ["create"]);
  assert.deepEqual(complete("tarn log --gra"), ["--graph"]);
  assert.deepEqual(complete("tarn merge --strategy=s"), ["source-wins"]);
  assert.deepEqual(complete("tarn merge --strategy "), ["source-wins", "dest-wins"]);
  // bash puts what is handed back in place of what follows the last colon.
  assert.deepEqual(complete("tarn ls lakefs://sal"), ["//sales/"]);
  assert.deepEqual(complete("tarn ls lakefs://sales/"), ["//sales/feature/", "//sales/main/"]);
  assert.deepEqual(complete("tarn cat lakefs://sales/main/tables/a"), ["//sales/main/tables/a%20b.csv"]);
  assert.deepEqual(complete("tarn branch lakefs://sales/x --from fe"), ["feature"]);
  assert.deepEqual(complete("tarn put lakefs://sales/main/ so").sort(), ["some file", "some folder"]);
  assert.deepEqual(complete("tarn cat lakefs://none/"), []);
});

test("completion works in zsh", async (t) => {
  if (!requireTool(t, "zsh")) return;
  const { shell } = await prepared(t);
  const complete = (line: string) => {
    const words = line.split(" ").map((word) => `'${word}'`).join(" ");
    return shell("zsh", [
      "-f",
      "-c",
      `compdef() { : }; _files() { print files }; compadd() { while [[ $1 != -- ]] shift; shift; print -l -- "$@" }
       source <(tarn completion zsh); words=(${words}); CURRENT=$#words; _tarn`,
    ]);
  };
  assert.deepEqual(complete("tarn comm"), ["commit"]);
  assert.deepEqual(complete("tarn ls lakefs://sales/"), ["lakefs://sales/feature/", "lakefs://sales/main/"]);
  assert.deepEqual(complete("tarn put lakefs://sales/main/ so"), ["files"]);
  assert.deepEqual(complete("tarn branch lakefs://sales/x --from "), ["feature", "main"]);
});

test("completion works in fish", async (t) => {
  if (!requireTool(t, "fish")) return;
  const { shell } = await prepared(t);
  const complete = (line: string) =>
    shell("fish", ["--no-config", "-c", `tarn completion fish | source; complete -C '${line}'`]);
  assert.deepEqual(complete("tarn comm"), ["commit"]);
  assert.deepEqual(complete("tarn ls lakefs://sales/"), ["lakefs://sales/feature/", "lakefs://sales/main/"]);
  assert.deepEqual(complete("tarn branch lakefs://sales/x --from fe"), ["feature"]);
  assert.deepEqual(complete("tarn log --gra"), ["--graph"]);
});
