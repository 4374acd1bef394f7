import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { block, CraftedTable, entry, tableOfBlock } from "../../tests/support/crafted_table.ts";
import {
  draw,
  numberedRecords,
  openBytes,
  probesOf,
  randomRecords,
  scanAll,
  writeTable,
} from "../../tests/support/tables.ts";
import type { TableReader } from "./reader.ts";
import type { TableRecord } from "./records.ts";

async function scanned(reader: TableReader, start?: Uint8Array): Promise<TableRecord[]> {
  const records: TableRecord[] = [];
  const scan = reader.scan(start);
  while (scan.next() || await scan.load()) {
    const { valueBytes, valueStart, valueEnd } = scan;
    records.push({ key: scan.key(), value: valueBytes.slice(valueStart, valueEnd) });
  }
  assert.equal(scan.next(), false);
  assert.equal(await scan.load(), false);
  return records;
}

test("a scan gives what blocks() gives, from every start", async () => {
  for (let seed = 0; seed < 30; seed++) {
    const random = seededRandomness(seed);
    const records = randomRecords(random, draw(random, 120));
    const cutEvery = 1 + draw(random, 12);
    const reader = await openBytes(writeTable(records, { endsBlock: () => draw(random, cutEvery) === 0 }));
    assert.deepEqual(await scanned(reader), records);
    for (const probe of probesOf(records)) {
      if (random.fraction() < 0.3) {
        assert.deepEqual(await scanned(reader, probe), await scanAll(reader, probe));
      }
    }
  }
});

test("a scan reads a table of many blocks, in few waits", async () => {
  const records = numberedRecords(0, 20_000);
  const reader = await openBytes(writeTable(records));
  let waits = 0, count = 0;
  const scan = reader.scan();
  while (scan.next() || (waits++, await scan.load())) {
    const { key } = records[count++]!;
    assert.deepEqual(scan.keyBytes.subarray(scan.keyStart, scan.keyEnd), key);
  }
  assert.equal(count, records.length);
  assert.ok(reader.index.count > 300 && waits < 20, `${waits} waits for ${reader.index.count} blocks`);
});

test("two scans of one table do not disturb each other", async () => {
  const records = numberedRecords(0, 3000);
  const reader = await openBytes(writeTable(records));
  const [a, b] = [reader.scan(), reader.scan(utf8("folder-0009"))];
  for (let i = 0; i < 2000; i++) {
    assert.ok(a.next() || await a.load());
    assert.ok(b.next() || await b.load());
    assert.deepEqual(a.key(), records[i]!.key);
    assert.deepEqual(b.key(), records[i + 900]!.key);
    assert.deepEqual(a.valueBytes.slice(a.valueStart, a.valueEnd), records[i]!.value);
  }
});

test("a scan refuses keys outside what the index says of their block", async () => {
  const above = new CraftedTable();
  const block1 = above.append(block([entry("a", "1"), entry("c", "2")]));
  const block2 = above.append(block([entry("d", "3")]));
  const later = await openBytes(above.finish({ index: [["b", block1], ["e", block2]] }));
  await assert.rejects(scanned(later), /belong to a later block/);

  const below = new CraftedTable();
  const first = below.append(block([entry("a", "1")]));
  const second = below.append(block([entry("b", "2")]));
  const earlier = await openBytes(below.finish({ index: [["c", first], ["e", second]] }));
  await assert.rejects(scanned(earlier), /belong to an earlier block/);
});

test("of a changed block with a right checksum a scan says what blocks() says", async () => {
  const random = seededRandomness(7);
  const sound = block(["a", "ab", "abc", "b", "ba", "d"].map((key) => entry(key, `value of ${key}`)), [0, 3]);
  let refused = 0;
  for (let i = 0; i < 1500; i++) {
    const changed = sound.slice();
    for (let n = 1 + draw(random, 2); n > 0; n--) changed[draw(random, changed.length)] = draw(random, 256);
    const reader = await openBytes(tableOfBlock(changed));
    const start = draw(random, 3) === 0 ? utf8("ab") : undefined;
    const expected = await outcome(scanAll(reader, start));
    assert.deepEqual(await outcome(scanned(reader, start)), expected);
    if (typeof expected === "string") refused++;
  }
  assert.ok(refused > 300 && refused < 1400, `${refused} refused`);
});

async function outcome(reading: Promise<TableRecord[]>): Promise<TableRecord[] | string> {
  try {
    return await reading;
  } catch (error) {
    assert.ok(isCoded(error, "corrupt_file"), String(error));
    return error.message;
  }
}
