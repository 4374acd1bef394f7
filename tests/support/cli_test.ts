import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import test from "node:test";
import { runTarn } from "./cli.ts";
import { temporaryFolder } from "./temporary.ts";

const options = { skip: process.platform === "win32" ? "needs a shell" : false };
const binary = "/bin/sh";

test("runTarn() gives code, exact output, working folder and environment", options, async (t) => {
  const cwd = temporaryFolder(t);
  const script = `pwd; printf '\\377\\0'; echo "$A-$HOME" >&2; cat; exit 7`;
  const result = await runTarn(["-c", script], { binary, cwd, env: { A: "1" }, stdin: "input" });
  assert.equal(result.code, 7);
  assert.equal(result.signal, null);
  assert.deepEqual([...result.stdout], [...Buffer.from(`${cwd}\n`), 0xff, 0, ...Buffer.from("input")]);
  assert.equal(result.stderr, "1-\n");
});

test("runTarn() feeds a stream, and bears a command that does not read it", options, async () => {
  async function* body() {
    const piece = Buffer.alloc(100_000, "x");
    for (let i = 0; i < 30; i++) yield piece;
  }
  const counted = await runTarn(["-c", "wc -c"], { binary, stdin: body(), env: { PATH: "/usr/bin:/bin" } });
  assert.equal(counted.stdout.toString().trim(), "3000000");
  const unread = await runTarn(["-c", "exit 0"], { binary, stdin: body() });
  assert.equal(unread.code, 0);
});

test("runTarn() kills after the time given, and only then", options, async () => {
  const killed = await runTarn(["-c", "echo before; while :; do :; done"], { binary, killAfterMs: 300 });
  assert.equal(killed.signal, "SIGKILL");
  assert.equal(killed.stdout.toString(), "before\n");
  const ended = await runTarn(["-c", "exit 3"], { binary, killAfterMs: 60_000 });
  assert.equal(ended.code, 3);
  const forever = runTarn(["-c", "while :; do :; done"], { binary, timeoutMs: 200 });
  await assert.rejects(forever, /had not ended after 200 ms/);
});
