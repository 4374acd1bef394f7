import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import {
  commit,
  testClock,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";
import { EngineTasks } from "./tasks.ts";
import { Repository } from "../repository.ts";
import { Repositories } from "../refs/mod.ts";

const COMMIT = { kind: "commit", branch: "main", options: { message: "m", committer: WHO } } as const;

async function ended(store: Pick<Store, "tasks">, id: string) {
  for (let look = 0; look < 1000; look++) {
    const task = await store.tasks!.get("repo", id);
    if (task.state !== "running") return task;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("the task does not end");
}

/** Two processes of one home; the work of the first one waits for `go`. */
async function twoProcesses() {
  const clock = testClock();
  const engine = await withRepository(testEngine({ kv: openMemoryKv(), clock }));
  const open = async () => {
    const record = await new Repositories(engine.kv).get("repo");
    return new Repository(engine.context, record, engine.objects);
  };
  let go = () => {};
  const gate = new Promise<void>((resolve) => go = resolve);
  let signal: AbortSignal | undefined;
  const slow: Pick<Store, "commit" | "merge"> = {
    async commit(repository, branch, options) {
      signal = options.signal;
      await gate;
      return await engine.store.commit(repository, branch, options);
    },
    merge: (...args) => engine.store.merge(...args),
  };
  return {
    ...engine,
    clock,
    go,
    slow: new EngineTasks(open, slow),
    other: engine.store.tasks!,
    signal: () => signal,
  };
}

test("a task does its work and tells what it made", async () => {
  const { store } = await withRepository();
  await write(store, "main", { a: "1" });
  const id = await store.tasks!.start("repo", COMMIT);
  const done = await ended(store, id);
  assert.deepEqual([done.state, done.kind, done.branch], ["done", "commit", "main"]);
  assert.equal(done.commitId, await store.resolve("repo", "main"));
  await store.createBranch("repo", "work", "main", WHO);
  await commit(store, "work", { b: "1" });
  const work = { kind: "merge", source: "work", branch: "main", options: { committer: WHO } } as const;
  const merged = await ended(store, await store.tasks!.start("repo", work));
  assert.deepEqual([merged.commitId, merged.source], [await store.resolve("repo", "main"), "work"]);
  assert.equal(store.tasks!.running, 0);
});

test("a task that fails tells why, and one that cannot begin is none", async () => {
  const { store } = await withRepository();
  const failed = await ended(store, await store.tasks!.start("repo", COMMIT));
  assert.deepEqual([failed.state, failed.error!.kind, failed.error!.code], [
    "failed",
    "invalid",
    "no_changes",
  ]);
  const nowhere = { ...COMMIT, branch: "nowhere" };
  await assert.rejects(store.tasks!.start("repo", nowhere), { code: "branch_not_found" });
  const merge = { kind: "merge", source: "none", branch: "main", options: { committer: WHO } } as const;
  await assert.rejects(store.tasks!.start("repo", merge), { code: "ref_not_found" });
  for (const id of ["", "x", "../metadata", "0".repeat(26)]) {
    await assert.rejects(store.tasks!.get("repo", id), { code: "task_not_found" }, id);
  }
});

test("a task that nobody runs any more has failed, however the clocks stand; one that beats runs on", async () => {
  const { slow, other, clock, store, go } = await twoProcesses();
  await write(store, "main", { a: "1" });
  const id = await slow.start("repo", COMMIT);
  assert.equal((await other.get("repo", id)).state, "running");
  for (let i = 0; i < 4; i++) {
    clock.advance(8_000);
    await slow.beat();
    assert.equal((await other.get("repo", id)).state, "running", `after ${i} beats`);
  }
  clock.advance(11_000);
  const lost = await other.get("repo", id);
  assert.deepEqual([lost.state, lost.error!.code], ["failed", "task_interrupted"]);
  assert.equal((await slow.get("repo", id)).state, "failed");
  // It only slept: what became of it is the truth.
  go();
  const done = await ended({ tasks: slow }, id);
  assert.equal(await waitFor(async () => (await other.get("repo", id)).state === "done"), true);
  assert.ok(done);
  assert.equal((await other.get("repo", id)).commitId, await store.resolve("repo", "main"));
});

test("a cancel is heard in the process that runs the task, and nothing has changed", async () => {
  for (const where of ["slow", "other"] as const) {
    const processes = await twoProcesses();
    const { store, slow, go } = processes;
    await write(store, "main", { a: "1" });
    const before = await store.resolve("repo", "main");
    const id = await slow.start("repo", COMMIT);
    await processes[where].cancel("repo", id);
    await slow.beat();
    assert.equal(processes.signal()!.aborted, true);
    go();
    assert.equal(await waitFor(async () => (await slow.get("repo", id)).state === "failed"), true);
    assert.equal((await slow.get("repo", id)).error!.code, "canceled");
    assert.equal(await store.resolve("repo", "main"), before);
    await store.commit("repo", "main", { message: "later", committer: WHO });
  }
});

test("no more than a number of tasks run at once, and old ones are forgotten", async () => {
  const { slow, store, go, clock, other } = await twoProcesses();
  await write(store, "main", { a: "1" });
  const ids: string[] = [];
  for (let i = 0; i < 64; i++) ids.push(await slow.start("repo", COMMIT));
  await assert.rejects(slow.start("repo", COMMIT), { code: "too_many_tasks", kind: "throttled" });
  go();
  await waitFor(() => Promise.resolve(slow.running === 0));
  clock.advance(8 * 24 * 3600 * 1000);
  await other.start("repo", COMMIT);
  await assert.rejects(other.get("repo", ids[0]!), { code: "task_not_found" });
});

async function waitFor(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 5000; look++) {
    if (await isSo()) return true;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return false;
}
