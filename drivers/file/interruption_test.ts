/** What a full disk or a kill leaves behind, each tried on a process of its own. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { equalBytes } from "../../base/bytes.ts";
import { collect } from "../../tests/conformance/object_store_support.ts";
import { commandOf } from "../../tests/support/scripts.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openFileObjectStore } from "./mod.ts";

const RUNS = 20;
const options = {
  skip: process.platform === "win32" ? "needs a POSIX shell and kill -9" : false,
  timeout: 120_000,
};
const fullDisk = {
  ...options,
  skip: options.skip || ("Deno" in globalThis ? "Deno gives this error no code" : false),
};

function script(name: string): string {
  return fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
}

test("a put that meets a full disk is storage_full and leaves nothing", fullDisk, (t) => {
  const root = join(temporaryFolder(t), "root");
  // A limit on the size of files stands in for the full disk: writes fail half-way in the same manner.
  const limited = `trap '' XFSZ; ulimit -f 1000; exec "$@"`;
  const child = spawnSync("sh", ["-c", limited, "sh", ...commandOf(script("put_large.ts"), root)], {
    encoding: "utf8",
  });
  assert.equal(child.status, 0, child.stderr);
  const { outcomes, left } = JSON.parse(child.stdout) as { outcomes: string[]; left: string[] };
  assert.equal(outcomes.length, 6);
  for (const outcome of outcomes) {
    assert.match(outcome, /^unavailable storage_full: Cannot write to "local:[^"]*": /);
  }
  assert.deepEqual(left, ["old/small 10"]);
});

test("a kill loses no put that has returned and shows no half of another", options, async (t) => {
  let acknowledgedKeys = 0;
  for (let run = 0; run < RUNS; run++) {
    const root = join(temporaryFolder(t), "root");
    const acknowledged = await putUntilKilled(root, 1 + run * 5);
    const found = await contentOf(root);
    for (const [key, bytes] of found) {
      // An unfinished fresh object may lie under its name: nobody was told of it.
      if (!acknowledged.has(key) && key.startsWith("fresh/")) continue;
      const generation = bytes[0]!;
      const whole = new Uint8Array(1 + generation * 4001).fill(generation);
      assert.ok(equalBytes(bytes, whole), `${key} is torn`);
    }
    for (const [key, generations] of acknowledged) {
      const last = generations.at(-1)!;
      const [generation] = found.get(key) ?? [];
      // The next put of the same key, five rounds of three later, may have landed without an answer.
      const isKept = generation === last || generation === (last + 15) % 200;
      assert.ok(isKept, `${key} has ${generation} after ${last} was acknowledged`);
    }
    acknowledgedKeys += acknowledged.size;
  }
  assert.ok(acknowledgedKeys >= RUNS, "no put returned before a kill: nothing was tried");
});

async function contentOf(root: string): Promise<Map<string, Uint8Array>> {
  const store = openFileObjectStore({ root, address: "local://killed" });
  const found = new Map<string, Uint8Array>();
  for await (const page of store.pages()) {
    for (const { key } of page.objects) found.set(key, await collect((await store.get(key)).body));
  }
  return found;
}

/** Runs the script, kills it soon after so many puts have returned, and returns the generations put for each key. */
async function putUntilKilled(root: string, puts: number): Promise<Map<string, number[]>> {
  const [command, ...args] = commandOf(script("put_for_ever.ts"), root);
  const child = spawn(command!, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    // The delay takes the kill to other places of a put than the one right behind an answer.
    if (output.split("\n").length > puts) setTimeout(() => child.kill("SIGKILL"), puts % 9);
  });
  await new Promise((resolve) => child.on("close", resolve));
  assert.equal(child.signalCode, "SIGKILL");
  const acknowledged = new Map<string, number[]>();
  for (const line of output.split("\n").slice(0, -1)) {
    const [, key, generation] = line.split(" ");
    acknowledged.set(key!, [...acknowledged.get(key!) ?? [], Number(generation)]);
  }
  return acknowledged;
}
