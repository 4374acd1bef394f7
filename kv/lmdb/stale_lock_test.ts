import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openLmdb } from "./mod.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/reader.ts", import.meta.url));
const P = utf8("partition");

async function makeStore(folder: string): Promise<void> {
  const store = await openLmdb(folder);
  await store.set(P, utf8("key"), utf8("value"));
  await store.close();
}

async function assertWorks(folder: string, maxReaders?: number): Promise<void> {
  const store = await openLmdb(folder, maxReaders === undefined ? {} : { maxReaders });
  assert.deepEqual((await store.get(P, utf8("key")))?.value, utf8("value"));
  await store.set(P, utf8("other"), utf8("value"));
  await store.close();
}

/** Returns a process that has the store open, and a snapshot. */
async function startReader(folder: string, maxReaders: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, folder, `${maxReaders}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("close", () => reject(new Error("it ended")));
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
}

test("the places of killed readers are taken back, however many there were", async (t) => {
  const folder = temporaryFolder(t);
  await makeStore(folder);
  rmSync(join(folder, "lock.mdb"));
  // As long as one is alive the table is not made anew; more are killed than there are places.
  const holder = await startReader(folder, 6);
  for (let round = 0; round < 6; round++) {
    const readers: ChildProcess[] = [];
    for (let i = 0; i < 4; i++) readers.push(await startReader(folder, 6));
    for (const reader of readers) await kill(reader);
  }
  await assertWorks(folder, 6);
  await kill(holder);
  await assertWorks(folder, 6);
});

test("a lock file that is empty, cut short, or holds anything is made anew by the first to open", async (t) => {
  const chance = seededRandomness(5);
  const damages: ((path: string) => void)[] = [
    (path) => truncateSync(path, 0),
    (path) => truncateSync(path, 100),
    (path) => writeFileSync(path, new Uint8Array(statSync(path).size)),
    (path) => writeFileSync(path, chance.bytes(statSync(path).size)),
    (path) => writeFileSync(path, chance.bytes(300_000)),
    (path) => writeFileSync(path, "x"),
    (path) => rmSync(path),
  ];
  for (const [at, damage] of damages.entries()) {
    const folder = temporaryFolder(t);
    await makeStore(folder);
    damage(join(folder, "lock.mdb"));
    await assertWorks(folder).catch((error) => assert.fail(`damage ${at}: ${error}`));
  }
});

test("a lock of ours that was left behind, whatever is in it, holds nobody up", async (t) => {
  const folder = temporaryFolder(t);
  await makeStore(folder);
  writeFileSync(join(folder, "writer.lock"), "left by a machine that lost power");
  await assertWorks(folder);
  rmSync(join(folder, "writer.lock"));
  await assertWorks(folder);
});
