/** Every command of the pages for readers is run, in order, by a shell in an empty folder, as a reader would. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { binaryPath } from "../support/binary.ts";
import { requireTool } from "../support/requires.ts";
import { temporaryFolder } from "../support/temporary.ts";

interface Box {
  readonly commands: string;
  /** What the box's last command exits with. */
  readonly exitCode: number;
}

/** Returns the shell boxes of a Markdown text; `exit=N` behind `sh` is the exit code to expect. */
function shellBoxes(markdown: string): Box[] {
  return [...markdown.matchAll(/^```sh(?: exit=(\d+))?\n([\s\S]*?)^```$/gm)].map(([, exit, commands]) => ({
    commands: commands!,
    exitCode: Number(exit ?? 0),
  }));
}

for (const page of ["guide.md", "catalog.md", "ci.md"]) {
  test(`every command of docs/${page} works, in order`, (t) => {
    if (!requireTool(t, "bash")) return;
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "bin"));
    mkdirSync(join(folder, "work"));
    symlinkSync(binaryPath(), join(folder, "bin/tarn"));
    const boxes = shellBoxes(readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8"));
    assert.ok(boxes.length >= 8);
    for (const { commands, exitCode } of boxes) {
      const run = spawnSync("bash", ["-euo", "pipefail", "-c", commands], {
        cwd: join(folder, "work"),
        env: { PATH: `${join(folder, "bin")}:${process.env["PATH"]}`, HOME: folder, TARN_USER: "reader" },
        encoding: "utf8",
        input: "",
      });
      assert.equal(run.status, exitCode, `${commands}\nexit ${run.status}\n${run.stdout}${run.stderr}`);
    }
  });
}
