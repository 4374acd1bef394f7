import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { block, entry } from "../../tests/support/crafted_table.ts";
import { draw, numberedRecords, probesOf, randomRecords, writeTable } from "../../tests/support/tables.ts";
import { Block, RECORD_TRAILER } from "./block.ts";
import { BlockBuilder } from "./block_builder.ts";
import { BlockCache, CachedBlocks } from "./block_cache.ts";
import { memorySource } from "./byte_source.ts";
import { TableReader } from "./reader.ts";
import { RecordDecoder, type TableRecord, tableRecord } from "./records.ts";

const PLACE = { file: "test.sst", offset: 0 };
const MAX_BYTES = 60_000;

function blockOf(records: readonly TableRecord[], restartInterval = 16): Block {
  const builder = new BlockBuilder({ restartInterval, trailer: RECORD_TRAILER });
  for (const { key, value } of records) builder.add(key, value);
  return new Block(builder.finish().slice(), { keyForm: "record", place: PLACE });
}

function recordsIn(block: Block): TableRecord[] {
  return new RecordDecoder(block, { make: tableRecord }).next(Infinity);
}

function valueIn(
  cache: BlockCache,
  blocks: CachedBlocks,
  i: number,
  key: Uint8Array,
): Uint8Array | undefined {
  const found = cache.find(blocks, i, { key, prefix: 0 });
  return found?.valueBytes.slice(found.valueStart, found.valueEnd);
}

function assertHolds(
  cache: BlockCache,
  blocks: CachedBlocks,
  i: number,
  records: readonly TableRecord[],
): void {
  for (const probe of probesOf(records)) {
    const expected = records.find(({ key }) => compareBytes(key, probe) === 0);
    assert.deepEqual(valueIn(cache, blocks, i, probe), expected?.value);
  }
}

/** Draws records of one block, which has about `bytes`. */
function drawBlock(random: Randomness, bytes: number): TableRecord[] {
  const from = draw(random, 1_000_000);
  const count = 1 + draw(random, 20);
  return numberedRecords(from, from + count).map(({ key }) => ({
    key,
    value: random.bytes(bytes / count | 0),
  }));
}

test("find() gives what a list of the block's records gives, whatever the keys and restart points", () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = seededRandomness(seed);
    const records = randomRecords(random, draw(random, 200));
    const cache = new BlockCache(4_000_000), blocks = new CachedBlocks(1);
    cache.add(blocks, 0, blockOf(records, 1 + draw(random, 20)));
    assert.ok(blocks.has(0));
    assertHolds(cache, blocks, 0, records);
  }
});

test("copy() gives a block with the records of the one that was kept", () => {
  const cache = new BlockCache(MAX_BYTES), blocks = new CachedBlocks(2);
  const kept = blockOf(numberedRecords(0, 20));
  cache.add(blocks, 1, kept);
  const copy = cache.copy(blocks, 1, PLACE);
  assert.deepEqual(recordsIn(copy), recordsIn(kept));
  assert.equal(copy.bytes.buffer.byteLength < 2 * kept.bytes.length, true);
  copy.bytes.fill(0);
  assertHolds(cache, blocks, 1, numberedRecords(0, 20));
});

test("the memory stays within its bound, and every block in it whole, through any adding and using", () => {
  for (let seed = 0; seed < 10; seed++) {
    const random = seededRandomness(seed);
    const cache = new BlockCache(MAX_BYTES);
    const tables = Array.from({ length: 3 }, () => new CachedBlocks(60));
    const added = new Map<CachedBlocks, TableRecord[][]>(tables.map((table) => [table, []]));
    let dropped = 0;
    for (let step = 0; step < 600; step++) {
      const table = tables[draw(random, tables.length)]!, i = draw(random, 60);
      const records = added.get(table)!;
      if (!table.has(i)) {
        if (records[i]) dropped++;
        records[i] = drawBlock(random, 100 + draw(random, 6000));
        cache.add(table, i, blockOf(records[i]!));
        assert.ok(table.has(i));
      } else if (random.fraction() < 0.7) {
        const { key, value } = records[i]!.at(-1)!;
        assert.deepEqual(valueIn(cache, table, i, key), value);
      }
      assert.ok(cache.bytes <= MAX_BYTES);
    }
    assert.ok(dropped > 100);
    let keptBytes = 0;
    for (const table of tables) {
      for (const [i, records] of added.get(table)!.entries()) {
        if (!records || !table.has(i)) continue;
        const kept = cache.copy(table, i, PLACE);
        assert.deepEqual(recordsIn(kept), records);
        assertHolds(cache, table, i, records);
        keptBytes += blockOf(records).bytes.length;
      }
    }
    assert.ok(keptBytes > MAX_BYTES / 2 && keptBytes < MAX_BYTES, `${keptBytes} bytes`);
  }
});

test("a block that is used stays while others come and go", () => {
  const random = seededRandomness(3);
  const cache = new BlockCache(MAX_BYTES), blocks = new CachedBlocks(301);
  const used = drawBlock(random, 3000);
  cache.add(blocks, 300, blockOf(used));
  for (let i = 0; i < 300; i++) {
    cache.add(blocks, i, blockOf(drawBlock(random, 3000)));
    assert.deepEqual(valueIn(cache, blocks, 300, used[0]!.key), used[0]!.value);
  }
  assert.ok(!blocks.has(0));
});

test("a block that would fill much of the memory, or has too large values, is not kept", () => {
  const cache = new BlockCache(40_000), blocks = new CachedBlocks(2);
  cache.add(blocks, 0, blockOf([{ key: utf8("a"), value: new Uint8Array(20_000) }]));
  assert.ok(!blocks.has(0));
  const large = new BlockCache(8_000_000);
  large.add(blocks, 1, blockOf([{ key: utf8("a"), value: new Uint8Array(70_000) }]));
  assert.ok(!blocks.has(1));
  const none = new BlockCache(0);
  none.add(blocks, 1, blockOf(numberedRecords(0, 3)));
  assert.equal(none.bytes, 0);
});

test("a block with an entry that is no record is refused where it would be kept", () => {
  const deletion = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0);
  const bad = block([entry("a", "1"), entry("b", "", deletion)]);
  const cache = new BlockCache(MAX_BYTES), blocks = new CachedBlocks(1);
  assert.throws(
    () => cache.add(blocks, 0, new Block(bad, { keyForm: "record", place: PLACE })),
    (error) => isCoded(error, "corrupt_file"),
  );
  assert.ok(!blocks.has(0));
});

test("what a look-up gave stays as it was while other look-ups push its block out", async () => {
  const random = seededRandomness(4);
  const records = numberedRecords(0, 4000).map(({ key }) => ({ key, value: random.bytes(60) }));
  const cache = new BlockCache(MAX_BYTES);
  const table = writeTable(records);
  assert.ok(table.length > 4 * MAX_BYTES);
  const source = {
    ...memorySource("slow.sst", table),
    read: async (offset: number, length: number) => {
      await Promise.resolve();
      return table.slice(offset, offset + length);
    },
  };
  const readers = await Promise.all([
    TableReader.open(source, { cache }),
    TableReader.open(source, { cache }),
  ]);
  const looks = Array.from({ length: 3000 }, () => records[draw(random, records.length)]!);
  const values: (Uint8Array | undefined)[] = [];
  for (let from = 0; from < looks.length; from += 50) {
    const some = looks.slice(from, from + 50);
    values.push(...await Promise.all(some.map(({ key }, i) => readers[i % 2]!.get(key))));
  }
  for (const [i, { value }] of looks.entries()) {
    assert.deepEqual(values[i], value);
    values[i]!.fill(0);
  }
  // Nor does what a caller does to it change what others are given.
  for (const { key, value } of looks) assert.deepEqual(await readers[0]!.get(key), value);
  assert.ok(cache.bytes <= MAX_BYTES);
});

test("of look-ups side by side in one block, one reads it", async () => {
  const records = numberedRecords(0, 30_000);
  const table = writeTable(records);
  let reads = 0;
  const reader = await TableReader.open({
    ...memorySource("counted.sst", table),
    read: (offset, length) => {
      reads++;
      return Promise.resolve(table.subarray(offset, offset + length));
    },
  });
  for (let i = 0; i < 5; i++) await reader.get(records[0]!.key);
  reads = 0;
  const same = records.slice(20_000, 20_002);
  const found = await Promise.all([...same, ...same].map(({ key }) => reader.get(key)));
  assert.deepEqual(found, [...same, ...same].map(({ value }) => value));
  assert.ok(reads <= 2, `${reads} reads`);
  await reader.get(same[0]!.key);
  assert.ok(reads <= 2);
});

test("a look-up that reads a block gives the value alone: the block's memory serves the next one", async () => {
  const records = numberedRecords(0, 30_000);
  const reader = await TableReader.open(memorySource("t", writeTable(records)), {
    cache: new BlockCache(MAX_BYTES),
  });
  for (let i = 0; i < 5; i++) await reader.get(records[0]!.key);
  for (let i = 1000; i < records.length; i += 1000) {
    const { key, value } = records[i]!, found = reader.find(key);
    assert.ok(found instanceof Promise, "the block is not there yet");
    const { valueBytes, valueStart, valueEnd } = (await found)!;
    assert.deepEqual(valueBytes.slice(valueStart, valueEnd), value);
    assert.equal(valueBytes.length, value.length);
    assert.ok(!(reader.find(key) instanceof Promise));
  }
});
