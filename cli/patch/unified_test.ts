import assert from "node:assert/strict";
import { test } from "node:test";
import { unifiedDiff } from "./unified.ts";

const shown = (older: string, newer: string) => unifiedDiff(older, newer).map(({ text }) => text);
const lines = (...numbers: (number | string)[]) => numbers.map((number) => `${number}\n`).join("");
const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("a changed line stands between three lines of context", () => {
  const older = lines(...count(1, 9)), newer = lines(...count(1, 4), "five", ...count(6, 9));
  assert.deepEqual(shown(older, newer), [
    "@@ -2,7 +2,7 @@",
    " 2",
    " 3",
    " 4",
    "-5",
    "+five",
    " 6",
    " 7",
    " 8",
  ]);
});

test("changes whose context touches share a hunk, others have their own", () => {
  const older = lines(...count(1, 30));
  const heads = (newer: string) => shown(older, newer).filter((line) => line.startsWith("@@"));
  assert.deepEqual(heads(lines(...count(2, 7), ...count(9, 30))), ["@@ -1,11 +1,9 @@"]);
  assert.deepEqual(heads(lines(...count(2, 8), ...count(10, 30))), ["@@ -1,4 +1,3 @@", "@@ -6,7 +5,6 @@"]);
});

test("texts that begin or end to be are added or removed whole", () => {
  assert.deepEqual(shown("", "a\nb\n"), ["@@ -0,0 +1,2 @@", "+a", "+b"]);
  assert.deepEqual(shown("a\n", ""), ["@@ -1 +0,0 @@", "-a"]);
  assert.deepEqual(shown("", ""), []);
  assert.deepEqual(shown("a\n", "a\n"), []);
});

test("a last line without an end says so, on the side where it is", () => {
  assert.deepEqual(shown("a\nb", "a\nb\n"), [
    "@@ -1,2 +1,2 @@",
    " a",
    "-b",
    "\\ No newline at end of file",
    "+b",
  ]);
  assert.deepEqual(shown("x\nb", "y\nb").slice(-2), [" b", "\\ No newline at end of file"]);
});

test("carriage returns belong to their lines", () => {
  assert.deepEqual(shown("a\r\n", "a\n"), ["@@ -1 +1 @@", "-a\r", "+a"]);
});
