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
import { TableWriter } from "./writer.ts";

const summary = { minKey: utf8("a"), maxKey: utf8("z"), count: 3, estimatedSizeBytes: 1234 };

function numberIn(properties: ReadonlyMap<string, Uint8Array>, name: string): number {
  return varintAt(properties.get(name)!, 0).value;
}

test("finish() writes the caller's summary and the writer's counts", async () => {
  const writer = new TableWriter({ type: "metaranges" });
  for (const [key, value] of [["a", "1"], ["bb", "22"], ["ccc", "333"]]) writer.add(utf8(key!), utf8(value!));
  assert.equal(writer.count, 3);
  const { properties, userProperties } = await openBytes(writer.finish(summary));
  assert.deepEqual(userProperties, { type: "metaranges", ...summary });
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
  const { properties } = await openBytes(writeTable(records));
  const blocks = numberIn(properties, "rocksdb.num.data.blocks");
  const bytes = records.reduce((sum, { value }) => sum + value.length + 20, 0);
  assert.ok(Math.abs(blocks - bytes / 4096) < 15, `${blocks} blocks of ${bytes} bytes`);
});

test("cutBlock is asked after each record, and its block ends there", async () => {
  const asked: [key: string, size: number][] = [];
  const records = numberedRecords(0, 100);
  const table = writeTable(records, {
    type: "ranges",
    cutBlock: (key, size) => {
      asked.push([new TextDecoder().decode(key), size]);
      return key.at(-1) === 0x33;
    },
  });
  assert.deepEqual(asked.map(([key]) => key), records.map(({ key }) => new TextDecoder().decode(key)));
  // The size is that of the block under way.
  assert.ok(asked[3]![1] > asked[2]![1] && asked[4]![1] < asked[3]![1]);
  const steps: number[] = [];
  for await (const step of (await openBytes(table)).blocks()) steps.push(step.length);
  assert.deepEqual(steps, [4, 10, 10, 10, 10, 10, 10, 10, 10, 10, 6]);
});

test("equal runs of records give equal blocks and equal index entries in different tables", async () => {
  const cutBlock = (key: Uint8Array) => key.at(-1) === 0x39;
  const all = numberedRecords(0, 400);
  const changed = all.map((record, i) => i === 5 ? { ...record, value: utf8("another") } : record);
  const [left, right] = [
    writeTable(all, { type: "ranges", cutBlock }),
    writeTable(changed, { type: "ranges", cutBlock }),
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
  return numberIn((await openBytes(table)).properties, "rocksdb.data.size");
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
