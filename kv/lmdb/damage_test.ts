import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { fill } from "./testdata/damaged.ts";
import { checkDatabase } from "./whole_check.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/damaged.ts", import.meta.url));
const PAGE = 4096;

function below(chance: Randomness, bound: number): number {
  return Math.floor(chance.fraction() * bound);
}

type Damaging = (page: Uint8Array, chance: Randomness) => void;

/** Damages each page in turn, once for each of `kinds`; returns what came of each use, which is told with the page. */
async function outcomesOf(t: TestContext, kinds: readonly Damaging[], chance: Randomness): Promise<string[]> {
  const folder = temporaryFolder(t);
  await fill(join(folder, "whole"));
  const whole = readFileSync(join(folder, "whole", "data.mdb"));
  const places: string[] = [];
  for (let page = 0; page < whole.length / PAGE; page++) {
    for (const [kind, damaging] of kinds.entries()) {
      const place = join(folder, `page ${page}, kind ${kind}`);
      mkdirSync(place);
      const bytes = new Uint8Array(whole);
      damaging(bytes.subarray(page * PAGE, (page + 1) * PAGE), chance);
      writeFileSync(join(place, "data.mdb"), bytes);
      places.push(place);
    }
  }
  const outcomes: string[] = [];
  while (outcomes.length < places.length) {
    const { stdout, signal, stderr } = spawnSync(process.execPath, [
      PROGRAM,
      ...places.slice(outcomes.length),
    ], {
      encoding: "utf8",
      maxBuffer: 1e9,
    });
    outcomes.push(...stdout.split("\n").slice(0, -1));
    if (outcomes.length < places.length) outcomes.push(`DIED: ${signal} ${stderr.slice(0, 200)}`);
  }
  return outcomes.map((outcome, at) => `${places[at]!.slice(folder.length + 1)}: ${outcome}`);
}

function count(
  outcomes: readonly string[],
  t: TestContext,
): { readonly bad: string[]; readonly refused: number } {
  const refused = outcomes.filter((outcome) => outcome.endsWith(": kv_corrupt")).length;
  t.diagnostic(`${refused} of ${outcomes.length} were refused`);
  const bad = outcomes.filter((outcome) => !/: (?:right|kv_corrupt)$/.test(outcome));
  return { bad, refused };
}

test("a page of zeros, or of any bytes, is refused or never needed", async (t) => {
  const zeros: Damaging = (page) => page.fill(0);
  const noise: Damaging = (page, chance) => page.set(chance.bytes(PAGE));
  const { bad, refused } = count(await outcomesOf(t, [zeros, noise], seededRandomness(1)), t);
  assert.deepEqual(bad, []);
  assert.ok(refused > 20);
});

test("a page that is cut in the middle, or is another one, is refused or never needed", async (t) => {
  const half: Damaging = (page) => page.fill(0, 2048);
  const sector: Damaging = (page, chance) => page.set(chance.bytes(512), 512 * below(chance, 8));
  const { bad, refused } = count(await outcomesOf(t, [half, sector], seededRandomness(2)), t);
  assert.deepEqual(bad, []);
  assert.ok(refused > 20);
});

test("a bit that flipped gives no wrong answer and ends no process", async (t) => {
  const flip: Damaging = (page, chance) => {
    page[below(chance, PAGE)]! ^= 1 << below(chance, 8);
  };
  const inHead: Damaging = (page, chance) => {
    page[below(chance, 160)]! ^= 1 << below(chance, 8);
  };
  const kinds = [flip, flip, flip, flip, inHead, inHead, inHead];
  const { bad, refused } = count(await outcomesOf(t, kinds, seededRandomness(3)), t);
  assert.deepEqual(bad, []);
  assert.ok(refused > 40);
});

test("checkDatabase() passes what is whole, and refuses damage wherever it is", async (t) => {
  const folder = temporaryFolder(t);
  await fill(join(folder, "whole"));
  const { entries, isSealed } = await checkDatabase(join(folder, "whole"));
  assert.deepEqual([entries, isSealed], [3 * 150 + 1, true]);
  const whole = readFileSync(join(folder, "whole", "data.mdb"));
  const chance = seededRandomness(4);
  let refused = 0;
  for (let run = 0; run < 300; run++) {
    const bytes = new Uint8Array(whole);
    bytes[below(chance, bytes.length)]! ^= 1 << below(chance, 8);
    writeFileSync(join(folder, "whole", "data.mdb"), bytes);
    await checkDatabase(join(folder, "whole")).catch((error) => {
      assert.equal(error.code, "kv_corrupt", String(error));
      refused++;
    });
  }
  assert.ok(refused > 100, `${refused} of 300`);
});
