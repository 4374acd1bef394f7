/**
 * The main job by `deno run`: every module that it needs runs there, and what it writes is what the executable reads. Deno
 * has no `bun:ffi` and no `Bun`, so this is also where the fallbacks of `base/platform.ts` are used.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { openHome } from "../support/home.ts";
import { findTool, requireThat } from "../support/requires.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the path of a Deno: the one that was installed with our packages, or one in `PATH`. */
function findDeno(): string | undefined {
  const packages = join(ROOT, "node_modules", "@deno");
  for (const name of existsSync(packages) ? readdirSync(packages) : []) {
    for (const program of ["deno", "deno.exe"]) {
      const path = join(packages, name, program);
      // Packages for several C libraries may lie side by side; one of them runs here.
      if (existsSync(path) && spawnSync(path, ["--version"]).status === 0) return path;
    }
  }
  return findTool("deno");
}

/** Returns a function that runs a command by Deno, which must succeed, or `undefined` when the test was skipped. */
function denoOn(
  t: TestContext,
  home: { folder: string; path: string },
): ((...args: string[]) => string) | undefined {
  const deno = findDeno();
  if (!requireThat(t, deno !== undefined, "deno is not installed")) return undefined;
  return (...args) => {
    const { status, stdout, stderr } = spawnSync(deno!, [
      "run",
      "-A",
      "--no-prompt",
      join(ROOT, "main.ts"),
      ...args,
    ], {
      cwd: home.folder,
      env: {
        TARN_HOME: home.path,
        TARN_USER: "tester",
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        DENO_DIR: join(home.folder, "deno"),
      },
      encoding: "utf8",
    });
    assert.equal(status, 0, `deno: tarn ${args.join(" ")}: exit ${status}\n${stderr}`);
    return stdout;
  };
}

/** Makes a folder with files of every way of putting: empty, small, and larger than what is held in memory. */
function makeFiles(folder: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (let i = 0; i < 40; i++) files.set(`part-${i % 4}/file-${i}`, new Uint8Array(i * 97).fill(i));
  files.set("empty", new Uint8Array(0));
  files.set("large", new Uint8Array(3_000_000).map((_, i) => i * 31 >>> 3));
  files.set("naïve 🗻", new TextEncoder().encode("by its name"));
  for (const [name, content] of files) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return files;
}

test("the main job runs under Deno, and the executable reads what it wrote", async (t) => {
  const home = openHome(t);
  const deno = denoOn(t, home);
  if (!deno) return;
  assert.match(deno("version"), /deno \d/);
  const files = makeFiles(join(home.folder, "tree"));
  deno("repo", "create", "lakefs://trees");
  assert.equal(JSON.parse(deno("put", "-r", "lakefs://trees/main/", "tree", "--json")).put, files.size);
  deno("commit", "lakefs://trees/main", "-m", "All files");
  deno("branch", "lakefs://trees/side", "--from", "main");
  writeFileSync(join(home.folder, "changed"), "changed under Deno");
  deno("put", "lakefs://trees/side/part-0/file-0", "changed");
  deno("rm", "lakefs://trees/side/part-1/file-1");
  deno("commit", "lakefs://trees/side", "-m", "Two changes");
  const difference = deno("diff", "lakefs://trees/main", "lakefs://trees/side", "--json");
  deno("merge", "lakefs://trees/side", "lakefs://trees/main");
  const log = deno("log", "lakefs://trees/main", "--json");
  deno("get", "-r", "lakefs://trees/main~1/", "before");
  for (const [name, content] of files) {
    assert.ok(readFileSync(join(home.folder, "before", name)).equals(content), name);
  }

  assert.equal(
    await home.text(["diff", "lakefs://trees/main~1", "lakefs://trees/side", "--json"]),
    difference,
  );
  assert.equal(await home.text(["log", "lakefs://trees/main", "--json"]), log);
  assert.equal(await home.text(["cat", "lakefs://trees/main/part-0/file-0"]), "changed under Deno");
  assert.equal((await home.run(["stat", "lakefs://trees/main/part-1/file-1"])).code, 3);
  await home.ok(["get", "-r", "lakefs://trees/main~1/", "again"]);
  for (const [name, content] of files) {
    assert.ok(readFileSync(join(home.folder, "again", name)).equals(content), name);
  }
});

test("Deno and the executable make the same commit of the same folder", async (t) => {
  const home = openHome(t);
  const deno = denoOn(t, home);
  if (!deno) return;
  makeFiles(join(home.folder, "tree"));
  const metaRanges: string[] = [];
  for (const name of ["by-deno", "by-executable"]) {
    const run = name === "by-deno"
      ? async (...args: string[]) => deno(...args)
      : (...args: string[]) => home.text(args);
    await run("repo", "create", `lakefs://${name}`);
    await run("put", "-r", `lakefs://${name}/main/`, "tree");
    metaRanges.push(
      JSON.parse(await run("commit", `lakefs://${name}/main`, "-m", "Same", "--json")).meta_range_id,
    );
  }
  assert.match(metaRanges[0]!, /^[0-9a-f]{64}$/);
  assert.equal(metaRanges[0], metaRanges[1]);
});
