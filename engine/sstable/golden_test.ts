import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compareBytes, concatBytes, fromHex, hex, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { entriesOf, golden, type GoldenCase, goldenFile } from "../../tests/support/golden.ts";
import { openBytes, scanAll, writeTable } from "../../tests/support/tables.ts";
import { maskedCrc32c } from "./crc32c.ts";
import { memorySource } from "./byte_source.ts";
import { type BlockHandle, decodeFooter, decodeHandle, FOOTER_BYTES } from "./footer.ts";
import { RecordDecoder, type TableRecord, tableRecord } from "./records.ts";
import { TableFile } from "./table_file.ts";
import { varintAt } from "./varint.ts";

/** How `vectors.json` describes a table. */
interface GoldenTable {
  readonly id: string;
  readonly min_key: string;
  readonly max_key: string;
  readonly count: number;
  readonly estimated_size_bytes: number;
  readonly metarange_value_hex?: string;
  readonly sstable: {
    readonly sha256: string;
    readonly footer_hex: string;
    readonly blocks: Readonly<Record<"index_0" | "meta_index" | "properties", GoldenBlock>>;
    readonly data_blocks: readonly GoldenBlock[];
    readonly properties: Readonly<Record<string, string>>;
    readonly raw_properties_hex?: Readonly<Record<string, string>>;
  };
}

interface GoldenBlock extends BlockHandle {
  readonly type: number;
  readonly crc_hex: string;
}

const tables = golden.cases.flatMap((goldenCase) => {
  const ranges = goldenCase.ranges as unknown as readonly GoldenTable[];
  const metarange = goldenCase.metarange as unknown as GoldenTable;
  return [
    ...ranges.map((table) => ({ goldenCase, kind: "ranges" as const, table })),
    { goldenCase, kind: "metaranges" as const, table: metarange },
  ];
});

function bytesOf(goldenCase: GoldenCase, kind: "ranges" | "metaranges", id: string): Uint8Array {
  return new Uint8Array(readFileSync(goldenFile(goldenCase, kind, id)));
}

/** Returns a property as `vectors.json` shows it. */
function shown(name: string, value: Uint8Array): string {
  if (name.endsWith("filtering")) return value[0] === 0x30 ? "false" : "true";
  if (name.endsWith("index.type") || name.includes("external_sst_file")) return String(value[0]);
  const isText = /^(rocksdb\.(comparator|compression|merge\.operator|prefix|property))|^[^.]*$/.test(name);
  if (isText) return new TextDecoder().decode(value);
  // Varints of 32 bits that stand for -1.
  if (name === "rocksdb.column.family.id") return hex(value) === "ffffffff07" ? "-" : "";
  return String(varintAt(value, 0).value);
}

for (const { goldenCase, kind, table } of tables) {
  const what = `${goldenCase.name}/${kind}/${table.id.slice(0, 8)}`;
  const bytes = bytesOf(goldenCase, kind, table.id);
  const { sstable } = table;

  test(`${what} has the described blocks with right checksums, and verifies`, async () => {
    assert.equal(hex(sha256(bytes)), sstable.sha256);
    const footer = decodeFooter(bytes.subarray(-FOOTER_BYTES));
    assert.equal(hex(bytes.subarray(-FOOTER_BYTES)), sstable.footer_hex);
    const { index_0: index, meta_index: metaindex } = sstable.blocks;
    assert.deepEqual(footer.index, { offset: index.offset, length: index.length });
    assert.deepEqual(footer.metaindex, { offset: metaindex.offset, length: metaindex.length });
    for (
      const { offset, length, type, crc_hex } of [...Object.values(sstable.blocks), ...sstable.data_blocks]
    ) {
      assert.equal(bytes[offset + length], type);
      const sum = maskedCrc32c(bytes.subarray(offset, offset + length + 1));
      assert.equal(hex(bytes.subarray(offset + length + 1, offset + length + 5)), crc_hex);
      assert.equal(new DataView(bytes.buffer).getUint32(offset + length + 1, true), sum);
    }
    await (await openBytes(bytes)).verify();
  });

  test(`${what} has the described properties`, async () => {
    const reader = await openBytes(bytes);
    const properties = await reader.properties();
    assert.deepEqual(
      Object.fromEntries([...properties].map(([name, value]) => [name, shown(name, value)])),
      sstable.properties,
    );
    for (const [name, value] of Object.entries(sstable.raw_properties_hex ?? {})) {
      assert.equal(hex(properties.get(name)!), value);
    }
    assert.deepEqual(reader.userProperties, {
      type: kind,
      minKey: utf8(table.min_key),
      maxKey: utf8(table.max_key),
      count: table.count,
      estimatedSizeBytes: table.estimated_size_bytes,
    });
  });

  test(`${what} has an index of the described data blocks, which a scan hands over one by one`, async () => {
    const file = await TableFile.open(memorySource(what, bytes));
    const entries = new RecordDecoder(await file.loadBlock(file.footer().index, "separator"), {
      make: tableRecord,
    }).next(Infinity);
    assert.deepEqual(
      entries.map(({ value }) => decodeHandle(value)),
      sstable.data_blocks.map(({ offset, length }) => ({ offset, length })),
    );
    const counts: number[] = [];
    for await (const step of (await openBytes(bytes)).blocks()) counts.push(step.length);
    assert.equal(counts.length, table.count === 0 ? 0 : sstable.data_blocks.length);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), table.count);
  });
}

for (const goldenCase of golden.cases) {
  test(`the records of ${goldenCase.name} are read exactly, by scan, get and seek`, async () => {
    const records: TableRecord[] = [];
    for (const { id } of goldenCase.ranges) {
      const reader = await openBytes(bytesOf(goldenCase, "ranges", id));
      const ofRange = await scanAll(reader);
      for (const record of ofRange) {
        assert.deepEqual((await reader.get(record.key))?.slice(), record.value);
        assert.deepEqual((await reader.seek(record.key))?.key, record.key);
      }
      records.push(...ofRange);
    }
    const entries = entriesOf(goldenCase).map((entry) => ({ ...entry, bytes: utf8(entry.key) }));
    entries.sort((a, b) => compareBytes(a.bytes, b.bytes));
    assert.deepEqual(records.map(({ key }) => key), entries.map(({ bytes }) => bytes));
    for (const [i, { value_hex }] of entries.entries()) {
      if (value_hex !== undefined) assert.equal(hex(records[i]!.value), value_hex);
    }
    assert.equal(
      hex(sha256(concatBytes(...records.map(({ value }) => value)))),
      (goldenCase as unknown as { values_concat_sha256: string }).values_concat_sha256,
    );
  });

  test(`the metarange of ${goldenCase.name} is read exactly`, async () => {
    const reader = await openBytes(bytesOf(goldenCase, "metaranges", goldenCase.metarange.id));
    const ranges = goldenCase.ranges as unknown as readonly GoldenTable[];
    assert.deepEqual(
      await scanAll(reader),
      ranges.map((range) => ({ key: utf8(range.max_key), value: fromHex(range.metarange_value_hex!)! })),
    );
  });
}

test("an empty table is written byte for byte as lakeFS writes it", async () => {
  const empty = golden.cases.find(({ name }) => name === "empty")!;
  assert.deepEqual(
    hex(writeTable([], { type: "metaranges" })),
    hex(bytesOf(empty, "metaranges", empty.metarange.id)),
  );
});

test("a table of one record is written as lakeFS writes it, but for the separator", async () => {
  const goldenCase = golden.cases.find(({ name }) => name === "one_entry")!;
  const theirs = bytesOf(goldenCase, "ranges", goldenCase.ranges[0]!.id);
  const { table } = tables.find((each) => each.goldenCase === goldenCase && each.kind === "ranges")!;
  const records = await scanAll(await openBytes(theirs));
  const ours = writeTable(records);
  const data = table.sstable.data_blocks[0]!;
  assert.equal(hex(ours.subarray(0, data.length + 5)), hex(theirs.subarray(0, data.length + 5)));
  const properties = await (await openBytes(ours)).properties();
  for (const [name, value] of Object.entries(table.sstable.raw_properties_hex!)) {
    // The full key is 6 bytes longer than their separator; the estimate is the caller's.
    if (name === "rocksdb.index.size" || name === "estimated_size_bytes") continue;
    assert.equal(hex(properties.get(name)!), value, name);
  }
  assert.equal(properties.size, Object.keys(table.sstable.raw_properties_hex!).length);
});
