import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compareBytes, concatBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { openBytes, probesOf, scanAll } from "../../tests/support/tables.ts";
import { memorySource } from "./byte_source.ts";
import { decodeHandle } from "./footer.ts";
import { RecordDecoder, tableRecord } from "./records.ts";
import { TableFile } from "./table_file.ts";

// Made by Pebble with `tests/support/foreign_tables/main.go`, which has the same formulas.

function foreignRecords(count: number): { key: Uint8Array; value: Uint8Array }[] {
  return Array.from({ length: count }, (_, i) => ({
    key: utf8(`dir-${String(Math.floor(i / 50)).padStart(2, "0")}/file-${String(i).padStart(5, "0")}`),
    value: utf8(`value ${i} of a table that Pebble wrote; `.repeat(4).slice(0, (i * 7) % 90 + 10)),
  }));
}

function foreignTable(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`testdata/${name}.sst`, import.meta.url)));
}

const tables = [
  { name: "plain", count: 100, compression: 0, what: "without compression" },
  { name: "zstd", count: 600, compression: 7, what: "compressed with Zstandard" },
  { name: "two_level", count: 600, compression: 1, what: "with a two-level index" },
  { name: "filter", count: 300, compression: 1, what: "with a filter block" },
  { name: "all", count: 600, compression: 7, what: "with Zstandard, a two-level index and a filter block" },
];

for (const { name, count, compression, what } of tables) {
  test(`a table ${what} is read by scan, get and seek`, async () => {
    const bytes = foreignTable(name);
    const records = foreignRecords(count);
    const reader = await openBytes(bytes);
    assert.ok((await storedForms(bytes)).has(compression));
    assert.deepEqual(await scanAll(reader), records);
    for (const [i, record] of records.entries()) {
      assert.deepEqual((await reader.get(record.key))?.slice(), record.value);
      assert.equal(await reader.get(concatBytes(record.key, utf8("0"))), undefined);
      if (i % 37 === 0) assert.deepEqual(await scanAll(reader, record.key), records.slice(i));
    }
    for (const probe of probesOf(records)) {
      const expected = records.find(({ key }) => compareBytes(key, probe) >= 0);
      assert.deepEqual((await reader.seek(probe))?.key, expected?.key);
    }
    await reader.verify();
  });
}

/** Returns how the data blocks of a table are stored. */
async function storedForms(bytes: Uint8Array): Promise<Set<number>> {
  const file = await TableFile.open(memorySource("foreign.sst", bytes));
  const forms = new Set<number>();
  const index = await file.loadBlock(file.footer().index, "separator");
  for (const { value } of new RecordDecoder(index, { make: tableRecord }).next(Infinity)) {
    const { offset, length } = decodeHandle(value);
    forms.add(bytes[offset + length]!);
  }
  return forms;
}

test("the tables have what they are named after", async () => {
  const indexType = "rocksdb.block.based.table.index.type";
  assert.equal((await (await openBytes(foreignTable("two_level"))).properties()).get(indexType)![0], 2);
  assert.equal((await (await openBytes(foreignTable("zstd"))).properties()).get(indexType)![0], 0);
  for (const name of ["filter", "all"]) {
    const properties = await (await openBytes(foreignTable(name))).properties();
    assert.notEqual(properties.get("rocksdb.filter.size")![0], 0);
  }
});

test("deletions, which no range has, are refused rather than read over", async () => {
  const reader = await openBytes(foreignTable("deletion"));
  await assert.rejects(scanAll(reader), (error) => isCoded(error, "corrupt_file"));
  await assert.rejects(reader.get(utf8("dir-00/file-00001")), (error) => isCoded(error, "corrupt_file"));
  await assert.rejects(openBytes(foreignTable("range_deletion")), /range deletions/);
});
