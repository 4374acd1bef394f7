import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteLru } from "./byte_lru.ts";

const MEGABYTE = 1024 * 1024;

test("ByteLru keeps what is used, and drops the rest when there is no room", () => {
  const cache = new ByteLru<number>(10 * MEGABYTE);
  for (let i = 0; i < 100; i++) {
    cache.set(`${i}`, i, MEGABYTE);
    assert.equal(cache.get("0"), 0);
  }
  const kept = Array.from({ length: 100 }, (_, i) => i).filter((i) => cache.get(`${i}`) !== undefined);
  assert.ok(kept.length >= 8 && kept.length <= 9, `${kept}`);
  assert.ok(kept.includes(99));
});

test("ByteLru counts small entries for what they take themselves", () => {
  const cache = new ByteLru<number>(MEGABYTE);
  for (let i = 0; i < 100_000; i++) cache.set(`${i}`, i, 1);
  let kept = 0;
  for (let i = 0; i < 100_000; i++) if (cache.get(`${i}`) !== undefined) kept++;
  assert.ok(kept > 500 && kept < 2000, `${kept}`);
});

test("ByteLru keeps no more entries than it may, however small", () => {
  const cache = new ByteLru<number>(MEGABYTE, 10);
  for (let i = 0; i < 100; i++) cache.set(`${i}`, i, 1);
  const kept = Array.from({ length: 100 }, (_, i) => i).filter((i) => cache.get(`${i}`) !== undefined);
  assert.deepEqual(kept, [90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
});

test("ByteLru keeps the newest one though it is too large, and counts one that is set again once", () => {
  const cache = new ByteLru<number>(MEGABYTE);
  cache.set("a", 1, 10);
  cache.set("large", 2, 2 * MEGABYTE);
  assert.deepEqual([cache.get("a"), cache.get("large")], [undefined, 2]);
  cache.delete("large");
  for (let i = 0; i < 100; i++) cache.set("a", i, MEGABYTE / 3);
  cache.set("b", 0, MEGABYTE / 3);
  assert.deepEqual([cache.get("a"), cache.get("b")], [99, 0]);
});
