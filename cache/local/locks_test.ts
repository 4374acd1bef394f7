import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { Locks } from "./locks.ts";

const PROGRAM = fileURLToPath(new URL("testdata/hold_lock.ts", import.meta.url));

const COUNTING = fileURLToPath(new URL("testdata/count_under_lock.ts", import.meta.url));
const PROCESSES = 4;
const TIMES = 250;

function testLocks(t: TestContext): { locks: Locks; folder: string } {
  const folder = join(temporaryFolder(t), "locks");
  return { folder, locks: locksIn(folder) };
}

function locksIn(folder: string): Locks {
  return new Locks(folder, (made) => fs.mkdirSync(made, { recursive: true }));
}

/** Starts a process that holds a lock, and waits until it does. */
async function holder(t: TestContext, folder: string, kind: "exclusive" | "shared"): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, folder, "x", kind], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stdout!.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
  return child;
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

describe("Locks", () => {
  it("let one holder in at a time, first come, first served", async (t) => {
    const { locks } = testLocks(t);
    const order: string[] = [];
    let inside = 0;
    await Promise.all(["a", "b", "c", "d"].map((name) =>
      locks.holding("x", async () => {
        assert.equal(++inside, 1);
        order.push(name);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside--;
      })
    ));
    assert.deepEqual(order, ["a", "b", "c", "d"]);
  });

  it("let those in together that share, and nobody pass one that waits", async (t) => {
    const { locks } = testLocks(t);
    const first = await locks.take("x", { shared: true });
    const second = await locks.take("x", { shared: true });
    const order: string[] = [];
    const alone = locks.take("x").then((lock) => (order.push("alone"), lock));
    const late = locks.take("x", { shared: true }).then((lock) => (order.push("late"), lock));
    assert.equal(await locks.tryTake("x", { shared: true }), undefined);
    first.release();
    second.release();
    (await alone).release();
    (await late).release();
    assert.deepEqual(order, ["alone", "late"]);
  });

  it("hold between those that know nothing of each other", async (t) => {
    const { locks, folder } = testLocks(t);
    const others = locksIn(folder);
    const lock = await locks.take("x");
    assert.equal(await others.tryTake("x"), undefined);
    assert.equal(await others.tryTake("x", { shared: true }), undefined);
    (await others.take("y")).release();
    const waiting = others.take("x");
    lock.release();
    (await waiting).release();
    const [a, b] = [await locks.take("x", { shared: true }), await others.take("x", { shared: true })];
    assert.equal(await locks.tryTake("x"), undefined);
    a.release();
    b.release();
  });

  it("hold between threads", async (t) => {
    const { locks, folder } = testLocks(t);
    const lock = await locks.take("x");
    const thread = new Worker(PROGRAM, { argv: [folder, "x", "exclusive"], workerData: "thread" });
    t.after(async () => void await thread.terminate());
    let isHeld = false;
    const held = new Promise<void>((resolve) => thread.once("message", () => (isHeld = true, resolve())));
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.equal(isHeld, false);
    lock.release();
    await held;
    assert.equal(await locks.tryTake("x"), undefined);
  });

  it("hold between processes, and pass on when their holder is killed", async (t) => {
    const { locks, folder } = testLocks(t);
    const child = await holder(t, folder, "exclusive");
    assert.equal(await locks.tryTake("x"), undefined);
    assert.equal(await locks.tryTake("x", { shared: true }), undefined);
    const waiting = locks.take("x");
    child.kill("SIGKILL");
    await ended(child);
    (await waiting).release();
    assert.deepEqual(fs.readdirSync(folder), []);
  });

  it("are shared between processes", async (t) => {
    const { locks, folder } = testLocks(t);
    const child = await holder(t, folder, "shared");
    (await locks.take("x", { shared: true })).release();
    assert.equal(await locks.tryTake("x"), undefined);
    assert.deepEqual(fs.readdirSync(folder), ["x"], "the other one still needs its file");
    child.kill("SIGKILL");
    await ended(child);
    (await locks.take("x")).release();
  });

  it("leave no file behind, and sweep what killed holders left, not what is held", async (t) => {
    const { locks, folder } = testLocks(t);
    (await locks.take("a")).release();
    (await locks.take("b", { shared: true, note: "b" })).release();
    assert.deepEqual(fs.readdirSync(folder), []);
    fs.writeFileSync(join(folder, "left"), "");
    const held = await locks.take("held");
    await locks.sweep();
    assert.deepEqual(fs.readdirSync(folder), ["held"]);
    held.release();
  });

  it("end a wait by its signal, and let those behind go on", async (t) => {
    const { locks, folder } = testLocks(t);
    const held = await locks.take("x", { shared: true });
    await assert.rejects(locks.take("x", { signal: AbortSignal.timeout(20) }), { code: "canceled" });
    const stopping = locks.take("x", { signal: AbortSignal.timeout(20) });
    const behind = locks.take("x", { shared: true });
    await assert.rejects(stopping, { code: "canceled" });
    (await behind).release();
    await assert.rejects(locksIn(folder).take("x", { signal: AbortSignal.timeout(20) }), {
      code: "canceled",
    });
    held.release();
    (await locks.take("x")).release();
    await assert.rejects(locks.take("x", { signal: AbortSignal.abort() }), { code: "canceled" });
  });

  it("say what they were taken for", async (t) => {
    const { locks } = testLocks(t);
    const held = await locks.take("x", { shared: true, note: "of x" });
    const again = await locks.take("x", { shared: true, note: "of x" });
    assert.equal(locks.noteOf("x"), "of x");
    held.release();
    assert.equal(locks.noteOf("x"), "of x");
    again.release();
    assert.equal(locks.noteOf("x"), undefined);
  });

  it("never let two in, however their files come and go", async (t) => {
    const { folder } = testLocks(t);
    const counter = join(temporaryFolder(t), "counter");
    fs.writeFileSync(counter, "0");
    const runs = Array.from({ length: PROCESSES }, () => {
      const child = spawn(process.execPath, [COUNTING, folder, counter, String(TIMES)], { stdio: "inherit" });
      t.after(() => void child.kill("SIGKILL"));
      return new Promise<number | null>((resolve) => child.once("exit", resolve));
    });
    assert.deepEqual(await Promise.all(runs), runs.map(() => 0));
    assert.equal(fs.readFileSync(counter, "utf8"), String(PROCESSES * TIMES));
    assert.deepEqual(fs.readdirSync(folder), []);
  });
});
