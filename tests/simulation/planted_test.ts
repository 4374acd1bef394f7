/** The simulator's own test: it finds every obvious way to lose data. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { PLANTED, type PlantedFault } from "./planted.ts";
import { simulate } from "./simulation.ts";

const SEEDS = 2000;

for (const fault of PLANTED) {
  test(`planted: ${fault.name} (${fault.section}) is found within ${SEEDS} seeds`, async () => {
    if (await isFoundBy(fault.seed, fault)) return;
    for (let seed = 0; seed < SEEDS; seed++) if (await isFoundBy(seed, fault)) return;
    assert.fail(`no seed below ${SEEDS} finds it`);
  });
}

async function isFoundBy(seed: number, { plant }: PlantedFault): Promise<boolean> {
  return (await simulate(seed, { plant: plant() })).failure !== undefined;
}
