/** Homes whose parts may not be read, or are not what they should be: each is told, none is called a bug or ends the process. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { binaryPath, type BinaryRun, runBinary } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { findTool, requireTool } from "../support/requires.ts";

const MAIN = "lakefs://repo/main";
const posix = { skip: process.platform === "win32" ? "needs POSIX permissions" : false };
const NOBODY = 65534;

async function homeWithObject(t: TestContext): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", `${MAIN}/a`, "-"], { stdin: "of a" });
  await home.ok(["commit", MAIN, "-m", "first"]);
  return home;
}

/** Runs a command as somebody whom permissions bind; `undefined` where that cannot be. */
function bound(t: TestContext, home: Home): ((line: string) => BinaryRun) | undefined {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && !requireTool(t, "setpriv")) return undefined;
  const by = isRoot ? [findTool("setpriv")!, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const give = (path: string) => {
    if (isRoot) fs.lchownSync(path, NOBODY, NOBODY);
    if (fs.lstatSync(path).isDirectory()) { for (const name of fs.readdirSync(path)) give(join(path, name)); }
  };
  give(home.folder);
  return (line) => {
    const [program, ...rest] = [...by, binaryPath(), ...line.split(" ")];
    return runBinary(rest, {
      program,
      folder: home.folder,
      environment: { TARN_HOME: home.path },
      input: "of b",
    });
  };
}

const LINES = ["repo list", `cat ${MAIN}/a`, `put ${MAIN}/b -`];

test("a key-value store that may not be looked into is forbidden", posix, async (t) => {
  const home = await homeWithObject(t);
  const run = bound(t, home);
  if (!run) return;
  const kv = join(home.path, "kv");
  fs.chmodSync(kv, 0);
  try {
    for (const line of LINES) {
      const { exitCode, stderr } = run(`${line} --json`);
      assert.deepEqual([exitCode, JSON.parse(stderr).code], [5, "kv_forbidden"], line);
    }
    const { exitCode, stdout } = run("doctor");
    assert.equal(exitCode, 1);
    assert.match(stdout, /BAD {2}key-value store: .*: permission denied\n {5}Check who may read/);
  } finally {
    fs.chmodSync(kv, 0o700);
  }
});

test("a file in the place of the key-value store is told", async (t) => {
  const home = await homeWithObject(t);
  fs.rmSync(join(home.path, "kv"), { recursive: true });
  fs.writeFileSync(join(home.path, "kv"), "x");
  for (const line of LINES) {
    const { code, stderr } = await home.run([...line.split(" "), "--json"], { stdin: "of b" });
    assert.deepEqual([code, JSON.parse(stderr).code], [2, "kv_no_folder"], line);
  }
  const { code, stdout } = await home.run(["doctor"]);
  assert.equal(code, 1);
  assert.match(stdout.toString(), /BAD {2}key-value store: .*: the place is not a folder\n/);
});

test("folders in the place of the key-value store's files end no process", async (t) => {
  for (const name of ["lock.mdb", "writer.lock", "data.mdb"]) {
    const home = await homeWithObject(t);
    const path = join(home.path, "kv", name);
    fs.rmSync(path);
    fs.mkdirSync(path);
    const put = await home.run(["put", `${MAIN}/b`, "-", "--json"], { stdin: "of b" });
    assert.deepEqual([put.code, JSON.parse(put.stderr).code], [10, "kv_corrupt"], name);
    const doctor = await home.run(["doctor"]);
    assert.equal(doctor.code, 1, name);
    assert.match(doctor.stdout.toString(), new RegExp(`BAD {2}key-value store: .*${name}" is no file`));
  }
});
