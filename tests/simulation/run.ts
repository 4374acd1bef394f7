/**
 * Runs simulations.
 *
 *     bun tests/simulation/run.ts --seeds 100000           seeds 0 to 99,999
 *     bun tests/simulation/run.ts --seconds 120            seeds drawn by chance, for so long
 *     bun tests/simulation/run.ts --seed 17                one, with its trace
 *     ... --fault NAME                                     with a planted fault (planted.ts)
 */

import { parseArgs } from "node:util";
import process from "node:process";
import { systemRandomness } from "../../base/randomness.ts";
import { PLANTED } from "./planted.ts";
import { tellFailure } from "./seeds.ts";
import { type Plant, simulate } from "./simulation.ts";

const SEEDS = 2 ** 31;
const PROGRESS_EACH = 1000;

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string" },
      seeds: { type: "string" },
      from: { type: "string" },
      seconds: { type: "string" },
      fault: { type: "string" },
    },
  });
  const fault = values.fault === undefined ? undefined : PLANTED.find(({ name }) => name === values.fault);
  if (values.fault !== undefined && !fault) throw new Error(`no fault is named "${values.fault}"`);
  const plant = fault?.plant;
  if (values.seed !== undefined) return await replay(Number(values.seed), plant);
  const until = values.seconds === undefined ? Infinity : performance.now() + Number(values.seconds) * 1000;
  const from = Number(values.from ?? 0);
  const to = values.seconds === undefined ? from + Number(values.seeds ?? 2000) : Infinity;
  let failed = 0, ran = 0;
  for (let seed = from; seed < to && performance.now() < until; seed++, ran++) {
    const drawn = values.seconds === undefined ? seed : Math.floor(systemRandomness.fraction() * SEEDS);
    const result = await simulate(drawn, { plant: plant?.() });
    if (result.failure !== undefined) {
      failed++;
      console.log(tellFailure(result));
      if (fault) break;
    }
    if (ran % PROGRESS_EACH === PROGRESS_EACH - 1) console.log(`${ran + 1} seeds, ${failed} failed`);
  }
  console.log(`${ran} seeds, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

async function replay(seed: number, plant: (() => Plant) | undefined): Promise<number> {
  const result = await simulate(seed, { plant: plant?.(), isTraced: true });
  for (const line of result.trace) console.log(line);
  console.log(`hash ${result.hash}`);
  console.log(result.failure === undefined ? "nothing failed" : tellFailure(result));
  return result.failure === undefined ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
