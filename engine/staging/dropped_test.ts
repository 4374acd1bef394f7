import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { collect, testClock } from "../../tests/support/test_engine.ts";
import { cleanDropped, MAX_READ_MS, recordDropped } from "./dropped.ts";

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
  clock.advance(MAX_READ_MS);
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
