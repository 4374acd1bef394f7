/**
 * Homes of other formats. `fixtures/home_format_1.tar.gz` was made by the executable as it was before values in LMDB had
 * seals: 30 files committed on main, a branch merged into it, a tag, and two staged changes that were kept.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Home, openHome } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";
import type { Ending } from "../support/temporary.ts";

const FIXTURE = fileURLToPath(new URL("./fixtures/home_format_1.tar.gz", import.meta.url));
const MAIN = "lakefs://old-repo/main";
const COMMITS = [
  "7f06f844a9167fd61beb6acb4b8925f0b6c87e2943e8479845593f673ff52fbb",
  "6b5170c92d9b3c0fa46df931a704ff29ada23a6ddbade43f4525cf54f4b98116",
  "86444aae944afeb52f61677fcfea6f440be168e2b172c2af432696ca423b1023",
];

function openOldHome(t: Ending): Home {
  const home = openHome(t);
  fs.mkdirSync(home.path, { mode: 0o700 });
  execFileSync("tar", ["-xzf", FIXTURE, "-C", home.path, "--no-same-owner"]);
  return home;
}

function formatOf(home: Home): unknown {
  return JSON.parse(fs.readFileSync(join(home.path, "tarn-home.json"), "utf8")).format;
}

async function assertReads(home: Home, staged: readonly string[]): Promise<void> {
  assert.deepEqual((await home.json(["log", MAIN])).map(({ id }: { id: string }) => id), COMMITS);
  const status = await home.json(["status", MAIN]);
  assert.deepEqual(status.map(({ path, type }: { path: string; type: string }) => `${type} ${path}`), staged);
  const paths = (await home.json(["ls", "-r", "lakefs://old-repo/main@"])).map(({ path }: { path: string }) =>
    path
  );
  assert.equal(paths.length, 30);
  assert.ok(!paths.includes("a/sub/f3"));
  assert.equal(await home.text(["cat", `${MAIN}/a/sub/f2`]), "file 2\n");
  assert.equal(await home.text(["cat", `${MAIN}/later`]), "later\n");
  assert.equal(await home.text(["cat", "lakefs://old-repo/v1/a/sub/f3"]), "file 3\n");
}

const STAGED = ["removed a/sub/f1", "added later"];

test("a home of format 1 reads the same, and becomes one of format 2 by the first command that writes", async (t) => {
  if (!requireTool(t, "tar")) return;
  const home = openOldHome(t);
  const database = join(home.path, "kv", "data.mdb");
  const before = fs.readFileSync(database);
  await assertReads(home, STAGED);
  assert.equal(formatOf(home), 1);
  assert.ok(fs.readFileSync(database).equals(before), "reading changes nothing");
  await home.ok(["put", `${MAIN}/new`, "-"], { stdin: "new" });
  assert.equal(formatOf(home), 2);
  await assertReads(home, [...STAGED, "added new"]);
  await home.ok(["commit", MAIN, "-m", "after"]);
  assert.equal((await home.json(["log", MAIN]))[1].id, COMMITS[0]);
});

test("kill -9 at any moment of the command that upgrades a home loses nothing", async (t) => {
  if (!requireTool(t, "tar")) return;
  const formats = new Set<unknown>();
  for (let run = 0; run < 12; run++) {
    const home = openOldHome(t);
    await home.run(["put", `${MAIN}/new`, "-"], { stdin: "new", killAfterMs: 15 * (run + 1) });
    formats.add(formatOf(home));
    assert.equal(await home.text(["cat", `${MAIN}/later`]), "later\n");
    await home.ok(["put", `${MAIN}/new`, "-"], { stdin: "new" });
    assert.equal(formatOf(home), 2);
    await assertReads(home, [...STAGED, "added new"]);
  }
  t.diagnostic(`left at formats ${[...formats].join(", ")}`);
});

test("a home that was marked but not sealed, as a kill in between leaves it, is sealed by the next write", async (t) => {
  if (!requireTool(t, "tar")) return;
  const home = openOldHome(t);
  fs.writeFileSync(join(home.path, "tarn-home.json"), '{"format":2}\n');
  await assertReads(home, STAGED);
  await home.ok(["put", `${MAIN}/new`, "-"], { stdin: "new" });
  await assertReads(home, [...STAGED, "added new"]);
});

test("a home of a later format is refused by every command, named with both formats, and nothing is written", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  fs.writeFileSync(join(home.path, "tarn-home.json"), '{"format":3}\n');
  const files = () =>
    fs.readdirSync(home.path, { recursive: true, encoding: "utf8" }).sort().map((name) => {
      const { mtimeMs, size } = fs.statSync(join(home.path, name));
      return `${name} ${mtimeMs} ${size}`;
    });
  const before = files();
  const commands = [["log", "lakefs://repo/main"], ["repo", "list"], ["put", "lakefs://repo/main/k", "-"], [
    "repo",
    "create",
    "lakefs://other",
  ], ["commit", "lakefs://repo/main", "-m", "m"]];
  for (const command of commands) {
    const { code, stderr } = await home.run(command);
    assert.equal(code, 9, stderr);
    assert.match(stderr, /its format is 3, and this version knows 2\n.*newer/s);
  }
  assert.deepEqual(files(), before);
  assert.match(await home.text(["version"]), /unusable: .*its format is 3/);
});

test("version names the key-value store without opening it, and shows no password", async (t) => {
  const home = openHome(t);
  assert.doesNotMatch(await home.text(["version"]), /^kv:/m);
  await home.ok(["init"]);
  const own = await home.json(["version"]);
  assert.deepEqual(own.kv, { driver: "lmdb", address: `lmdb:${join(home.path, "kv")}` });
  assert.deepEqual(fs.readdirSync(join(home.path, "kv")), []);
  const env = { TARN_KV: "postgres://user:secret@nowhere.invalid/db" };
  const named = await home.ok(["version"], { env });
  assert.match(named.stdout.toString(), /^kv: postgres:\/\/user@nowhere\.invalid\/db$/m);
  fs.writeFileSync(join(home.path, "config.yaml"), "kv: {driver: dynamodb, table: tarn}\n");
  assert.equal((await home.json(["version"])).kv.driver, "dynamodb");
  fs.writeFileSync(join(home.path, "config.yaml"), "kv: nonsense\n");
  assert.match(await home.text(["version"]), /^kv: unusable: /m);
});
