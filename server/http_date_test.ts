import assert from "node:assert/strict";
import { test } from "node:test";
import { httpDate } from "./http_date.ts";

test("times are written as HTTP has them", () => {
  for (const ms of [0, 999, 1000, 1_700_000_000_123, 1_700_000_000_999, 1_700_000_001_000, -1, 0]) {
    assert.equal(httpDate(ms), new Date(ms).toUTCString());
  }
  assert.equal(httpDate(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
});
