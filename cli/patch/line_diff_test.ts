import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandomness } from "../../base/randomness.ts";
import { diffLines } from "./line_diff.ts";

const letters = (text: string) => [...text];
const kept = (lines: readonly string[], changed: Uint8Array) => lines.filter((_, i) => changed[i] === 0);

/** The length of the longest common subsequence, by the table that everybody knows. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [j, other] of b.entries()) {
      next.push(line === other ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
    }
    row = next;
  }
  return row.at(-1)!;
}

test("what is kept is the same in both texts, in order, and as much as can be", () => {
  const randomness = seededRandomness(7);
  for (let round = 0; round < 2000; round++) {
    const text = () => {
      const [length, kinds] = randomness.bytes(2);
      return [...randomness.bytes(length! % 24)].map((byte) => String(byte % (1 + kinds! % 6)));
    };
    const a = text(), b = text();
    const { removed, added } = diffLines(a, b);
    const common = kept(a, removed);
    assert.deepEqual(common, kept(b, added), `${a} | ${b}`);
    assert.equal(common.length, longestCommon(a, b), `${a} | ${b}`);
  }
});

test("the example of Myers' paper takes five steps", () => {
  const { removed, added } = diffLines(letters("ABCABBA"), letters("CBABAC"));
  assert.equal(removed.reduce((sum, one) => sum + one, 0) + added.reduce((sum, one) => sum + one, 0), 5);
});

test("long texts with little in common in the same order come to an end, and what is kept is still the same in both", () => {
  const count = 20_000;
  const a = Array.from({ length: count }, (_, i) => String((i * 7919) % count));
  const b = Array.from({ length: count }, (_, i) => String((i * 104_729) % count));
  const { removed, added } = diffLines(a, b);
  assert.deepEqual(kept(a, removed), kept(b, added));
});
