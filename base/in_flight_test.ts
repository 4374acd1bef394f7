import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inOrder, runInFlight } from "./in_flight.ts";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("runInFlight()", () => {
  it("does all the work, never more at a time than it may", async () => {
    let running = 0, most = 0;
    const done: number[] = [];
    await runInFlight(Array.from({ length: 50 }, (_, i) => i), async (item) => {
      most = Math.max(most, ++running);
      await tick();
      running--;
      done.push(item);
    }, 5);
    assert.equal(done.length, 50);
    assert.equal(most, 5);
  });

  it("takes no more items after a failure, and throws it when the rest has ended", async () => {
    let taken = 0, ended = 0;
    const work = runInFlight(Array.from({ length: 100 }, (_, i) => i), async (item) => {
      taken++;
      await tick();
      if (item === 3) throw new Error("three");
      await tick();
      ended++;
    }, 4);
    await assert.rejects(work, { message: "three" });
    assert.ok(taken < 100);
    assert.equal(ended, taken - 1);
  });
});

describe("inOrder()", () => {
  it("yields results in the order of the items, whichever is ready first", async () => {
    const results: number[] = [];
    const work = async (item: number) => {
      for (let i = item % 3; i < 3; i++) await tick();
      return item * 2;
    };
    for await (const result of inOrder([1, 2, 3, 4, 5, 6, 7], work, 3)) results.push(result);
    assert.deepEqual(results, [2, 4, 6, 8, 10, 12, 14]);
  });

  it("throws a failure in its turn, after what is under way has ended", async () => {
    let ended = 0;
    const results: number[] = [];
    const work = async (item: number) => {
      await tick();
      ended++;
      if (item === 2) throw new Error("two");
      return item;
    };
    await assert.rejects(async () => {
      for await (const result of inOrder([1, 2, 3, 4], work, 2)) results.push(result);
    }, { message: "two" });
    assert.deepEqual(results, [1]);
    assert.equal(ended, 3);
  });
});
