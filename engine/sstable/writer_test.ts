import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import { seededRandomness } from "../../base/randomness.ts";
import {
  numberedRecords,
  openBytes,
  randomRecords,
  scanAll,
  writeTable,
} from "../../tests/support/tables.ts";
import { varintAt } from "./varint.ts";
import type { TableRecord } from "./records.ts";
import { TableWriter } from "./writer.ts";

const summary = { minKey: utf8("a"), maxKey: utf8("z"), count: 3, estimatedSizeBytes: 1234 };

function numberIn(properties: ReadonlyMap<string, Uint8Array>, name: string): number {
  return varintAt(properties.get(name)!, 0).value;
}

test("finish() writes the caller's summary and the writer's counts", async () => {
  const writer = new TableWriter({ type: "metaranges" });
  for (const [key, value] of [["a", "1"], ["bb", "22"], ["ccc", "333"]]) writer.add(utf8(key!), utf8(value!));
  assert.equal(writer.count, 3);
  const reader = await openBytes(writer.finish(summary)), properties = await reader.properties();
  assert.deepEqual(reader.userProperties, { type: "metaranges", ...summary });
  assert.equal(numberIn(properties, "rocksdb.num.entries"), 3);
  assert.equal(numberIn(properties, "rocksdb.num.data.blocks"), 1);
  assert.equal(numberIn(properties, "rocksdb.raw.key.size"), 6 + 3 * 8);
  assert.equal(numberIn(properties, "rocksdb.raw.value.size"), 6);
});

test("the same records give the same bytes, whatever was written before", () => {
  const records = numberedRecords(0, 500);
  const first = writeTable(records);
  writeTable(randomRecords(seededRandomness(1), 300));
  assert.deepEqual(writeTable(records), first);
});

test("data blocks end at 4 KiB", async () => {
  const records = numberedRecords(0, 2000);
  const properties = await (await openBytes(writeTable(records))).properties();
  const blocks = numberIn(properties, "rocksdb.num.data.blocks");
  const bytes = records.reduce((sum, { value }) => sum + value.length + 20, 0);
  assert.ok(Math.abs(blocks - bytes / 4096) < 15, `${blocks} blocks of ${bytes} bytes`);
});

test("endBlock() ends the block under way, and nothing between blocks", async () => {
  const writer = new TableWriter({ type: "ranges", blockBytes: Infinity });
  writer.endBlock();
  for (const { key, value } of numberedRecords(0, 100)) {
    writer.add(key, value);
    assert.ok(writer.blockBytes > 0);
    if (key.at(-1) !== 0x33) continue;
    writer.endBlock();
    assert.equal(writer.blockBytes, 0);
    writer.endBlock();
  }
  const steps: number[] = [];
  for await (const step of (await openBytes(writer.finish(summary))).blocks()) steps.push(step.length);
  assert.deepEqual(steps, [4, 10, 10, 10, 10, 10, 10, 10, 10, 10, 6]);
});

test("a table made of another's stored blocks and of records equals one that was written record by record", async () => {
  const endsBlock = (key: Uint8Array) => key.at(-1) === 0x39;
  const records = numberedRecords(0, 400);
  const plain = writeTable(records, { endsBlock });
  const old = await openBytes(plain);
  const writer = new TableWriter({ type: "ranges", blockBytes: Infinity });
  const add = (part: readonly TableRecord[]) => {
    for (const { key, value } of part) {
      writer.add(key, value);
      if (endsBlock(key)) writer.endBlock();
    }
  };
  const copy = async (from: number, to: number) => {
    const part = records.slice(from * 10, to * 10);
    const sum = (lengths: number[]) => lengths.reduce((total, length) => total + length, 0);
    writer.addStored({
      index: old.index,
      from,
      to,
      bytes: await old.storedBlocks(from, to),
      records: part.length,
      keyBytes: sum(part.map(({ key }) => key.length)),
      valueBytes: sum(part.map(({ value }) => value.length)),
    });
  };
  add(records.slice(0, 50));
  await copy(5, 17);
  add(records.slice(170, 180));
  await copy(18, 19);
  await copy(19, 40);
  const first = records[0]!.key, last = records.at(-1)!.key;
  const bytes = writer.finish({ minKey: first, maxKey: last, count: 400, estimatedSizeBytes: 8 });
  assert.deepEqual(bytes, plain);
});

test("equal runs of records give equal blocks and equal index entries in different tables", async () => {
  const endsBlock = (key: Uint8Array) => key.at(-1) === 0x39;
  const all = numberedRecords(0, 400);
  const changed = all.map((record, i) => i === 5 ? { ...record, value: utf8("another") } : record);
  const [left, right] = [
    writeTable(all, { endsBlock }),
    writeTable(changed, { endsBlock }),
  ];
  let firstDifference = 0, same = 0;
  while (left[firstDifference] === right[firstDifference]) firstDifference++;
  // From the second block on the bytes of the data blocks are the same, only shifted.
  const [leftBytes, rightBytes] = [await dataBytes(left), await dataBytes(right)];
  while (same < leftBytes && left[leftBytes - 1 - same] === right[rightBytes - 1 - same]) same++;
  assert.ok(firstDifference < 200);
  assert.ok(same > leftBytes * 0.9, `${same} of ${leftBytes} bytes are the same`);
});

async function dataBytes(table: Uint8Array): Promise<number> {
  return numberIn(await (await openBytes(table)).properties(), "rocksdb.data.size");
}

test("a block is stored compressed only if that saves an eighth", async () => {
  const random = seededRandomness(9);
  const noise = { key: utf8("a"), value: random.bytes(3000) };
  const text = { key: utf8("a"), value: utf8("a line of text, ".repeat(200)) };
  assert.equal(await compressionOfFirstBlock([noise]), 0);
  assert.equal(await compressionOfFirstBlock([text]), 1);
  // 300 of 3,300 bytes can be saved: too little.
  const little = { key: utf8("a"), value: Uint8Array.of(...random.bytes(3000), ...new Uint8Array(300)) };
  assert.equal(await compressionOfFirstBlock([little]), 0);
  const enough = { key: utf8("a"), value: Uint8Array.of(...random.bytes(3000), ...new Uint8Array(600)) };
  assert.equal(await compressionOfFirstBlock([enough]), 1);
});

async function compressionOfFirstBlock(records: { key: Uint8Array; value: Uint8Array }[]): Promise<number> {
  const table = writeTable(records);
  assert.deepEqual(await scanAll(await openBytes(table)), records);
  return table[(await dataBytes(table)) - 5]!;
}

test("add() and finish() hold callers to the contract", () => {
  const isBug = (error: unknown) => isCoded(error, "internal");
  const writer = new TableWriter({ type: "ranges" });
  writer.add(utf8("b"), utf8(""));
  assert.throws(() => writer.add(utf8("b"), utf8("")), isBug);
  assert.throws(() => writer.add(utf8("a"), utf8("")), isBug);
  assert.throws(() => writer.add(new Uint8Array(MAX_TABLE_KEY_BYTES + 1).fill(0x7a), utf8("")), isBug);
  writer.finish(summary);
  assert.throws(() => writer.add(utf8("c"), utf8("")), isBug);
  assert.throws(() => writer.finish(summary), isBug);
});
