/** Running many seeds within a test. */

import assert from "node:assert/strict";
import process from "node:process";
import { simulate, type SimulationResult } from "./simulation.ts";

/** CI has the time; elsewhere a test runs as many seeds as fit into this. */
export const IS_CI: boolean = process.env["CI"] === "true";
const MOST_SECONDS = 40;
const SHOWN_LINES = 60;

/** Runs seeds until there are no more, or the time is over; fails with the first one that does, and its trace's end. */
export async function runSeeds(
  seeds: Iterable<number>,
  { seconds = IS_CI ? Infinity : MOST_SECONDS }: { seconds?: number } = {},
): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let ran = 0;
  for (const seed of seeds) {
    if (performance.now() > until) break;
    const { failure } = await simulate(seed);
    if (failure !== undefined) await tell(seed);
    ran++;
  }
  return ran;
}

async function tell(seed: number): Promise<never> {
  const result = await simulate(seed, { isTraced: true });
  assert.fail([...result.trace.slice(-SHOWN_LINES), tellFailure(result)].join("\n"));
}

/** Returns how a failed simulation is told: what went wrong, and the line that replays it with its trace. */
export function tellFailure({ seed, failure }: SimulationResult): string {
  return `seed ${seed}: ${failure}\n  again: bun tests/simulation/run.ts --seed ${seed}`;
}

export function* between(from: number, to: number): Generator<number> {
  for (let seed = from; seed < to; seed++) yield seed;
}
