/** Puts of several processes for the same names. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { commandOf } from "../../tests/support/scripts.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";

const PROCESSES = 3;
const KEYS = 600;
const MAX_TRIES = 20;

test("of racing processes one wins each put of mode if_absent", { timeout: 120_000 }, async (t) => {
  for (let tries = 1;; tries++) {
    const winningProcesses = await race(join(temporaryFolder(t), "root"));
    if (winningProcesses > 1) return;
    // On a busy machine the first may have ended before the others began; that was no race.
    assert.ok(tries < MAX_TRIES, "one process won all the time: nothing was tried");
  }
});

/** Lets processes race for all keys, holds the outcome to be right, and returns how many of them won any. */
async function race(root: string): Promise<number> {
  const racers = Array.from({ length: PROCESSES }, (_, i) => startRacer(root, `content ${i}`));
  await Promise.all(racers.map(({ isReady }) => isReady));
  const soon = Date.now() + 20;
  for (const { startAt } of racers) startAt(soon);
  const wins = await Promise.all(racers.map(({ won }) => won));
  const winners = new Map(wins.flatMap((keys, racer) => keys.map((key) => [key, racer] as const)));
  assert.equal(winners.size, KEYS, "each key was won");
  assert.equal(wins.flat().length, KEYS, "no key was won twice");
  for (const [key, racer] of winners) {
    assert.equal(readFileSync(join(root, "raced", String(key)), "utf8"), `content ${racer}`);
  }
  assert.equal(readdirSync(join(root, "raced")).length, KEYS, "nothing temporary stays");
  return wins.filter((keys) => keys.length > 0).length;
}

function startRacer(root: string, content: string) {
  const script = fileURLToPath(new URL("testdata/put_if_absent.ts", import.meta.url));
  const [command, ...args] = commandOf(script, root, String(KEYS), content);
  const child = spawn(command!, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ready = Promise.withResolvers<void>();
  const done = Promise.withResolvers<number[]>();
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.includes("\n")) ready.resolve();
  });
  child.on("close", () => {
    const [, answer] = output.split("\n");
    if (answer) done.resolve(JSON.parse(answer));
    else done.reject(new Error("a process ended early"));
  });
  return {
    isReady: ready.promise,
    startAt: (time: number) => void child.stdin.write(`${time}\n`),
    won: done.promise,
  };
}
