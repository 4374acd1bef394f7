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

test("a home that has lost its marker alone is made one again", async (t) => {
  const home = await homeWithObject(t);
  const marker = join(home.path, "tarn-home.json");
  fs.rmSync(marker);
  const { code, stderr } = await home.run(["repo", "list"]);
  assert.equal(code, 2);
  const hint = /puts the file back: tarn (.*)\n/.exec(stderr.replace(/\n {2}(?=\S)/g, " "))?.[1];
  assert.equal(hint, `init --home ${home.path}`);
  const { restored, repositories } = await home.json(hint.split(" "), { env: { TARN_HOME: "" } });
  assert.deepEqual([restored, repositories], [true, 1]);
  assert.equal(await home.text(["cat", `${MAIN}/a`]), "of a");
  const again = await home.run(["init", "--json"]);
  assert.equal(JSON.parse(again.stderr).code, "home_exists");
});

test("what may not be a home is not made one for its looks", async (t) => {
  const home = await homeWithObject(t);
  const marker = join(home.path, "tarn-home.json"), data = join(home.path, "kv", "data.mdb");
  fs.rmSync(marker);
  const whole = fs.readFileSync(data);
  fs.writeFileSync(data, whole.subarray(0, 4096));
  const damaged = await home.run(["init", "--json"]);
  assert.equal(JSON.parse(damaged.stderr).code, "kv_corrupt");
  fs.writeFileSync(data, whole);
  fs.rmSync(join(home.path, "storage"), { recursive: true });
  const partial = await home.run(["init", "--json"]);
  assert.equal(JSON.parse(partial.stderr).code, "not_a_home");
  assert.ok(!fs.existsSync(marker));
});

test("a home that is named and not there is an error, and is made by what makes one", async (t) => {
  const home = openHome(t);
  const lines = ["repo list", `ls ${MAIN}/`, `put ${MAIN}/b -`, `get ${MAIN}/ got -r`, "ls"];
  for (const line of lines) {
    for (const [env, words] of [[{}, []], [{ TARN_HOME: "" }, ["--home", home.path]]] as const) {
      const { code, stderr } = await home.run([...line.split(" "), ...words, "--json"], { env });
      assert.deepEqual([code, JSON.parse(stderr).code], [3, "home_not_found"], line);
    }
  }
  assert.deepEqual(fs.readdirSync(home.folder), []);
  // A folder that is there and empty is no mistake: a home is to be made in it.
  fs.mkdirSync(home.path);
  assert.deepEqual(await home.json(["repo", "list"]), []);
  await home.ok(["repo", "create", "lakefs://repo"]);
  assert.match(await home.text(["repo", "list"]), /^repo\t/);
});

test("a home that nobody named is empty before the first repository", async (t) => {
  const { folder, run } = openHome(t);
  const { code, stdout } = await run(["repo", "list", "--json"], { env: { TARN_HOME: "", HOME: folder } });
  assert.deepEqual([code, JSON.parse(stdout.toString())], [0, []]);
});

test("an LMDB store that is named and not there is an error, and made by the first repository", async (t) => {
  const home = openHome(t);
  await home.ok(["init"]);
  const env = { TARN_KV: `lmdb:${join(home.folder, "kv")}` };
  const { code, stderr } = await home.run(["repo", "list", "--json"], { env });
  assert.deepEqual([code, JSON.parse(stderr).code], [3, "kv_missing"]);
  assert.equal((await home.run(["doctor"], { env })).code, 1);
  assert.deepEqual(fs.readdirSync(home.folder), ["home"]);
  await home.ok(["repo", "create", "lakefs://repo"], { env });
  assert.match(await home.text(["repo", "list"], { env }), /^repo\t/);
});

test("a ~ that the shell left is the user's folder, and never one of that name", posix, async (t) => {
  const { folder, run } = openHome(t);
  const env = { HOME: folder, TARN_HOME: "" };
  const made = await run(["init", "--home=~/mine", "--json"], { env });
  assert.equal(JSON.parse(made.stdout.toString()).home, join(folder, "mine"));
  assert.equal((await run(["repo", "list"], { env: { ...env, TARN_HOME: "~/mine" } })).code, 0);
  for (
    const [words, more] of [
      [["init", "--home=~nobody/x"], {}],
      [["repo", "create", "lakefs://repo"], { TARN_HOME: "~nobody" }],
      [["repo", "create", "lakefs://repo", "--home=~/mine"], { TARN_KV: "lmdb:~/kv" }],
    ] as const
  ) assert.equal((await run(words, { env: { ...env, ...more } })).code, 2, words.join(" "));
  assert.deepEqual(fs.readdirSync(folder), ["mine"]);
});

test("storage that may not be looked into is called that, and not missing", posix, async (t) => {
  const home = await homeWithObject(t);
  const run = bound(t, home);
  if (!run) return;
  const storage = join(home.path, "storage"), namespace = join(storage, fs.readdirSync(storage)[0]!);
  for (
    const [folder, said] of [
      [storage, /BAD {2}storage: the folders of "local:.*" may not be looked into\n/],
      [namespace, /BAD {2}storage: the folders of "local:.*" may not be looked into\n/],
      [join(namespace, "data"), /BAD {2}data: .* 1 of 1 object; on "main": .*: permission denied\n/],
      [join(namespace, "_lakefs"), /BAD {2}data: .*1 of 1 range and metarange file; .*: permission denied\n/],
    ] as const
  ) {
    fs.chmodSync(folder, 0);
    try {
      const doctor = run("doctor");
      assert.equal(doctor.exitCode, 1, folder);
      assert.match(doctor.stdout, said);
      const { exitCode, stderr } = run(`cat ${MAIN}/a --json`);
      assert.deepEqual([exitCode, JSON.parse(stderr).code], [5, "storage_forbidden"], folder);
    } finally {
      fs.chmodSync(folder, 0o700);
    }
  }
});
