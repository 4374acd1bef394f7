/**
 * kill -9 at random moments of repo create, put, commit and merge.
 *
 * After each kill the next command works, nothing that was acknowledged is missing, and a half-made repository is
 * invisible and its name free. The moments are spread over the time that the command takes when it is left alone.
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Home, openHome } from "../support/home.ts";

const KILLS = 60;
const FILES = 120;

/** Runs a command that is killed at a random moment of `typicalMs`; returns whether it was acknowledged. */
async function killed(home: Home, args: readonly string[], typicalMs: number): Promise<boolean> {
  const result = await home.run(args, { killAfterMs: Math.random() * typicalMs * 1.1 });
  assert.ok(result.signal === "SIGKILL" || result.code === 0, `exit ${result.code}: ${result.stderr}`);
  return result.code === 0;
}

async function duration(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Writes a folder whose files say what they are. */
function makeFolder(home: Home, version: string): string {
  const folder = join(home.folder, `files-${version}`);
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) writeFileSync(join(folder, `f${i}`), `${version} ${i}`);
  return folder;
}

async function paths(home: Home, ref: string): Promise<string[]> {
  return (await home.json(["ls", "-r", `lakefs://repo/${ref}`])).map(({ path }: { path: string }) => path);
}

/** Reads every object back: `get` checks each against its hash. */
async function checkReadable(home: Home, ref: string, run: number): Promise<void> {
  await home.ok(["get", `lakefs://repo/${ref}/`, join(home.folder, `got-${run}`), "-r"]);
}

test(`repo create killed ${KILLS} times: the name is free or the repository whole`, async (t) => {
  const home = openHome(t);
  const typical = await duration(() => home.ok(["repo", "create", "lakefs://first"]));
  let landed = 0;
  for (let i = 0; i < KILLS; i++) {
    const uri = `lakefs://repo-${i}`;
    const isAcknowledged = await killed(home, ["repo", "create", uri], typical);
    const again = await home.run(["repo", "create", uri]);
    assert.ok(again.code === 0 || again.code === 4, again.stderr);
    if (isAcknowledged) assert.equal(again.code, 4, "an acknowledged repository is gone");
    if (again.code === 4) landed++;
    assert.equal((await home.json(["log", `${uri}/main`])).length, 1);
  }
  t.diagnostic(`${landed} of ${KILLS} had landed`);
  assert.equal((await home.json(["repo", "list"])).length, KILLS + 1);
});

test(`put killed ${KILLS} times: what was acknowledged before stays, what shows is whole`, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/before", "-"], { stdin: "before" });
  const folder = makeFolder(home, "v");
  await home.ok(["branch", "lakefs://repo/timing", "--from", "main"]);
  const typical = await duration(() => home.ok(["put", "lakefs://repo/timing/", folder, "-r"]));
  for (let i = 0; i < KILLS; i++) {
    const isAcknowledged = await killed(home, ["put", `lakefs://repo/main/run-${i}/`, folder, "-r"], typical);
    const shown = (await paths(home, "main")).filter((path) => path.startsWith(`run-${i}/`));
    if (isAcknowledged) assert.equal(shown.length, FILES);
  }
  await checkReadable(home, "main", 0);
  assert.equal(await home.text(["cat", "lakefs://repo/main/before"]), "before");
});

test(`commit killed ${KILLS} times: every staged change is staged or committed, and the next commit takes it`, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/first", "-"], { stdin: "x" });
  const typical = await duration(() => home.ok(["commit", "lakefs://repo/main", "-m", "first"]));
  for (let i = 0; i < KILLS; i++) {
    await home.ok(["put", `lakefs://repo/main/f${i}`, "-"], { stdin: String(i) });
    const before = (await home.json(["log", "lakefs://repo/main"])).length;
    const isAcknowledged = await killed(home, ["commit", "lakefs://repo/main", "-m", `c${i}`], typical);
    const after = (await home.json(["log", "lakefs://repo/main"])).length;
    if (isAcknowledged) assert.equal(after, before + 1, "an acknowledged commit is gone");
    assert.equal(await home.text(["cat", `lakefs://repo/main/f${i}`]), String(i));
    const again = await home.run(["commit", "lakefs://repo/main", "-m", `c${i} again`]);
    assert.equal(again.code, after === before ? 0 : 6, again.stderr);
    assert.equal(await home.text(["cat", `lakefs://repo/main@/f${i}`]), String(i));
  }
  assert.equal((await paths(home, "main@")).length, KILLS + 1);
  await checkReadable(home, "main", 0);
});

test(`merge killed ${KILLS} times: the branch is as before or merged whole, and can be merged again`, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/f", "-"], { stdin: "0" });
  await home.ok(["commit", "lakefs://repo/main", "-m", "first"]);
  await home.ok(["branch", "lakefs://repo/side", "--from", "main"]);
  let typical = 0;
  for (let i = 0; i <= KILLS; i++) {
    for (const name of ["a", "b"]) {
      await home.ok(["put", `lakefs://repo/side/${name}${i}`, "-"], { stdin: String(i) });
    }
    await home.ok(["commit", "lakefs://repo/side", "-m", `side ${i}`]);
    await home.ok(["put", `lakefs://repo/main/m${i}`, "-"], { stdin: String(i) });
    await home.ok(["commit", "lakefs://repo/main", "-m", `main ${i}`]);
    const merge = ["merge", "lakefs://repo/side", "lakefs://repo/main"];
    if (i === 0) {
      typical = await duration(() => home.ok(merge));
      continue;
    }
    const isAcknowledged = await killed(home, merge, typical);
    const shown = await paths(home, "main");
    const both = [`a${i}`, `b${i}`].filter((path) => shown.includes(path)).length;
    assert.ok(both === 0 || both === 2, "a merge shows in part");
    if (isAcknowledged) assert.equal(both, 2, "an acknowledged merge is gone");
    assert.equal((await home.run(merge)).code, both === 2 ? 6 : 0);
  }
  assert.equal((await paths(home, "main")).length, 3 * (KILLS + 1) + 1);
  await checkReadable(home, "main", 0);
});
