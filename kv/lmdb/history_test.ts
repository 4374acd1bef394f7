import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { hex } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { KvStore } from "../store.ts";
import { openLmdb } from "./mod.ts";
import { checkDatabase } from "./whole_check.ts";

const ROUNDS = 30;
/** Some that have found mistakes, and some more. */
const SEEDS = [1006, 1009, 5005, 5034, ...Array.from({ length: 16 }, (_, i) => i)];

test("over random histories whoever writes and whoever only reads sees what was written, and the whole check finds nothing wrong", async (t) => {
  for (const seed of SEEDS) await run(t, seed);
});

/** Writes, several calls to a transaction, with keys and values from short to as long as can be, and reads all of it. */
async function run(t: TestContext, seed: number): Promise<void> {
  const random = seededRandomness(seed);
  const below = (bound: number) => Math.floor(random.fraction() * bound);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const longestKey = oneOf([8, 40, 300, 1000]), longestValue = oneOf([50, 600, 3000, 20_000]);
  const names = Array.from({ length: oneOf([30, 200, 1500]) }, () => random.bytes(1 + below(longestKey)));
  const partitions = Array.from({ length: 1 + below(4) }, (_, i) => ({
    name: Uint8Array.of(i, ...random.bytes(below(30))),
    model: new Map<string, string>(),
  }));
  const value = (): Uint8Array => {
    const first = below(256), length = below(below(6) === 0 ? 4 * longestValue : longestValue);
    return Uint8Array.from({ length }, (_, i) => (first + 7 * i) & 0xff);
  };
  const folder = temporaryFolder(t);
  const writer = await openLmdb(folder), reader = await openLmdb(folder);
  for (let round = 0; round < ROUNDS; round++) {
    const { name, model } = oneOf(partitions);
    const calls = Array.from({ length: 1 + below(4) }, () => {
      if (below(3) === 0) {
        const keys = Array.from({ length: 1 + below(100) }, () => oneOf(names));
        for (const key of keys) model.delete(hex(key));
        return writer.deleteMany(name, keys);
      }
      const entries = Array.from({ length: 1 + below(80) }, () => ({ key: oneOf(names), value: value() }));
      for (const entry of entries) model.set(hex(entry.key), hex(entry.value));
      return writer.setMany(name, entries);
    });
    await Promise.all(calls);
    await checkDatabase(folder);
    const pageSize = 1 + below(300);
    for (const { name, model } of partitions) {
      await proveScan(reader, { name, model, pageSize });
      await proveScan(writer, { name, model, pageSize });
      for (let i = 0; i < 10; i++) {
        const key = oneOf(names), found = await reader.get(name, key);
        assert.equal(found && hex(found.value), model.get(hex(key)), `seed ${seed}, round ${round}`);
      }
    }
  }
  await writer.close();
  await reader.close();
}

async function proveScan(
  store: KvStore,
  { name, model, pageSize }: { name: Uint8Array; model: ReadonlyMap<string, string>; pageSize: number },
): Promise<void> {
  const found = new Map<string, string>();
  for await (const page of store.scan(name, { pageSize })) {
    for (const { key, value } of page) found.set(hex(key), hex(value));
  }
  assert.deepEqual([...found], [...model].sort(([a], [b]) => a < b ? -1 : 1));
}
