/** What a person does at the keyboard, and signals. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { binaryPath } from "../support/binary.ts";
import { openHome } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";

/** Runs a command of the shell on a terminal, types `keys` once it shows `when`, and returns what the terminal showed. */
async function typedAt(
  command: string,
  options: { home: string; when: RegExp; keys: string },
): Promise<string> {
  const child = spawn("script", ["-qec", `${command}; echo "exit $?"`, "/dev/null"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      TARN: binaryPath(),
      TARN_HOME: options.home,
      TERM: "xterm",
      NO_COLOR: "1",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "", isTyped = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (isTyped || !options.when.test(shown)) return;
    isTyped = true;
    child.stdin.write(options.keys);
  });
  await new Promise((resolve) => child.on("close", resolve));
  return shown.replaceAll("\r\n", "\n");
}

test("who puts from the keyboard is told how to end", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const put = { home: home.path, when: /Ctrl-D/, keys: "typed\n\x04" };
  const shown = await typedAt('"$TARN" put lakefs://repo/main/a - --no-progress', put);
  assert.match(shown, /^Reading what you type, until Ctrl-D on a line of its own\n/);
  assert.match(shown, /exit 0\n$/);
  assert.equal(await home.text(["cat", "lakefs://repo/main/a"]), "typed\n");
});

test("an interrupt's word stands in place of the progress line", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const put = 'trap : INT; (printf data; exec sleep 100) | "$TARN" put lakefs://repo/main/a -';
  const shown = await typedAt(put, { home: home.path, when: /Putting: /, keys: "\x03" });
  assert.match(shown, /\rPutting: [^\r]*\r\x1b\[Ktarn: Interrupted by SIGINT: [^\r]*exit 130\n$/);
});

test("a signal ends a command with 128 and its number", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    const child = spawn(binaryPath(), ["put", "lakefs://repo/main/a", "-"], {
      env: { TARN_HOME: home.path },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.stdin.on("error", () => {});
    // More than a pipe holds: once it is gone, the command is at work.
    await new Promise((resolve) => child.stdin.write(new Uint8Array(1_000_000), resolve));
    child.kill(signal);
    assert.equal(await ended, code, signal);
  }
});

test("a signal ends a get into a FIFO whose reader does not read", async (t) => {
  if (!requireTool(t, "mkfifo")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/a", "-"], { stdin: new Uint8Array(1_000_000) });
  const fifo = join(home.folder, "fifo");
  execFileSync("mkfifo", [fifo]);
  const reader = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  t.after(() => fs.closeSync(reader));
  const before = fs.readdirSync(home.folder);
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const child = spawn(binaryPath(), ["get", "lakefs://repo/main/a", fifo], {
      env: { TARN_HOME: home.path },
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.on("close", (code, killed) => resolve(code ?? killed)));
    while (!hasByte(reader)) await new Promise((resolve) => setTimeout(resolve, 5));
    // It has filled the FIFO, and waits.
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill(signal);
    const killer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    assert.equal(await ended, code);
    clearTimeout(killer);
    assert.deepEqual(fs.readdirSync(home.folder), before);
    while (hasByte(reader));
  }
});

/** Takes a byte out of a FIFO, if there is one. */
function hasByte(descriptor: number): boolean {
  try {
    return fs.readSync(descriptor, new Uint8Array(1)) > 0;
  } catch (error) {
    if ((error as { code?: string }).code === "EAGAIN") return false;
    throw error;
  }
}
