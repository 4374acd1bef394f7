/** Parts of commits, blame, bisect, patches and restores through the executable. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { binaryPath } from "../support/binary.ts";
import { openHome } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";

const MAIN = "lakefs://repo/main";

test("processes that put and commit parts of one branch at once lose nothing that was acknowledged", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const WORKERS = 6, ROUNDS = 5;
  await Promise.all(Array.from({ length: WORKERS }, async (_, worker) => {
    for (let round = 0; round < ROUNDS; round++) {
      await home.ok(["put", `${MAIN}/w${worker}/f${round}`, "-"], { stdin: `${worker} ${round}` });
      await home.ok(["put", `${MAIN}/shared/w${worker}`, "-"], { stdin: `${worker} ${round}` });
      const { code, stderr } = await home.run(["commit", MAIN, "-m", `w${worker}`, "--path", `w${worker}/`]);
      assert.equal(code, 0, stderr);
    }
  }));
  const committed = await home.json(["ls", "-r", `${MAIN}@`]) as { path: string }[];
  assert.equal(committed.length, WORKERS * ROUNDS);
  const staged = await home.json(["status", MAIN]) as { path: string }[];
  assert.deepEqual(staged.map(({ path }) => path), Array.from({ length: WORKERS }, (_, i) => `shared/w${i}`));
  for (let worker = 0; worker < WORKERS; worker++) {
    assert.equal(await home.text(["cat", `${MAIN}/shared/w${worker}`]), `${worker} ${ROUNDS - 1}`);
  }
  await home.ok(["commit", MAIN, "-m", "the rest"]);
  assert.equal((await home.json(["log", MAIN]) as unknown[]).length, WORKERS * ROUNDS + 2);
});

test("bisect run finds a fault by a script that reads each commit with tarn itself, whatever home was named", async (t) => {
  const home = openHome(t);
  const put = async (path: string, text: string) => {
    await home.ok(["put", `${MAIN}/${path}`, "-"], { stdin: text });
    return (await home.json(["commit", MAIN, "-m", `${path} ${text}`])).id as string;
  };
  await home.ok(["repo", "create", "lakefs://repo"]);
  const ids: string[] = [];
  for (let i = 0; i < 9; i++) ids.push(await put("table.csv", i < 6 ? `fine ${i}\n` : `broken ${i}\n`));
  const script = join(home.folder, "check.sh");
  writeFileSync(script, '#!/bin/sh\n"$TARN" cat "$TARN_URI/table.csv" | grep -q fine\n', { mode: 0o755 });
  const search = ["bisect", "run", MAIN, "--good", ids[0]!, "--", script];
  const env = { TARN: binaryPath() };
  const { stdout, stderr } = await home.ok(search, { env });
  assert.equal(stdout.toString(), `lakefs://repo/${ids[6]}\n`);
  assert.match(stderr, /^Testing [0-9a-f]{12}, one of 8 commits: table\.csv/);
  const elsewhere = join(home.folder, "elsewhere");
  mkdirSync(elsewhere);
  const named = await home.ok(["--home", home.path, ...search], { env: { ...env, TARN_HOME: elsewhere } });
  assert.equal(named.stdout.toString(), `lakefs://repo/${ids[6]}\n`);
  const items = await home.json(["blame", `${MAIN}/table.csv`]);
  assert.deepEqual(items.map(({ commit_id }: { commit_id: string }) => commit_id), [ids[8]]);
});

test("a patch of a diff makes the older files the newer ones", async (t) => {
  if (!requireTool(t, "patch")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`);
  const put = async (contents: Record<string, string>) => {
    for (const [path, text] of Object.entries(contents)) {
      await home.ok(["put", `${MAIN}/${path}`, "-"], { stdin: text });
    }
    await home.ok(["commit", MAIN, "-m", "m"]);
  };
  await put({ "d/a": `${lines.join("\n")}\n`, b: "no end", c: "1\n2\n" });
  const changed = lines.filter((_, i) => i % 17 !== 3).map((line, i) => i % 11 === 5 ? `${line}!` : line);
  await home.ok(["rm", `${MAIN}/c`]);
  await put({ "d/a": `new\n${changed.join("\n")}`, b: "with end\n", new: "n\n" });
  const older = join(home.folder, "older"), newer = join(home.folder, "newer");
  await home.ok(["get", "lakefs://repo/main~1", older, "-r"]);
  await home.ok(["get", MAIN, newer, "-r"]);
  const patch = await home.text(["diff", "lakefs://repo/main~1", MAIN, "--patch"]);
  const ran = spawnSync("patch", ["-p1", "--silent"], { cwd: older, input: patch, encoding: "utf8" });
  assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`);
  for (const name of ["d/a", "b", "new"]) {
    assert.equal(readFileSync(join(older, name), "utf8"), readFileSync(join(newer, name), "utf8"), name);
  }
  assert.throws(() => readFileSync(join(older, "c")));
});

test("a branch whose name was used for others since comes back with its staged changes", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["branch", "lakefs://repo/x", "main"]);
  await home.ok(["put", "lakefs://repo/x/a", "-"], { stdin: "first" });
  await home.ok(["branch", "delete", "lakefs://repo/x", "--yes"]);
  await home.ok(["tag", "lakefs://repo/x", "main"]);
  await home.ok(["tag", "delete", "lakefs://repo/x"]);
  await home.ok(["branch", "create", "lakefs://repo/x", "main"]);
  await home.ok(["branch", "delete", "lakefs://repo/x"]);
  const deleted = await home.json(["reflog", "lakefs://repo/x", "--deleted"]) as {
    id: string;
    operation: string;
  }[];
  assert.deepEqual(deleted.map(({ operation }) => operation), [
    "branch delete",
    "tag delete",
    "branch delete",
  ]);
  await home.ok(["branch", "restore", "lakefs://repo/x", "--id", deleted[0]!.id]);
  assert.equal(await home.text(["cat", "lakefs://repo/x/a"]), "first");
});
