import assert from "node:assert/strict";
import { test } from "node:test";
import { afterKey, utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { TableFiles } from "./files.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import type { ValueRecord } from "./record.ts";
import { MetarangeWriter } from "./writer.ts";

const CHUNKING = { minSizeBytes: 0, maxSizeBytes: 20_000, raggedness: 50 };

async function written(records: readonly ValueRecord[]): Promise<Metarange> {
  const files = new TableFiles(openMemoryObjectStore());
  const writer = new MetarangeWriter(files, {
    chunking: CHUNKING,
    weigh: ({ key, data }) => key.length + data.length,
  });
  for (const record of records) if (writer.add(record)) await writer.proceed();
  return new Metarange(files, (await writer.finish()).id);
}

async function scanned(metarange: Metarange, start?: Uint8Array): Promise<ValueRecord[]> {
  const records: ValueRecord[] = [];
  const scan = await metarange.scan(start);
  while (scan.next() || await scan.load()) {
    const { bytes } = scan;
    records.push({
      key: scan.keyBytes.slice(scan.keyStart, scan.keyEnd),
      identity: bytes.slice(scan.identityStart, scan.identityEnd),
      data: bytes.slice(scan.dataStart, scan.dataEnd),
    });
  }
  return records;
}

test("a scan of a metarange gives all its records, from every start", async () => {
  const records = Array.from({ length: 600 }, (_, i) => ({
    key: utf8(`key-${String(i).padStart(5, "0")}`),
    identity: utf8(`identity ${i}`.repeat(i % 9)),
    data: utf8(`data ${i} `.repeat(i % 40)),
  }));
  const metarange = await written(records);
  assert.ok((await metarange.ranges()).length > 5);
  assert.deepEqual(await scanned(metarange), records);
  for (let i = 0; i < records.length; i += 7) {
    assert.deepEqual(await scanned(metarange, records[i]!.key), records.slice(i));
    assert.deepEqual(await scanned(metarange, afterKey(records[i]!.key)), records.slice(i + 1));
  }
});

test("a scan of nothing gives nothing", async () => {
  assert.deepEqual(await scanned(await written([])), []);
  assert.deepEqual(await scanned(new Metarange(new TableFiles(openMemoryObjectStore()), NO_METARANGE)), []);
});
