/** Conflicts through the executable: previewed, resolved, merged by drivers; squashed merges; staged changes that stay. */

import assert from "node:assert/strict";
import { chmodSync, cpSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Home, openHome } from "../support/home.ts";
import type { Ending } from "../support/temporary.ts";

const SIDES = ["lakefs://repo/side", "lakefs://repo/main"];

/** Makes `main` and `side`, both of which changed `a` and `b.json`. */
async function withConflicts(t: Ending): Promise<Home> {
  const home = openHome(t);
  const put = (branch: string, path: string, text: string) =>
    home.ok(["put", `lakefs://repo/${branch}/${path}`, "-"], { stdin: text });
  const commit = (branch: string) => home.ok(["commit", `lakefs://repo/${branch}`, "-m", branch]);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await put("main", "a", "base");
  await put("main", "b.json", '{"x":1,"y":1}');
  await commit("main");
  await home.ok(["branch", "lakefs://repo/side", "--from", "main"]);
  await put("side", "a", "source");
  await put("side", "b.json", '{"x":2,"y":1}');
  await put("side", "c", "source");
  await commit("side");
  await put("main", "a", "destination");
  await put("main", "b.json", '{"x":1,"y":2}');
  await commit("main");
  return home;
}

/** Returns every file of the home's storage, which is where a merge would write. */
function storedFiles(home: Home): string[] {
  return readdirSync(join(home.path, "storage"), { recursive: true, encoding: "utf8" }).sort();
}

test("a preview lists both conflicts with three sides, exits with 4, and writes no file and no commit", async (t) => {
  const home = await withConflicts(t);
  const before = storedFiles(home), log = await home.text(["log", "lakefs://repo/main", "--json"]);
  const drivers = ["--driver", "*.json=json"];
  const plain = await home.run(["merge", ...SIDES, "--preview", "--json"]);
  assert.equal(plain.code, 4, plain.stderr);
  const { conflicts, summary } = JSON.parse(plain.stdout.toString());
  assert.deepEqual(conflicts.map(({ path }: { path: string }) => path), ["a", "b.json"]);
  assert.deepEqual(Object.keys(conflicts[0]), ["path", "base", "source", "destination"]);
  assert.equal(summary.conflict, 2);
  assert.equal((await home.run(["merge", ...SIDES, "--preview", ...drivers, "--resolve", "a=dest"])).code, 0);
  assert.deepEqual(storedFiles(home), before);
  assert.equal(await home.text(["log", "lakefs://repo/main", "--json"]), log);
});

test("a merge with a resolution, a driver and a strategy lands as one commit that another command reads", async (t) => {
  const home = await withConflicts(t);
  const rules = join(home.folder, "rules");
  writeFileSync(rules, "# by hand\na=source\n");
  const left = await home.run(["merge", ...SIDES, "--resolve-from", rules]);
  assert.equal(left.code, 4);
  assert.match(left.stderr, /^tarn: .*"b\.json"\n.*--preview/);
  await home.ok(["merge", ...SIDES, "--resolve-from", rules, "--driver", "**/*.json=json"]);
  assert.equal(await home.text(["cat", "lakefs://repo/main/a"]), "source");
  assert.equal(await home.text(["cat", "lakefs://repo/main/b.json"]), '{"x":2,"y":2}');
  assert.equal((await home.json(["log", "lakefs://repo/main"]))[0].parents.length, 2);
});

test("a program of the user's home merges; one that a home beside the data names is not run", async (t) => {
  const home = await withConflicts(t);
  const program = join(home.folder, "driver.sh"), proof = join(home.folder, "ran");
  writeFileSync(program, `#!/bin/sh\ntouch ${proof}\ncat "$2" "$3" > "$4"\n`);
  chmodSync(program, 0o755);
  writeFileSync(join(home.path, "merge_drivers"), `**=exec:${program}\n`);
  cpSync(home.path, join(home.folder, ".tarn"), { recursive: true });
  const found = await home.run(["merge", ...SIDES], { env: { TARN_HOME: "", HOME: home.folder } });
  assert.equal(found.code, 4, found.stderr);
  assert.match(found.stderr, /Not using ".*\.tarn\/merge_drivers"/);
  assert.ok(!existsSync(proof));
  await home.ok(["merge", ...SIDES]);
  assert.ok(existsSync(proof));
  assert.equal(await home.text(["cat", "lakefs://repo/main/a"]), "sourcedestination");
});

test("a squashed merge has one parent, and staged changes stay beside a merge that does not meet them", async (t) => {
  const home = await withConflicts(t);
  await home.ok(["put", "lakefs://repo/main/own", "-"], { stdin: "staged" });
  const merge = ["merge", ...SIDES, "--squash", "--strategy", "dest-wins"];
  assert.equal((await home.run(merge)).code, 4);
  await home.ok([...merge, "--keep-staged"]);
  const [head] = await home.json(["log", "lakefs://repo/main"]);
  assert.equal(head.parents.length, 1);
  assert.match(await home.text(["status", "lakefs://repo/main"]), /added\town/);
  assert.equal(await home.text(["cat", "lakefs://repo/main/c"]), "source");
  await home.ok(["commit", "lakefs://repo/main", "-m", "own"]);
  assert.equal(await home.text(["cat", "lakefs://repo/main/own"]), "staged");
});
