/** Simulations of fixed seeds, the first half of them; `more_seeds_test.ts` has the others. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskKind } from "./operation.ts";
import { between, runSeeds } from "./seeds.ts";
import { simulate } from "./simulation.ts";

/** How many kinds of operations there are. */
const KINDS = 23;

test("the same seed makes the same trace", async () => {
  for (const seed of [1, 2, 3]) {
    const [first, second] = [
      await simulate(seed, { isTraced: true }),
      await simulate(seed, { isTraced: true }),
    ];
    assert.deepEqual(first.trace, second.trace);
    assert.equal(first.hash, second.hash);
    assert.notEqual(first.hash, (await simulate(seed + 1)).hash);
  }
});

test("a simulation has at least 4 clients, 60 operations, a crash and a lost answer; all kinds get through", async () => {
  const acknowledged = new Map<TaskKind, number>();
  let asked = 0;
  for (const seed of between(0, 100)) {
    const { operations, faults } = await simulate(seed);
    const own = operations.filter(({ id }) => id.startsWith("c"));
    const clients = new Set(own.map(({ id }) => id.split(".")[0]));
    assert.ok(clients.size >= 4, `seed ${seed}: ${clients.size} clients`);
    assert.ok(own.length >= 60, `seed ${seed}: ${own.length} operations`);
    assert.ok(faults.get("crash")! >= 1 && faults.get("lost answer")! >= 1, `seed ${seed}: ${[...faults]}`);
    asked += own.length;
    for (const { task: { kind }, outcome } of own) {
      if (outcome === "acknowledged") acknowledged.set(kind, (acknowledged.get(kind) ?? 0) + 1);
    }
  }
  const done = [...acknowledged.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(done > asked / 2, `${done} of ${asked}`);
  assert.equal(acknowledged.size, KINDS, `acknowledged were only ${[...acknowledged.keys()]}`);
});

test("fixed seeds, first half: nothing is lost", async () => {
  console.log(`${await runSeeds(between(0, 1000))} seeds`);
});
