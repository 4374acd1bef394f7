import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { binaryPath, type BinaryRun, runBinary } from "../support/binary.ts";
import { type Ending, temporaryFolder } from "../support/temporary.ts";

/** A folder that holds the executable and nothing else, and a way to run it there with an empty environment. */
function aloneInFolder(t: Ending): { folder: string; tarn: (...args: string[]) => BinaryRun } {
  const folder = temporaryFolder(t);
  const program = join(folder, "tarn");
  copyFileSync(binaryPath(), program);
  return { folder, tarn: (...args) => runBinary(args, { folder, program }) };
}

function succeeded({ exitCode, stdout, stderr }: BinaryRun): string {
  assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
  return stdout;
}

test("the executable alone in a folder, with an empty environment, does the main job", (t) => {
  const { folder, tarn } = aloneInFolder(t);
  const home = join(folder, "home");
  assert.match(succeeded(tarn("version")), /^tarn \d+\.\d+\.\d+/);
  succeeded(tarn("--home", home, "init"));
  succeeded(tarn("--home", home, "repo", "create", "lakefs://smoke"));
  writeFileSync(join(folder, "file"), "first");
  succeeded(tarn("--home", home, "put", "lakefs://smoke/main/file", "file"));
  succeeded(tarn("--home", home, "commit", "lakefs://smoke/main", "-m", "First"));
  succeeded(tarn("--home", home, "branch", "lakefs://smoke/side", "--from", "main"));
  writeFileSync(join(folder, "file"), "second");
  succeeded(tarn("--home", home, "put", "lakefs://smoke/side/file", "file"));
  succeeded(tarn("--home", home, "commit", "lakefs://smoke/side", "-m", "Second"));
  assert.match(succeeded(tarn("--home", home, "diff", "lakefs://smoke/main", "lakefs://smoke/side")), /file/);
  succeeded(tarn("--home", home, "merge", "lakefs://smoke/side", "lakefs://smoke/main"));
  assert.equal(succeeded(tarn("--home", home, "cat", "lakefs://smoke/main/file")), "second");
  assert.equal(succeeded(tarn("--home", home, "cat", "lakefs://smoke/main~1/file")), "first");
});

test("files in the working folder that Bun would read change nothing", (t) => {
  const { folder, tarn } = aloneInFolder(t);
  const expected = succeeded(tarn("version"));
  const evil = join(folder, "evil");
  writeFileSync(join(folder, ".env"), `TARN_HOME=${evil}\nTARN_USER=evil\nHOME=${evil}\n`);
  writeFileSync(join(folder, ".env.production"), `TARN_HOME=${evil}\n`);
  writeFileSync(
    join(folder, "bunfig.toml"),
    `preload = ["./preload.ts"]\n[run]\npreload = ["./preload.ts"]\n`,
  );
  writeFileSync(join(folder, "preload.ts"), `require("node:fs").mkdirSync(${JSON.stringify(evil)});`);
  writeFileSync(
    join(folder, "package.json"),
    `{"name":"evil","type":"module","imports":{"#x":"./preload.ts"}}`,
  );
  writeFileSync(join(folder, "tsconfig.json"), `{"compilerOptions":{"paths":{"*":["./preload.ts"]}}}`);
  mkdirSync(join(folder, "node_modules", "lmdb"), { recursive: true });
  writeFileSync(
    join(folder, "node_modules", "lmdb", "index.js"),
    `require("node:fs").mkdirSync(${JSON.stringify(evil)});`,
  );
  assert.equal(succeeded(tarn("version")), expected);
  succeeded(tarn("--home", join(folder, "home"), "init"));
  succeeded(tarn("--home", join(folder, "home"), "repo", "create", "lakefs://smoke"));
  assert.ok(!existsSync(evil));
});

test("a native part that somebody changed is not loaded but written again", (t) => {
  const { folder, tarn } = aloneInFolder(t);
  const home = join(folder, "home");
  succeeded(tarn("--home", home, "init"));
  succeeded(tarn("--home", home, "repo", "create", "lakefs://smoke"));
  const native = join(home, "native");
  assert.equal(readdirSync(native).length, 1);
  const [name] = readdirSync(native) as [string];
  writeFileSync(join(native, name), "no library");
  assert.match(succeeded(tarn("--home", home, "repo", "list")), /smoke/);
  assert.deepEqual(readdirSync(native), [name]);
});

test("a mistake gets one line on standard error, a stable exit code, and no stack", (t) => {
  const { folder, tarn } = aloneInFolder(t);
  succeeded(tarn("--home", join(folder, "home"), "init"));
  const { exitCode, stdout, stderr } = tarn(
    "--home",
    join(folder, "home"),
    "cat",
    "lakefs://missing/main/file",
  );
  assert.equal(exitCode, 3);
  assert.equal(stdout, "");
  assert.match(stderr, /^tarn: .*missing/);
  assert.ok(!/\n {4}at /.test(stderr), stderr);
});
