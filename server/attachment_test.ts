import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandomness } from "../base/randomness.ts";
import { attachmentNamed } from "./attachment.ts";

const NAMES: readonly [path: string, plain: string, exact: string | undefined][] = [
  ["a/b/table.csv", "table.csv", "table.csv"],
  ["ü b+%.txt", "__b__.txt", "%C3%BC%20b%2B%25.txt"],
  [`it's (1)*"\r\n`, "it_s__1_____", "it%27s%20%281%29%2A%22%0D%0A"],
  ["a/..", "..", ".."],
  ["folder/", "", undefined],
  ["half \ud800", "half__", "half%20%EF%BF%BD"],
];

test("a download is called by its path's last segment, and never the same twice in a plain name", () => {
  const randomness = seededRandomness(1);
  const seen = new Set<string>();
  for (const [path, plain, exact] of [...NAMES, ...NAMES]) {
    const header = attachmentNamed(path, randomness);
    const [, unique, rest] = /^attachment; filename="([0-9a-f]{12}-)([^"]*)"/.exec(header)!;
    assert.equal(rest, plain, path);
    assert.equal(/; filename\*=UTF-8''(.*)$/.exec(header)?.[1], exact, path);
    assert.ok(/^[\x20-\x7e]*$/.test(header), header);
    seen.add(unique!);
  }
  assert.equal(seen.size, 2 * NAMES.length);
});

test("a long plain name is cut at its beginning", () => {
  const header = attachmentNamed(`${"x".repeat(1000)}.parquet`, seededRandomness(1));
  assert.match(header, /filename="[0-9a-f]{12}-x{56}\.parquet";/);
});
