/** Processes that share a cache, and are killed. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { contentOf, fetchAll, FOLDER, leftovers, openTestCache } from "./testing.ts";
import { isWhole, madeUpFiles } from "./testdata/made_up_files.ts";

const PROGRAM = fileURLToPath(new URL("testdata/fetch_folder.ts", import.meta.url));
const COUNT = 150;
const ROUNDS = 8;

interface Run {
  readonly child: ChildProcess;
  readonly started: Promise<void>;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

function fetchInProcess(root: string, version: string): Run {
  const child = spawn(process.execPath, [PROGRAM, root, version, String(COUNT)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const started = new Promise<void>((resolve) => child.stdout!.once("data", () => resolve()));
  child.stdout!.on("data", (data) => output += data);
  child.stderr!.on("data", (data) => output += data);
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.once("exit", (code) => resolve({ code, output }));
  });
  return { child, started, ended };
}

/** Reads all files of a folder over and over until it is told to stop; each must be whole. */
async function watch(folder: string, isOver: () => boolean): Promise<number> {
  let count = 0;
  while (!isOver()) {
    for (const [path, text] of Object.entries(quietly(() => contentOf(folder)))) {
      assert.ok(isWhole(text), `${path} is torn: ${text.slice(0, 40)}… of ${text.length}`);
      count++;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return count;
}

/** Files come and go under a reader. */
function quietly(read: () => Record<string, string>): Record<string, string> {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return {};
    throw error;
  }
}

describe("processes that fetch one folder", () => {
  it("both end well while a third is killed, and no file is torn at any time", async (t) => {
    const cache = await openTestCache(t);
    const folder = cache.parts.layout.contentOf(FOLDER);
    let isOver = false, killedBeforeTheEnd = 0;
    const watching = watch(folder, () => isOver);
    watching.catch(() => {});
    for (let round = 0; round < ROUNDS; round++) {
      const version = `v${round}`;
      const runs = [0, 1, 2].map(() => fetchInProcess(cache.root, version));
      const victim = runs[round % 3]!;
      await victim.started;
      await new Promise((resolve) => setTimeout(resolve, (round * 23) % 90));
      victim.child.kill("SIGKILL");
      if ((await victim.ended).code === null) killedBeforeTheEnd++;
      for (const run of runs.filter((run) => run !== victim)) {
        const { code, output } = await run.ended;
        assert.equal(code, 0, output);
      }
      assert.deepEqual(contentOf(folder), madeUpFiles(version, COUNT));
      assert.equal(await cache.cachedFolder(FOLDER), folder);
    }
    isOver = true;
    assert.ok(await watching > 0);
    assert.ok(killedBeforeTheEnd > ROUNDS / 2, `${killedBeforeTheEnd} were killed at work`);
    // Whoever writes next clears what the killed ones left.
    await fetchAll(cache, { a: "a" });
    await cache.close();
    assert.deepEqual(leftovers(cache), []);
  });

  it("one after the other, each killed, come to an end: what one has downloaded the next one has", async (t) => {
    const cache = await openTestCache(t);
    const folder = cache.parts.layout.contentOf(FOLDER);
    let kills = 0, downloads = 0;
    for (let pause = 30;; pause += 15) {
      const run = fetchInProcess(cache.root, "v1");
      await run.started;
      const timer = setTimeout(() => run.child.kill("SIGKILL"), pause);
      const { code, output } = await run.ended;
      clearTimeout(timer);
      if (code === 0) {
        downloads = Number(output.trim().split("\n").at(-1));
        break;
      }
      kills++;
      // One that was killed between the last step and its exit has left it whole: then it is.
      if (await cache.cachedFolder(FOLDER)) assert.deepEqual(contentOf(folder), madeUpFiles("v1", COUNT));
      assert.ok(kills < 100, output);
    }
    assert.ok(kills > 0);
    assert.ok(downloads < COUNT, `the last one downloaded ${downloads}`);
    assert.deepEqual(contentOf(folder), madeUpFiles("v1", COUNT));
    assert.ok(fs.existsSync(join(cache.root, ".provcat")));
  });
});
