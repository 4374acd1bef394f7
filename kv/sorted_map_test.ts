import assert from "node:assert/strict";
import { test } from "node:test";
import { hex, utf8 } from "../base/bytes.ts";
import { seededRandomness } from "../base/randomness.ts";
import { SortedMap } from "./sorted_map.ts";

test("walks show what a plain map holds, in byte order, however much was set between them", () => {
  for (let seed = 0; seed < 20; seed++) {
    const chance = seededRandomness(seed), below = (bound: number) => Math.floor(chance.fraction() * bound);
    const map = new SortedMap(), model = new Map<string, string>();
    // Few at a time into many, and many into few.
    for (let step = 0; step < 200; step++) {
      for (let count = step % 40 === 0 ? 300 : below(4); count > 0; count--) {
        const key = Uint8Array.from(chance.bytes(1 + below(3))), value = utf8(`${step} ${count}`);
        map.set(key, value);
        model.set(hex(key), hex(value));
      }
      for (let count = below(3); count > 0; count--) {
        const known = [...model.keys()], key = known[below(known.length)];
        if (key === undefined) break;
        map.delete(Uint8Array.from(key.match(/../g)!, (byte) => parseInt(byte, 16)));
        model.delete(key);
      }
      const first = Uint8Array.from(chance.bytes(below(3)));
      const walked = [...map.from(first)].map(({ key, value }) => [hex(key), hex(value)]);
      const expected = [...model].filter(([key]) => key >= hex(first)).sort(([a], [b]) => a < b ? -1 : 1);
      assert.deepEqual(walked, expected, `seed ${seed}, step ${step}`);
    }
  }
});
