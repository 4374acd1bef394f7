/** Many processes on one home at once, through the executable: none of what was acknowledged is lost. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openHome } from "../support/home.ts";

const WORKERS = 20;
const ROUNDS = 3;

test(`${WORKERS} processes put and commit on one branch at once: all is committed, and every object is there`, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: WORKERS }, async (_, i) => {
      await home.ok(["put", `lakefs://repo/main/r${round}/f${i}`, "-"], { stdin: `${round} ${i}` });
      const commit = await home.run(["commit", "lakefs://repo/main", "-m", `c${i}`]);
      // Another commit may have taken this change; then there is nothing left to commit.
      assert.ok(commit.code === 0 || commit.code === 6, commit.stderr);
    }));
    const listed = await home.json(["ls", "-r", `lakefs://repo/main@/r${round}/`]);
    assert.equal(listed.length, WORKERS);
  }
  // Each object is read and checked against its hash.
  await home.ok(["get", "lakefs://repo/main@/", join(home.folder, "got"), "-r"]);
  assert.deepEqual(await home.json(["status", "lakefs://repo/main"]), []);
});

test("first commands at once on a home that is not made yet all work", async (t) => {
  const home = openHome(t);
  await Promise.all(
    Array.from({ length: 6 }, (_, i) => home.ok(["repo", "create", `lakefs://repo-${i}`])),
  );
  assert.equal((await home.json(["repo", "list"])).length, 6);
});

test("merges of ten branches into one at once all land or say try again, and nothing is doubled", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/base", "-"], { stdin: "base" });
  await home.ok(["commit", "lakefs://repo/main", "-m", "base"]);
  for (let i = 0; i < 10; i++) {
    await home.ok(["branch", `lakefs://repo/b${i}`, "--from", "main"]);
    await home.ok(["put", `lakefs://repo/b${i}/f${i}`, "-"], { stdin: String(i) });
    await home.ok(["commit", `lakefs://repo/b${i}`, "-m", `b${i}`]);
  }
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, i) => home.run(["merge", `lakefs://repo/b${i}`, "lakefs://repo/main"])),
  );
  const landed = outcomes.filter(({ code }) => code === 0).length;
  for (const { code, stderr } of outcomes) assert.ok(code === 0 || code === 4, stderr);
  assert.equal((await home.json(["ls", "-r", "lakefs://repo/main"])).length, landed + 1);
  assert.equal((await home.json(["log", "lakefs://repo/main"])).length, landed + 2);
});
