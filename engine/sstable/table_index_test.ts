import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { memorySource } from "./byte_source.ts";
import { TableReader } from "./reader.ts";
import type { TableIndex } from "./table_index.ts";
import { TableWriter } from "./writer.ts";

const PREFIX = "a/common/beginning/";

test("an index finds the block of any key, whatever its separators have in common", async () => {
  const random = seededRandomness(5);
  for (const prefix of ["", "x", PREFIX]) {
    const keys = keysUnder(prefix, 3000);
    const { index } = await tableOf(keys);
    assert.ok(index.count > 50);
    const separators = Array.from({ length: index.count }, (_, i) => index.separator(i));
    for (const key of [...keys, ...strangers(prefix, keys, random)]) {
      const expected = separators.findIndex((separator) => compareBytes(separator, key) >= 0);
      const found = index.firstAtOrAfter(key);
      assert.equal(found, expected < 0 ? index.count : expected, new TextDecoder().decode(key));
      for (const other of keysOfBlock(keys, separators, found)) {
        assert.deepEqual(key.slice(0, index.sharedPrefix), other.slice(0, index.sharedPrefix));
      }
      const at = Math.min(found, index.count - 1);
      const inMore = new Uint8Array([7, ...key, 7]);
      const order = index.compareKey(inMore, { start: 1, end: 1 + key.length }, at);
      assert.equal(Math.sign(order), Math.sign(compareBytes(key, separators[at]!)));
    }
  }
});

test("what all separators begin with takes memory once", async () => {
  const { index } = await tableOf(keysUnder(PREFIX, 3000));
  const separators = Array.from({ length: index.count }, (_, i) => index.separator(i).length);
  const whole = separators.reduce((sum, length) => sum + length, 0);
  assert.ok(index.prefix.length >= PREFIX.length);
  assert.equal(index.suffixEnd(index.count - 1), whole - index.count * index.prefix.length);
  assert.ok(index.memoryBytes < whole + index.count * 16 - index.count * PREFIX.length / 2);
});

test("an index of one block, or of none, has its place for every key", async () => {
  const one = (await tableOf([utf8("k")])).index;
  assert.deepEqual(["", "j", "k", "k/", "l"].map((key) => one.firstAtOrAfter(utf8(key))), [0, 0, 0, 1, 1]);
  assert.deepEqual(one.separator(0), utf8("k"));
});

function keysUnder(prefix: string, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => utf8(`${prefix}${String(i * 7).padStart(6, "0")}`));
}

/** Keys between, before and behind those that are there, shorter and longer ones. */
function strangers(
  prefix: string,
  keys: readonly Uint8Array[],
  random: { fraction(): number },
): Uint8Array[] {
  const made = ["", "\u0001", prefix, prefix.slice(0, -1), `${prefix}~`, `${prefix.slice(0, -1)}~`, "~"].map(
    utf8,
  );
  for (let i = 0; i < 2000; i++) {
    const key = keys[Math.floor(random.fraction() * keys.length)]!.slice();
    key[Math.floor(random.fraction() * key.length)]! += random.fraction() < 0.5 ? 1 : -1;
    made.push(key.slice(0, Math.ceil(random.fraction() * key.length)));
    made.push(utf8(`${new TextDecoder().decode(key)}x`));
  }
  return made;
}

function keysOfBlock(
  keys: readonly Uint8Array[],
  separators: readonly Uint8Array[],
  block: number,
): Uint8Array[] {
  if (block === separators.length) return [];
  const before = separators[block - 1];
  return keys.filter((key) =>
    compareBytes(key, separators[block]!) <= 0 && (!before || compareBytes(key, before) > 0)
  );
}

async function tableOf(keys: readonly Uint8Array[]): Promise<{ index: TableIndex }> {
  const writer = new TableWriter({ type: "ranges", blockBytes: 512 });
  for (const key of keys) writer.add(key, utf8("value"));
  const bytes = writer.finish({
    id: "",
    minKey: keys[0]!,
    maxKey: keys.at(-1)!,
    count: keys.length,
    estimatedSizeBytes: 0,
  });
  return await TableReader.open(memorySource("t", bytes));
}
