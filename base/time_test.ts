import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTime } from "./time.ts";

const NOW = Date.UTC(2026, 10, 29);
const parse = (text: string) => new Date(parseTime(text, NOW)).toISOString();

test("parseTime() takes RFC 3339 and dates; without a zone it is UTC, and fractions count", () => {
  assert.equal(parse("2024-01-15T10:00:00-05:00"), "2024-01-15T15:00:00.000Z");
  assert.equal(parse("2024-01-15T10:00:00.5Z"), "2024-01-15T10:00:00.500Z");
  assert.equal(parse("2024-01-15"), "2024-01-15T00:00:00.000Z");
  assert.equal(parse("2024-01-15T10:00"), "2024-01-15T10:00:00.000Z");
  assert.equal(parse("2024-02-29 23:59:59+0130"), "2024-02-29T22:29:59.000Z");
  assert.equal(parse("0001-06-01"), "0001-06-01T00:00:00.000Z");
  assert.equal(parse("0099-12-31"), "0099-12-31T00:00:00.000Z");
});

test("parseTime() refuses what is no time, what does not exist, and the future", () => {
  for (const bad of ["", "yesterday", "2024", "2024-1-5", "2024-01-15T10", "2024-01-15T10:00:00+1", "1e9"]) {
    assert.throws(() => parse(bad), { code: "invalid_time" }, bad);
  }
  for (
    const bad of [
      "2023-02-29",
      "2024-13-01",
      "2024-01-32",
      "2024-01-15T24:00:00",
      "2024-01-15T10:61",
      "2024-01-15T10:00:00+25:00",
    ]
  ) {
    assert.throws(() => parse(bad), { code: "invalid_time" }, bad);
  }
  assert.throws(() => parse("2026-11-30"), { code: "future_time" });
});
