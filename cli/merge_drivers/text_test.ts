import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { mergeText, type TextOptions } from "./text.ts";

/** Merges texts that are given as words, a line each; returns the words, or why it is a conflict. */
function merged(base: string, source: string, destination: string, options?: TextOptions): string {
  const lines = (words: string) => utf8(words.split(" ").filter(Boolean).map((word) => `${word}\n`).join(""));
  const sides = { base: lines(base), source: lines(source), destination: lines(destination) };
  const result = mergeText(sides, options);
  return result instanceof Uint8Array
    ? lossyText(result).split("\n").filter(Boolean).join(" ")
    : `(${result.conflict})`;
}

describe("mergeText()", () => {
  const cases: readonly (readonly [string, string, string, string, string])[] = [
    ["takes edits of lines apart", "a b c d e", "a B c d e", "a b c D e", "a B c D e"],
    ["takes an insertion and a deletion", "a b c d", "a x b c d", "a b d", "a x b d"],
    ["takes the same edit once", "a b c", "a B c x", "a B c", "a B c x"],
    ["takes insertions at both ends", "a b c", "x a b c", "a b c y", "x a b c y"],
    ["takes a deletion of everything that nobody else changed", "a b", "", "a b", ""],
    ["keeps overlapping edits a conflict", "a b c", "a B c", "a X c", "(both sides changed line 2)"],
    ["keeps adjacent edits a conflict", "a b c d", "a B c d", "a b C d", "(both sides changed line 2)"],
    [
      "keeps a deletion beside an edit of it a conflict",
      "a b c",
      "a c",
      "a B c",
      "(both sides changed line 2)",
    ],
    ["keeps two insertions at one place a conflict", "a b", "a x b", "a y b", "(both sides changed line 2)"],
    ["tells repeated lines apart by their place", "a x a x a", "a x a x a b", "c a x a x a", "c a x a x a b"],
    ["takes moved blocks that one side made", "a b c d e f", "d e f a b c", "a b c d e f", "d e f a b c"],
  ];
  for (const [name, base, source, destination, expected] of cases) {
    it(name, () => assert.equal(merged(base, source, destination), expected));
  }

  it("compares lines with their ends, and keeps a last line without one", () => {
    const sides = (base: string, source: string, destination: string) => ({
      base: utf8(base),
      source: utf8(source),
      destination: utf8(destination),
    });
    const text = (result: ReturnType<typeof mergeText>) =>
      result instanceof Uint8Array ? lossyText(result) : result;
    assert.equal(text(mergeText(sides("a\nb\nc", "A\nb\nc", "a\nb\nC"))), "A\nb\nC");
    assert.equal(text(mergeText(sides("a\r\nb\r\nc", "a\r\nb\r\nc\r\n", "x\r\nb\r\nc"))), "x\r\nb\r\nc\r\n");
    assert.deepEqual(mergeText(sides("a\nb", "a\r\nb", "A\nb")), { conflict: "both sides changed line 1" });
  });

  it("merges bytes that are no UTF-8, and leaves what is no text", () => {
    const bytes = (...values: number[]) => Uint8Array.from(values);
    const result = mergeText({
      base: bytes(0xff, 10, 98, 10, 0xfe, 10),
      source: bytes(0xfd, 10, 98, 10, 0xfe, 10),
      destination: bytes(0xff, 10, 98, 10, 0x80, 10),
    });
    assert.deepEqual([...result as Uint8Array], [0xfd, 10, 98, 10, 0x80, 10]);
    const binary = mergeText({ base: bytes(0), source: bytes(1), destination: bytes(2) });
    assert.deepEqual(binary, { conflict: "it is no text" });
  });

  it("leaves a deletion on one side, and two new files that differ", () => {
    const base = utf8("a\n");
    assert.deepEqual(mergeText({ base, source: undefined, destination: utf8("b\n") }), {
      conflict: "one side deleted it",
    });
    assert.deepEqual(mergeText({ base: undefined, source: base, destination: utf8("b\n") }), {
      conflict: "both sides changed line 1",
    });
  });

  it("writes markers only when asked, each on a line of its own", () => {
    const sides = { base: utf8("a\nb"), source: utf8("a\nc"), destination: utf8("a\nd") };
    const result = mergeText(sides, { markers: true }) as Uint8Array;
    assert.equal(
      lossyText(result),
      "a\n<<<<<<< destination\nd\n||||||| base\nb\n=======\nc\n>>>>>>> source\n",
    );
  });

  it("merges random edits that stay apart into all of them", () => {
    const randomness = seededRandomness(7);
    const random = (below: number) => Math.floor(randomness.fraction() * below);
    for (let round = 0; round < 300; round++) {
      const base: string[] = [], source: string[] = [], destination: string[] = [], expected: string[] = [];
      for (let block = 0; block < 8; block++) {
        const old = Array.from({ length: random(4) }, () => `w${random(5)}`);
        const fresh = Array.from({ length: random(4) }, () => `n${random(5)}`);
        const who = random(3);
        base.push(...old, `anchor${block}`);
        source.push(...(who === 0 ? fresh : old), `anchor${block}`);
        destination.push(...(who === 1 ? fresh : old), `anchor${block}`);
        expected.push(...(who === 2 ? old : fresh), `anchor${block}`);
      }
      const [b, s, d] = [base, source, destination].map((words) => words.join(" "));
      assert.equal(merged(b!, s!, d!), expected.join(" "), `round ${round}`);
    }
  });
});
