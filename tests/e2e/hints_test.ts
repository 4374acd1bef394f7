/** Slips that people make, and the way out that they are told. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { type Home, openHome } from "../support/home.ts";

const MAIN = "lakefs://repo/main";

async function withRepo(t: TestContext): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", `${MAIN}/d/x`, "-"], { stdin: "x" });
  await home.ok(["branch", "lakefs://repo/a%2Fb", "--from", "main"]);
  return home;
}

/** Runs command lines that fail; each has to end with its hint. */
async function checkHints(
  home: Home,
  hints: readonly (readonly [line: string, hint: string])[],
): Promise<void> {
  for (const [line, hint] of hints) {
    const { code, stderr } = await home.run(line.split(" "));
    assert.notEqual(code, 0, line);
    assert.equal(stderr.split("\n").at(-2), `  ${hint}`, `${line}: ${stderr}`);
  }
}

it("a folder that is taken for an object is told, with what takes all of it", async (t) => {
  const takesAll = '"d/" is a folder: add -r to take all that is in it.';
  const shows = '"d/" is a folder: "tarn ls URI" shows what is in it.';
  await checkHints(await withRepo(t), [
    [`rm ${MAIN}/d/`, takesAll],
    [`rm ${MAIN}/d`, takesAll],
    [`get ${MAIN}/d/ .`, takesAll],
    [`mv ${MAIN}/d ${MAIN}/e`, takesAll],
    [`cp ${MAIN}/d ${MAIN}/e`, takesAll],
    [`cat ${MAIN}/d`, shows],
    [`stat ${MAIN}/d/`, shows],
    [`get ${MAIN} out`, "Add -r to take all its objects."],
    [`rm ${MAIN}/`, "Add -r to take all its objects."],
    [`cat ${MAIN}/`, '"tarn ls URI" shows its objects.'],
    [`cat ${MAIN}/d/xy`, 'Did you mean "d/x"?'],
  ]);
});

it("a slash in a branch's name is told as it is written", async (t) => {
  const hint = 'A slash in a name is written %2F. Did you mean "a%2Fb"?';
  await checkHints(await withRepo(t), [
    ["ls lakefs://repo/a/b/", hint],
    ["cat lakefs://repo/a/b/d/x", hint],
    ["put lakefs://repo/a/b/y /dev/null", hint],
    ["log lakefs://repo/a/b", hint],
  ]);
});

it("help is named with the verb that failed", async (t) => {
  await checkHints(await withRepo(t), [
    ["put", '"tarn help put" shows the forms that it takes.'],
    ["repo create", '"tarn help repo create" shows the forms that it takes.'],
    ["fs upload", '"tarn help put" shows the forms that it takes.'],
    ["xyzzy", '"tarn help" lists the verbs.'],
  ]);
});

it("get makes the folder that it writes to, as get -r does", async (t) => {
  const home = await withRepo(t);
  for (const [args, file] of [[["get"], "one/two/f"], [["get"], "three/"], [["cp"], "four/f"]] as const) {
    await home.ok([...args, `${MAIN}/d/x`, file]);
    const path = join(home.folder, file.endsWith("/") ? `${file}x` : file);
    assert.equal(fs.readFileSync(path, "utf8"), "x");
  }
  assert.equal((await home.run(["get", `${MAIN}/none`, "five/f"])).code, 3);
  assert.equal(fs.existsSync(join(home.folder, "five")), false);
});

it("pin --check says how a lock file is named, and what locks what has changed", async (t) => {
  const home = await withRepo(t);
  const { code, stderr } = await home.run(["pin", "--check", "own.lock"]);
  assert.equal(code, 2);
  assert.match(stderr, /"own\.lock" is no URI, and "--lock own\.lock" is how a lock file is named/);
  const file = `file://${home.folder}/f`;
  fs.writeFileSync(join(home.folder, "f"), "1");
  await home.ok(["pin", "--write", "tarn.lock", file]);
  fs.writeFileSync(join(home.folder, "f"), "2");
  const moved = await home.run(["pin", "--check"]);
  assert.equal(moved.code, 1);
  assert.match(
    moved.stdout.toString(),
    /has changed: its store keeps no versions, so what was locked is not there/,
  );
  assert.equal(moved.stderr, "To lock what is there now: tarn pin --write tarn.lock\n");
});
