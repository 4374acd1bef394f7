import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { collect, testClock } from "../../tests/support/test_engine.ts";
import { cleanDropped, DroppedTokens, KEEP_MS, recordDropped } from "./dropped.ts";

const PARTITION = utf8("repo");

test("records of dropped tokens go only after the delay, some at a time, and in the end all of them", async () => {
  const kv = openMemoryKv(), clock = testClock();
  for (const token of ["t1", "t2"]) {
    const entries = Array.from({ length: 3500 }, (_, i) => ({ key: utf8(String(i)), value: utf8("x") }));
    await kv.setMany(utf8(token), entries);
  }
  await recordDropped(kv, PARTITION, { tokens: ["t1", "t2"], clock });
  const left = async () =>
    (await collect(kv.scan(utf8("t1")))).length + (await collect(kv.scan(utf8("t2")))).length;
  clock.advance(KEEP_MS - 60 * 1000);
  await cleanDropped(kv, PARTITION, clock);
  assert.equal(await left(), 7000);
  clock.advance(2 * 60 * 1000);
  let before = 7000, turns = 0;
  while (await left() > 0) {
    await cleanDropped(kv, PARTITION, clock);
    const now = await left();
    assert.ok(now < before && before - now <= 2000, `${before} -> ${now}`);
    before = now;
    turns++;
  }
  assert.ok(turns >= 4);
  for (let i = 0; i < 3; i++) await cleanDropped(kv, PARTITION, clock);
  assert.deepEqual(await collect(kv.scan(PARTITION)), []);
});

test("areWhole() says yes until the first record of a token may go, whatever the clock says, and never again", async () => {
  const kv = openMemoryKv(), clock = testClock();
  const entries = Array.from({ length: 3500 }, (_, i) => ({ key: utf8(String(i)), value: utf8("x") }));
  for (const token of ["t1", "t2"]) await kv.setMany(utf8(token), entries);
  await recordDropped(kv, PARTITION, { tokens: ["t1", "t2"], clock });
  const reader = { kv, partition: PARTITION, clock: testClock(0), randomness: seededRandomness(1) };
  const early = new DroppedTokens(reader), late = new DroppedTokens(reader);
  assert.deepEqual([await early.areWhole(["t1"]), await early.areWhole(["t1", "t2"])], [true, true]);
  clock.advance(365 * 24 * 60 * 60 * 1000);
  await cleanDropped(kv, PARTITION, clock);
  for (const seen of [early, late]) {
    assert.deepEqual([await seen.areWhole(["t1"]), await seen.areWhole(["t2"])], [false, true]);
  }
  for (let i = 0; i < 5; i++) await cleanDropped(kv, PARTITION, clock);
  for (const seen of [early, late]) assert.equal(await seen.areWhole(["t2"]), false);
});

test("areWhole() waits for whoever has dropped a token and is about to record it", async () => {
  const kv = openMemoryKv(), clock = testClock();
  let sleeps = 0;
  const sleep = async () => {
    if (++sleeps === 3) await recordDropped(kv, PARTITION, { tokens: ["t1"], clock });
  };
  const reader = {
    kv,
    partition: PARTITION,
    clock: { now: clock.now, sleep },
    randomness: seededRandomness(1),
  };
  assert.equal(await new DroppedTokens(reader).areWhole(["t1"]), true);
  assert.equal(await new DroppedTokens(reader).areWhole(["t3"]), false);
});
