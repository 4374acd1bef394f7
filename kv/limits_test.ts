import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../base/bytes.ts";
import { withLimits } from "./limits.ts";
import { openMemoryKv } from "./memory/mod.ts";
import type { KvStore } from "./store.ts";

const P = utf8("partition");
const K = utf8("key");
const LONGEST_PARTITION = new Uint8Array(255).fill(1);
const LONGEST_KEY = new Uint8Array(1024).fill(1);
const LARGEST_VALUE = new Uint8Array(256 * 1024);

async function assertEmpty(store: KvStore, partition: Uint8Array): Promise<void> {
  for await (const page of store.scan(partition)) assert.fail(`${page.length} entries were stored`);
}

test("what reaches a limit exactly is stored", async () => {
  const store = withLimits(openMemoryKv());
  await store.set(LONGEST_PARTITION, LONGEST_KEY, LARGEST_VALUE);
  await store.setIf(Uint8Array.of(0), Uint8Array.of(0), new Uint8Array(0), undefined);
  assert.equal((await store.get(LONGEST_PARTITION, LONGEST_KEY))?.value.length, 256 * 1024);
});

test("whatever is beyond a limit is refused by every call, with the limit named", async () => {
  const inner = openMemoryKv();
  const store = withLimits(inner);
  const cases = [
    { limit: "partition_bytes", most: 255, parts: [new Uint8Array(256), K, K] },
    { limit: "partition_bytes", most: 255, parts: [new Uint8Array(0), K, K] },
    { limit: "key_bytes", most: 1024, parts: [P, new Uint8Array(1025), K] },
    { limit: "key_bytes", most: 1024, parts: [P, new Uint8Array(0), K] },
    { limit: "value_bytes", most: 262144, parts: [P, K, new Uint8Array(262145)] },
  ] as { limit: string; most: number; parts: [Uint8Array, Uint8Array, Uint8Array] }[];
  for (const { limit, most, parts: [partition, key, value] } of cases) {
    const calls: (() => Promise<unknown>)[] = [
      () => store.set(partition, key, value),
      () => store.setIf(partition, key, value, undefined),
      () => store.setMany(partition, [{ key: K, value: K }, { key, value }]),
    ];
    if (limit !== "value_bytes") {
      calls.push(
        () => store.get(partition, key),
        () => store.delete(partition, key),
        () => store.deleteMany(partition, [K, key]),
      );
    }
    for (const call of calls) {
      await assert.rejects(
        call,
        (error: { code: string; kind: string; details: Record<string, unknown> }) => {
          assert.deepEqual([error.code, error.kind], ["limit_exceeded", "invalid"]);
          assert.deepEqual([error.details["limit"], error.details["most"]], [limit, most]);
          return true;
        },
      );
    }
    await assertEmpty(inner, partition);
  }
});

test("a scan of a partition beyond the limit is refused, and any bounds are allowed", async () => {
  const store = withLimits(openMemoryKv());
  assert.throws(() => store.scan(new Uint8Array(256)), { code: "limit_exceeded" });
  for await (const _ of store.scan(P, { start: new Uint8Array(2000), prefix: new Uint8Array(2000) })) {
    assert.fail();
  }
});
