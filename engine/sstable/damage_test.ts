import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { concatBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import {
  block,
  type CraftedEntry,
  CraftedTable,
  entry,
  entryBytes,
  namesBlock,
  rawBlock,
  SET,
  tableOfBlock,
} from "../../tests/support/crafted_table.ts";
import { numberedRecords, openBytes, scanAll, writeTable } from "../../tests/support/tables.ts";
import { type ByteSource, memorySource } from "./byte_source.ts";
import { type BlockHandle, encodeFooter, encodeHandle, FOOTER_BYTES } from "./footer.ts";
import { TableReader } from "./reader.ts";
import { encodeVarint } from "./varint.ts";

const FIXED_TWO = Uint8Array.of(2, 0, 0, 0);

/** Reads a table in every way there is. */
async function readAll(source: ByteSource): Promise<void> {
  const reader = await TableReader.open(source);
  await reader.get(utf8("a"));
  await reader.seek(utf8("b"));
  await scanAll(reader, utf8("a"));
  await reader.verify();
}

async function assertCorrupt(bytes: Uint8Array, why: RegExp, offset?: number): Promise<void> {
  await assert.rejects(readAll(memorySource("bad.sst", bytes)), (error) => {
    assert.ok(isCoded(error, "corrupt_file"), String(error));
    assert.match(error.message, why);
    assert.equal(error.details["file"], "bad.sst");
    if (offset !== undefined) assert.equal(error.details["offset"], offset);
    return true;
  });
}

test("what is no table file is corrupt", async () => {
  await assertCorrupt(utf8(""), /only 0 bytes/, 0);
  await assertCorrupt(new Uint8Array(FOOTER_BYTES - 1), /only 52 bytes/);
  await assertCorrupt(new Uint8Array(1000), /no table file/, 1000 - FOOTER_BYTES);
  await assertCorrupt(utf8("PK".repeat(100)), /no table file/);
});

test("a truncated table is corrupt at every length", async () => {
  const table = writeTable(numberedRecords(0, 20));
  for (let length = 0; length < table.length; length++) {
    await assertCorrupt(table.subarray(0, length), /no table file|no footer/);
  }
});

test("a flipped bit in a data block is corrupt with that block's offset", async () => {
  const table = writeTable(numberedRecords(0, 2000));
  const reader = await openBytes(table);
  const damaged = table.slice();
  damaged[10]! ^= 1;
  await assertCorrupt(damaged, /wrong checksum/, 0);
  // What does not touch the damage does not suffer from it.
  const last = numberedRecords(1999, 2000)[0]!;
  assert.deepEqual((await reader.get(last.key))?.slice(), last.value);
});

test("a handle that points beyond the file or beyond the limit takes no memory", async () => {
  const handles: BlockHandle[] = [
    { offset: 0, length: 1000 },
    { offset: 0, length: MAX_BLOCK_BYTES + 1 },
    { offset: Number.MAX_SAFE_INTEGER, length: 1 },
    { offset: 100_000, length: 10 },
    { offset: 0, length: Number.MAX_SAFE_INTEGER },
  ];
  for (const handle of handles) {
    const table = new CraftedTable();
    await assertCorrupt(table.finish({ index: [["z", handle]] }), /beyond the file|more than 67108864/);
    const file = concatBytes(new Uint8Array(100), encodeFooter({ metaindex: handle, index: handle }));
    await assertCorrupt(file, /beyond the file|more than 67108864/);
  }
  const properties = new CraftedTable().finish({
    index: [],
    meta: { "filter": { offset: 0, length: 5000 } },
  });
  await assertCorrupt(properties, /beyond the file/);
});

test("a block beyond the limit is not read, however large the file", async () => {
  const sizeBytes = 2 ** 31;
  const huge = { offset: 0, length: MAX_BLOCK_BYTES + 1 };
  const footer = encodeFooter({ metaindex: huge, index: huge });
  const read = (offset: number, length: number) => {
    assert.ok(length <= 64 * 1024);
    const bytes = new Uint8Array(length);
    if (offset + length === sizeBytes) bytes.set(footer, length - FOOTER_BYTES);
    return Promise.resolve(bytes);
  };
  await assert.rejects(TableReader.open({ name: "huge.sst", sizeBytes, read }), /more than 67108864/);
});

test("a source that gives less than it promised is corrupt", async () => {
  const table = writeTable(numberedRecords(0, 30_000));
  const cut = (sizeBytes: number): ByteSource => ({
    ...memorySource("bad.sst", table.subarray(0, sizeBytes)),
    sizeBytes: table.length,
  });
  await assert.rejects(TableReader.open(cut(1000)), /file shorter than it was/);
  let reads = 0;
  const shrinking: ByteSource = {
    ...memorySource("bad.sst", table),
    read: (offset, length) =>
      Promise.resolve(table.subarray(offset, offset + length - (reads++ > 1 ? 1 : 0))),
  };
  await assert.rejects(readAll(shrinking), (error) => isCoded(error, "corrupt_file"));
});

test("a compression that nobody here uses is corrupt", async () => {
  for (const compression of [2, 3, 4, 5, 6, 8, 255]) {
    await assertCorrupt(tableOfBlock(block([entry("a", "1")]), compression), /block compression/, 0);
  }
});

test("a block that claims to be large is refused before memory is taken", async () => {
  const claim = encodeVarint(MAX_BLOCK_BYTES + 1);
  await assertCorrupt(tableOfBlock(concatBytes(claim, new Uint8Array(100)), 1), /more than 67108864/);
  await assertCorrupt(tableOfBlock(concatBytes(claim, new Uint8Array(100)), 7), /more than 67108864/);
  const large = encodeVarint(MAX_BLOCK_BYTES);
  await assertCorrupt(
    tableOfBlock(concatBytes(large, new Uint8Array(100)), 1),
    /claims more than it can hold/,
  );
});

test("Zstandard data that holds more or less than it claims is corrupt", async () => {
  const bomb = zstdCompressSync(new Uint8Array(32 * 1024 * 1024));
  assert.ok(bomb.length < 10_000);
  await assertCorrupt(tableOfBlock(concatBytes(encodeVarint(1000), bomb), 7), /does not decompress/);
  await assertCorrupt(tableOfBlock(concatBytes(encodeVarint(0), bomb), 7), /does not decompress/);
  const frame = zstdCompressSync(block([entry("a", "1")]));
  await assertCorrupt(
    tableOfBlock(concatBytes(encodeVarint(1000), frame), 7),
    /another length than it claims/,
  );
  await assertCorrupt(
    tableOfBlock(concatBytes(encodeVarint(20), utf8("no frame at all")), 7),
    /does not decompress/,
  );
  await assertCorrupt(tableOfBlock(utf8(""), 7), /number without an end/);
});

test("keys outside what the index says of their block are corrupt", async () => {
  const above = new CraftedTable();
  const block1 = above.append(block([entry("a", "1"), entry("c", "2")]));
  const block2 = above.append(block([entry("d", "3")]));
  await assertCorrupt(above.finish({ index: [["b", block1], ["e", block2]] }), /belong to a later block/, 0);

  const below = new CraftedTable();
  const first = below.append(block([entry("a", "1")]));
  const second = below.append(block([entry("b", "2")]));
  const file = below.finish({ index: [["c", first], ["e", second]] });
  await assertCorrupt(file, /belong to an earlier block/, second.offset);
});

test("an index that names a block twice, or backwards, is corrupt", async () => {
  for (const order of [[0, 0], [1, 0]] as const) {
    const table = new CraftedTable();
    const handles = [table.append(block([entry("a", "1")])), table.append(rawBlock(utf8(""), [0]))];
    const index = [["b", handles[order[0]]!], ["c", handles[order[1]]!]] as const;
    await assertCorrupt(table.finish({ index }), /blocks out of order/);
  }
  const overlapping = new CraftedTable();
  const whole = overlapping.append(block([entry("a", "1")]));
  const inside = { offset: whole.offset + 1, length: whole.length - 1 };
  await assertCorrupt(overlapping.finish({ index: [["b", whole], ["c", inside]] }), /blocks out of order/);
});

test("a two-level index that names a part twice is corrupt", async () => {
  const table = new CraftedTable();
  const data = table.append(block([entry("a", "1")]));
  const part = table.append(block([entry("b", encodeHandle(data))]));
  const file = table.finish({
    index: [["b", part], ["c", part]],
    properties: { "rocksdb.block.based.table.index.type": FIXED_TWO },
  });
  await assertCorrupt(file, /blocks out of order/);
});

test("many index entries for one huge block are not followed", async () => {
  // Two thousand index entries, all for one block of 16 MiB that a few bytes stand for.
  const table = new CraftedTable();
  const empty = new Uint8Array(16 * 1024 * 1024);
  new DataView(empty.buffer).setUint32(empty.length - 4, empty.length / 4 - 1, true);
  const bomb = table.append(concatBytes(encodeVarint(empty.length), zstdCompressSync(empty)), 7);
  const names = Array.from({ length: 2000 }, (_, i) => `k${String(i).padStart(5, "0")}`);
  const file = table.finish({ index: names.map((name) => [name, bomb]) });
  const reader = await openBytes(file);
  await assert.rejects(scanAll(reader), /blocks out of order/);
});

test("a block of very many records is handed over in portions", async () => {
  const entries: CraftedEntry[] = [];
  for (let i = 0; i < 20_000; i++) {
    entries.push({ rest: concatBytes(Uint8Array.of(i >> 8, i & 0xff), SET), value: utf8("") });
  }
  const bytes = tableOfBlock(rawBlock(concatBytes(...entries.map(entryBytes)), [0]));
  const steps: number[] = [];
  for await (const step of (await openBytes(bytes)).blocks()) steps.push(step.length);
  assert.deepEqual(steps, [4096, 4096, 4096, 4096, 3616]);
});

test("properties and index entries that do not decode are corrupt", async () => {
  const withProperties = (properties: Record<string, Uint8Array>) =>
    new CraftedTable().finish({ index: [], properties });
  await assertCorrupt(withProperties({ count: utf8("many") }), /no decimal number/);
  await assertCorrupt(withProperties({ count: utf8("-1") }), /no decimal number/);
  await assertCorrupt(withProperties({ estimated_size_bytes: utf8("1e400") }), /no decimal number/);
  await assertCorrupt(
    withProperties({ "rocksdb.num.entries": Uint8Array.of(0x80) }),
    /number without an end/,
  );
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`name${i}`, utf8("")]));
  await assertCorrupt(withProperties(many), /more than 1000 names/);

  const table = new CraftedTable();
  const index = table.append(block([entry("z", "\x80\x80")]));
  const metaindex = table.append(namesBlock({}));
  await assertCorrupt(
    table.finishWith(encodeFooter({ metaindex, index })),
    /number without an end/,
    index.offset,
  );
});

test("verify() counts the records and reads the blocks that nobody else reads", async () => {
  const table = new CraftedTable();
  const data = table.append(block([entry("a", "1")]));
  const filter = table.append(utf8("some filter"));
  const bytes = table.finish({
    index: [["b", data]],
    meta: { "fullfilter.rocksdb.BuiltinBloomFilter": filter },
    properties: { "rocksdb.num.entries": encodeVarint(1) },
  });
  await (await openBytes(bytes)).verify();
  bytes[filter.offset]! ^= 1;
  await assertCorrupt(bytes, /wrong checksum/, filter.offset);

  const miscounted = new CraftedTable();
  const only = miscounted.append(block([entry("a", "1")]));
  const file = miscounted.finish({
    index: [["b", only]],
    properties: { "rocksdb.num.entries": encodeVarint(2) },
  });
  await assertCorrupt(file, /1 records where the properties say 2/);
});

test("meta blocks that overlap do not make verify() read without end", async () => {
  const table = new CraftedTable();
  const filter = table.append(new Uint8Array(100_000));
  const meta = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`filter.${i}`, filter]));
  await assertCorrupt(table.finish({ index: [], meta }), /blocks that overlap/);
});
