import assert from "node:assert/strict";
import { test } from "node:test";
import { millisecondsOf, systemClock, timestampOf } from "./clock.ts";

test("timestampOf() splits milliseconds into seconds and nanoseconds from 0 to 999,999,999", () => {
  assert.deepEqual(timestampOf(0), { seconds: 0, nanos: 0 });
  assert.deepEqual(timestampOf(1500), { seconds: 1, nanos: 500_000_000 });
  assert.deepEqual(timestampOf(-1), { seconds: -1, nanos: 999_000_000 });
  assert.deepEqual(timestampOf(-1000), { seconds: -1, nanos: 0 });
  for (const milliseconds of [1999.9999999, 0.9999999999, 1_700_000_000_999.9999]) {
    const { nanos } = timestampOf(milliseconds);
    assert.ok(Number.isInteger(nanos) && nanos >= 0 && nanos <= 999_999_999);
  }
});

test("millisecondsOf() undoes timestampOf() for whole milliseconds", () => {
  for (
    const milliseconds of [0, 1, 999, 1000, 1_700_000_000_123, -1, -999, -1_000_001, 253_402_300_799_999]
  ) {
    assert.equal(millisecondsOf(timestampOf(milliseconds)), milliseconds);
  }
});

test("the system's clock tells the time of day", () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(Math.abs(now - before) < 60_000);
});

test("sleep() ends by itself, and with the signal's reason when that is raised", async () => {
  await systemClock.sleep(1);
  const controller = new AbortController();
  const sleeping = systemClock.sleep(1_000_000, controller.signal);
  controller.abort(new Error("enough"));
  await assert.rejects(sleeping, /enough/);
});

test("sleep() does not begin when the signal was raised before", async () => {
  await assert.rejects(systemClock.sleep(1_000_000, AbortSignal.abort(new Error("too late"))), /too late/);
});
