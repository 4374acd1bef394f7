/**
 * The executable on a home whose `data.mdb` is damaged, page after page: what it says is right, or it says that the store is
 * damaged (exit 10); no signal ends it. The driver's own test (`kv/lmdb/damage_test.ts`) damages far more.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { seededRandomness } from "../../base/randomness.ts";
import { openHome } from "../support/home.ts";

const PAGE = 4096;
const MAIN = "lakefs://repo/main";

const READS = [["log", MAIN], ["ls", "-r", MAIN], ["status", MAIN], ["branch", "list", "lakefs://repo"]];
/** Run on the same damage after the reads, so that a write meets it too. */
const WRITES = [["rm", `${MAIN}/k7`], ["commit", MAIN, "-m", "m"]];

test("every page of a home's database, damaged in three ways, is refused or not needed", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  fs.mkdirSync(join(home.folder, "in"));
  for (let i = 0; i < 60; i++) fs.writeFileSync(join(home.folder, "in", `k${i}`), `of ${i}`);
  for (const name of ["first", "second"]) {
    await home.ok(["put", `${MAIN}/${name}/`, "in", "-r"]);
    await home.ok(["commit", MAIN, "-m", name]);
  }
  await home.ok(["put", `${MAIN}/`, "in", "-r"]);
  const file = join(home.path, "kv", "data.mdb");
  const whole = fs.readFileSync(file);
  const right = new Map<string, string>();
  for (const command of READS) right.set(command.join(" "), await home.text(command));

  const chance = seededRandomness(11);
  const below = (bound: number) => Math.floor(chance.fraction() * bound);
  const kinds: Record<string, (page: Uint8Array) => void> = {
    zeros: (page) => void page.fill(0),
    noise: (page) => page.set(chance.bytes(PAGE)),
    "a bit": (page) => void (page[below(PAGE)]! ^= 1 << below(8)),
  };
  let refused = 0, runs = 0;
  for (let number = 0; number < whole.length / PAGE; number++) {
    if (whole.subarray(number * PAGE, (number + 1) * PAGE).every((byte) => byte === 0)) continue;
    for (const [kind, damage] of Object.entries(kinds)) {
      const bytes = new Uint8Array(whole);
      damage(bytes.subarray(number * PAGE, (number + 1) * PAGE));
      fs.writeFileSync(file, bytes);
      for (const command of [...READS, ...WRITES]) {
        const { code, signal, stdout, stderr } = await home.run(command);
        const what = `page ${number}, ${kind}: ${command.join(" ")}: exit ${code ?? signal}\n${stderr}`;
        assert.ok(code === 0 || code === 10, what);
        const expected = right.get(command.join(" "));
        if (code === 0 && expected !== undefined) assert.equal(stdout.toString(), expected, what);
        if (code === 10) {
          assert.match(stderr, /key-value store/, what);
          refused++;
        }
        runs++;
      }
    }
  }
  t.diagnostic(`${refused} of ${runs} commands refused`);
  assert.ok(refused > runs / 10);
});
