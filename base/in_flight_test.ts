import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runInFlight } from "./in_flight.ts";

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
