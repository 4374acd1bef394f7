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

async function assertWorks(folder: string): Promise<void> {
  const store = await openLmdb(folder);
  assert.deepEqual((await store.get(P, utf8("key")))?.value, utf8("value"));
  await store.set(P, utf8("other"), utf8("value"));
  await store.close();
}

/** Returns a process that reads by LMDB, and keeps the pages of what it sees from being used again. */
async function startReader(folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, folder], { stdio: ["ignore", "pipe", "inherit"] });
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

test("a reader that was killed keeps no pages from being used again, though others live", async (t) => {
  const folder = temporaryFolder(t);
  await makeStore(folder);
  const values = Array.from(
    { length: 50 },
    (_, i) => ({ key: Uint8Array.of(i), value: new Uint8Array(4000) }),
  );
  const overwrite = async () => {
    const store = await openLmdb(folder);
    for (let i = 0; i < 60; i++) await store.setMany(P, values);
    await store.close();
    return statSync(join(folder, "data.mdb")).size;
  };
  // As long as one lives the table of readers is not made anew.
  const holder = await openLmdb(folder);
  await holder.set(P, utf8("held"), utf8("value"));
  const reader = await startReader(folder);
  // Sixty rounds take 12 MB while a reader pins their pages: so this can fail.
  const pinned = await overwrite();
  assert.ok(pinned > 10_000_000, `${pinned} bytes`);
  await kill(reader);
  const size = await overwrite();
  assert.ok(size < pinned + 2_000_000, `${size} bytes after ${pinned}`);
  await holder.close();
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
