import assert from "node:assert/strict";
import { test } from "node:test";
import { keepHeapSmall } from "./heap.ts";

const MB = 1024 * 1024;

/** Lets a heap have, second by second, so many MB; `undefined` for what a collection leaves. Returns when it was collected. */
async function collections(sizes: readonly (number | undefined)[], needed: number): Promise<number[]> {
  const asked: number[] = [];
  const stopping = new AbortController();
  let at = 0;
  const heap = {
    bytes: () => (sizes[at] ?? needed) * MB,
    collect: () => void asked.push(at),
  };
  const clock = {
    now: () => 0,
    sleep: () => {
      if (++at >= sizes.length) stopping.abort();
      return Promise.resolve();
    },
  };
  await keepHeapSmall(heap, clock, stopping.signal);
  return asked;
}

test("a heap that grows by a quarter and 48 MB is collected, and what is left then is what is needed", async () => {
  assert.deepEqual(await collections([100, 120, 147, 149, undefined, 150, 170, undefined, 140], 121), [3, 6]);
  assert.deepEqual(await collections([400, 450, 490, 501, undefined, 520, 540], 400), [3, 5]);
});

test("a heap that needs more than it did is not collected again and again", async () => {
  const grown = Array.from({ length: 50 }, () => 300);
  assert.deepEqual(await collections([100, ...grown], 300), [1]);
});

test("a heap that shrinks by itself needs less from then on", async () => {
  assert.deepEqual(await collections([300, 100, 140, 149, undefined], 100), [3]);
});
