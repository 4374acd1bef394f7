import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openLmdb } from "./mod.ts";

const P = utf8("partition");
const PAGE = 4096;
const STEPS = 12;
/** Far apart, and written to by every transaction. */
const COUNTERS = ["a", "k 500", "z"].map(utf8);

test("a copy whose later pages are of a later time is whole or refused, wherever the copier was overtaken", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(join(folder, "db"));
  const filler = Array.from(
    { length: 1000 },
    (_, i) => ({ key: utf8(`k ${i}`), value: new Uint8Array(100) }),
  );
  await store.setMany(P, filler);
  const states: Uint8Array[] = [];
  for (let step = 0; step < STEPS; step++) {
    const counters = COUNTERS.map((key) => ({ key, value: utf8(`${step}`) }));
    await store.setMany(P, [...filler.slice(60 * step, 60 * step + 80), ...counters]);
    states.push(new Uint8Array(readFileSync(join(folder, "db", "data.mdb"))));
  }
  await store.close();
  let whole = 0, refused = 0;
  for (const [from, to] of [[0, 1], [0, 3], [1, 11], [4, 7], [8, 11]] as const) {
    const [earlier, later] = [states[from]!, states[to]!];
    for (let at = PAGE; at < later.length; at += 3 * PAGE) {
      const place = join(folder, `${from} ${to} ${at}`);
      mkdirSync(place);
      const mixed = new Uint8Array(later);
      mixed.set(earlier.subarray(0, at));
      writeFileSync(join(place, "data.mdb"), mixed);
      if (await isWhole(place)) whole++;
      else refused++;
    }
  }
  t.diagnostic(`${whole} whole, ${refused} refused`);
  assert.ok(whole > 0 && refused > 0);
});

/** Returns `false` if the copy is refused; fails if its counters are of different times. */
async function isWhole(folder: string): Promise<boolean> {
  let isRefused = false;
  const found = new Set<string>();
  try {
    const store = await openLmdb(folder);
    for (const key of COUNTERS) {
      try {
        found.add(new TextDecoder().decode((await store.get(P, key))!.value));
      } catch (error) {
        if (!isCoded(error, "kv_corrupt")) throw error;
        isRefused = true;
      }
    }
    await store.close();
  } catch (error) {
    if (!isCoded(error, "kv_corrupt")) throw error;
    isRefused = true;
  }
  assert.ok(found.size <= 1, `counters are ${[...found].join(", ")} in ${folder}`);
  return !isRefused;
}
