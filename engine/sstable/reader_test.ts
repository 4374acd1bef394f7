import assert from "node:assert/strict";
import { test } from "node:test";
import { afterKey, compareBytes, utf8 } from "../../base/bytes.ts";
import { MAX_TABLE_KEY_BYTES, MAX_VALUE_BYTES } from "../../base/limits.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { block, CraftedTable, entry, namesBlock } from "../../tests/support/crafted_table.ts";
import {
  draw,
  numberedRecords,
  openBytes,
  probesOf,
  randomRecords,
  scanAll,
  writeTable,
} from "../../tests/support/tables.ts";
import { type ByteSource, memorySource } from "./byte_source.ts";
import { encodeFooter, encodeHandle } from "./footer.ts";
import { TableReader } from "./reader.ts";
import type { TableRecord } from "./records.ts";

/** Asserts that all ways to read give what a list of the records gives. */
async function assertReads(
  reader: TableReader,
  records: readonly TableRecord[],
  probes: readonly Uint8Array[],
) {
  assert.deepEqual(await scanAll(reader), records);
  for (const probe of probes) {
    const rest = records.filter(({ key }) => compareBytes(key, probe) >= 0);
    const exact = rest[0] && compareBytes(rest[0].key, probe) === 0 ? rest[0].value : undefined;
    assert.deepEqual((await reader.get(probe))?.slice(), exact);
    const found = await reader.seek(probe);
    assert.deepEqual(found && { key: found.key, value: found.value.slice() }, rest[0]);
    assert.deepEqual(await scanAll(reader, probe), rest);
  }
  await reader.verify();
}

/** A source that counts its reads. */
function countingSource(bytes: Uint8Array): ByteSource & { reads: [offset: number, length: number][] } {
  const reads: [number, number][] = [];
  const read = (offset: number, length: number) => {
    reads.push([offset, length]);
    return Promise.resolve(bytes.subarray(offset, offset + length));
  };
  return { name: "counting.sst", sizeBytes: bytes.length, read, reads };
}

test("a table gives back what was written, at counts around restart points and block boundaries", async () => {
  for (const count of [0, 1, 2, 15, 16, 17, 48, 49, 150]) {
    const records = numberedRecords(0, count);
    await assertReads(await openBytes(writeTable(records)), records, probesOf(records));
  }
});

test("a table gives back random records from random blocks", async () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = seededRandomness(seed);
    const records = randomRecords(random, draw(random, 120));
    const cutEvery = 1 + draw(random, 12);
    const table = writeTable(records, { endsBlock: () => draw(random, cutEvery) === 0 });
    const probes = probesOf(records).filter(() => random.fraction() < 0.3);
    await assertReads(await openBytes(table), records, probes);
  }
});

test("a table with one record a block is searched by its index alone", async () => {
  const records = numberedRecords(0, 60);
  const table = writeTable(records, { endsBlock: () => true });
  await assertReads(await openBytes(table), records, probesOf(records));
});

test("an empty table opens, holds nothing and verifies", async () => {
  const reader = await openBytes(writeTable([]));
  await assertReads(reader, [], [utf8(""), utf8("a")]);
  assert.equal(reader.userProperties.count, 0);
});

test("the empty key is a key", async () => {
  const records = [{ key: utf8(""), value: utf8("root") }, { key: utf8("a"), value: utf8("") }];
  await assertReads(await openBytes(writeTable(records)), records, probesOf(records));
});

test("values of 256 KiB and more, and keys up to the limit, are held", async () => {
  const random = seededRandomness(8);
  const stem = random.bytes(MAX_TABLE_KEY_BYTES - 1).fill(0x61, 0, 1000);
  const records = [
    { key: utf8("a"), value: random.bytes(MAX_VALUE_BYTES) },
    { key: utf8("aa"), value: new Uint8Array(3 * 1024 * 1024) },
    { key: stem, value: utf8("long") },
    { key: afterKey(stem), value: utf8("the longest") },
    { key: utf8("b"), value: utf8("") },
  ];
  await assertReads(await openBytes(writeTable(records)), records, probesOf(records));
});

test("open() reads a file's end once, and a small file never again", async () => {
  const table = writeTable(numberedRecords(0, 300));
  assert.ok(table.length < 64 * 1024);
  const source = countingSource(table);
  const reader = await TableReader.open(source);
  await reader.get(utf8("folder-0001/file-0000150"));
  await scanAll(reader);
  assert.deepEqual(source.reads, [[0, table.length]]);
});

test("open() reads twice where the index does not fit the file's end", async () => {
  const random = seededRandomness(2);
  const keys = Array.from({ length: 3000 }, () => random.bytes(30)).sort(compareBytes);
  const records = keys.map((key) => ({ key, value: utf8("value") }));
  const source = countingSource(writeTable(records, { endsBlock: () => true }));
  await TableReader.open(source);
  assert.equal(source.reads.length, 2);
  assert.deepEqual(source.reads[0], [source.sizeBytes - 64 * 1024, 64 * 1024]);
});

test("get() reads one block of a large file, at its end too: opening leaves nothing behind", async () => {
  const records = numberedRecords(0, 30_000);
  const source = countingSource(writeTable(records));
  const reader = await TableReader.open(source);
  for (const { key, value } of [records[12_345]!, records[29_999]!]) {
    source.reads.length = 0;
    assert.deepEqual((await reader.get(key))?.slice(), value);
    assert.equal(source.reads.length, 1);
    assert.ok(source.reads[0]![1] < 4096);
  }
});

test("blocks() reads ahead more and more, each byte once, and nothing before its start", async () => {
  const random = seededRandomness(5);
  const records = numberedRecords(0, 20_000).map(({ key }) => ({ key, value: random.bytes(200) }));
  const source = countingSource(writeTable(records));
  const reader = await TableReader.open(source);
  source.reads.length = 0;
  assert.deepEqual((await scanAll(reader)).length, 20_000);
  const lengths = source.reads.map(([, length]) => length);
  assert.ok(lengths.every((length) => length <= 1024 * 1024));
  assert.ok(lengths[0]! <= 64 * 1024 && lengths[1]! > 64 * 1024 && lengths.length < 12, String(lengths));
  for (const [i, [offset]] of source.reads.entries()) {
    if (i > 0) assert.equal(offset, source.reads[i - 1]![0] + source.reads[i - 1]![1]);
  }

  source.reads.length = 0;
  for await (const step of reader.blocks(records[19_000]!.key)) {
    assert.deepEqual(step[0]!.key, records[19_000]!.key);
    break;
  }
  assert.equal(source.reads.length, 1);
  assert.ok(source.reads[0]![0] > source.sizeBytes * 0.8);
});

test("calls on one reader run side by side", async () => {
  const records = numberedRecords(0, 3000);
  const table = writeTable(records);
  const slow = { ...memorySource("slow.sst", table), read: slowRead };
  async function slowRead(offset: number, length: number) {
    await new Promise((resolve) => setTimeout(resolve, offset % 3));
    return table.subarray(offset, offset + length);
  }
  const reader = await TableReader.open(slow);
  const scans = [scanAll(reader), scanAll(reader, records[1500]!.key)];
  const gets = records.filter((_, i) => i % 40 === 0).map(async ({ key, value }) => {
    assert.deepEqual((await reader.get(key))?.slice(), value);
  });
  await Promise.all(gets);
  assert.deepEqual(await scans[0], records);
  assert.deepEqual(await scans[1], records.slice(1500));
});

test("a table without properties can be read", async () => {
  const table = new CraftedTable();
  const data = table.append(block([entry("a", "1")]));
  const index = table.append(block([entry("a", encodeHandle(data))]));
  const metaindex = table.append(namesBlock({}));
  const reader = await openBytes(table.finishWith(encodeFooter({ metaindex, index })));
  assert.deepEqual(reader.userProperties, {});
  assert.equal((await reader.properties()).size, 0);
  await assertReads(reader, [{ key: utf8("a"), value: utf8("1") }], [utf8("a"), utf8("b")]);
});

test("an index with keys of all lengths is read, and tells which blocks end before a place in the file", async () => {
  const lengths = [1, 2, 100, 118, 119, 120, 121, 127, 128, 1000, 1015, 1016, 1017, 3000, 16_383, 16_384];
  for (const longest of [120, 1016, 20_000]) {
    const keys = lengths.filter((length) => length <= longest).map((length) =>
      new Uint8Array(length).fill(7)
    );
    const records = keys.map((key) => ({ key, value: key }));
    const reader = await openBytes(writeTable(records, { blockBytes: 1 }));
    const { index } = reader;
    assert.equal(index.count, records.length);
    assert.deepEqual(keys.map((_, i) => index.separator(i).slice()), keys);
    await assertReads(reader, records, keys.map(afterKey));
    const beyond = (place: number, from: number, to: number) => {
      let i = from + 1;
      while (i < to && index.end(i) <= place) i++;
      return i;
    };
    for (let from = 0; from < index.count; from++) {
      for (const place of [0, index.end(from), ...keys.map((_, i) => index.end(i) + (i % 3) - 1)]) {
        assert.equal(index.firstBeyond(place, { from, to: index.count }), beyond(place, from, index.count));
      }
    }
  }
});
