import assert from "node:assert/strict";
import test from "node:test";
import { EarlySync } from "./early_sync.ts";

const STEP = 32 * 1024 * 1024;

/** Syncs that end when they are told to. */
function heldSyncs(): { sync: () => Promise<void>; held: PromiseWithResolvers<void>[] } {
  const held: PromiseWithResolvers<void>[] = [];
  return {
    held,
    sync() {
      const one = Promise.withResolvers<void>();
      held.push(one);
      return one.promise;
    },
  };
}

test("EarlySync syncs a file after each step, one sync at a time", async () => {
  const { sync, held } = heldSyncs();
  const early = new EarlySync(sync);
  early.wrote(STEP - 1);
  assert.equal(held.length, 0);
  early.wrote(1);
  early.wrote(5 * STEP);
  assert.equal(held.length, 1);
  held[0]!.resolve();
  await early.settle();
  early.wrote(1);
  assert.equal(held.length, 2);
  held[1]!.resolve();
  await early.finish();
});

test("EarlySync tells of a sync that failed, at the next write and at the end", async () => {
  for (const call of ["wrote", "finish"] as const) {
    const { sync, held } = heldSyncs();
    const early = new EarlySync(sync);
    early.wrote(STEP);
    held[0]!.reject(new Error("lost"));
    await early.settle();
    await assert.rejects(async () => await early[call](1), /lost/);
  }
});

test("EarlySync ends only when no sync is running", async () => {
  const { sync, held } = heldSyncs();
  const early = new EarlySync(sync);
  early.wrote(STEP);
  let hasEnded = false;
  const ended = early.finish().then(() => hasEnded = true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(!hasEnded);
  held[0]!.resolve();
  await ended;
});
