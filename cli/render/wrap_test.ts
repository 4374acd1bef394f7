import assert from "node:assert/strict";
import { it } from "node:test";
import { wrapped, wrappedCommand } from "./wrap.ts";

it("wrapped() ends lines between words, and keeps words and what stands before them whole", () => {
  assert.deepEqual(wrapped("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrapped("  one two", 5, "    "), ["  one", "    two"]);
  assert.deepEqual(wrapped("a verylongword b", 4), ["a", "verylongword", "b"]);
  assert.deepEqual(wrapped("日本 日本 日本", 9), ["日本 日本", "日本"]);
  assert.deepEqual(wrapped("one two", Infinity), ["one two"]);
  assert.deepEqual(wrapped("", 5), [""]);
});

it("wrappedCommand() gives lines that a shell takes as one, and breaks nothing that is quoted", () => {
  const command = `tarn commit lakefs://a/b -m "two words" --path 'a b'`;
  const lines = wrappedCommand(command, 24, "    ");
  assert.deepEqual(lines, [
    "tarn commit \\",
    "    lakefs://a/b -m \\",
    '    "two words" --path \\',
    "    'a b'",
  ]);
  assert.equal(lines.join("\n").replaceAll(/\\\n +/g, ""), command);
  assert.deepEqual(wrappedCommand(command, Infinity, ""), [command]);
});
