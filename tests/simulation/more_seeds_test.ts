/** Simulations of fixed seeds, the second half, and of seeds that nobody has seen. */

import { test } from "node:test";
import { systemRandomness } from "../../base/randomness.ts";
import { between, IS_CI, runSeeds } from "./seeds.ts";

test("fixed seeds, second half: nothing is lost", async () => {
  console.log(`${await runSeeds(between(1000, 2000))} seeds`);
});

test("random seeds: nothing is lost", async () => {
  console.log(`${await runSeeds(drawnSeeds(), { seconds: IS_CI ? 120 : 10 })} seeds`);
});

function* drawnSeeds(): Generator<number> {
  while (true) yield Math.floor(systemRandomness.fraction() * 2 ** 31);
}
