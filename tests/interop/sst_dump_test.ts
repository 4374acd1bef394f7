/** RocksDB's own tool reads the tables that we write, entry by entry. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { concatBytes, hex, utf8 } from "../../base/bytes.ts";
import { MAX_VALUE_BYTES } from "../../base/limits.ts";
import { seededRandomness } from "../../base/randomness.ts";
import type { TableRecord } from "../../engine/sstable/mod.ts";
import { requireTool } from "../support/requires.ts";
import { draw, numberedRecords, randomRecords, writeTable } from "../support/tables.ts";
import { temporaryFolder } from "../support/temporary.ts";

const PATIENT = { timeout: 120_000 };
const ENTRY = /^'([0-9A-F]*)' seq:0, type:1 => ([0-9A-F]*)$/;

/** Runs the tool on a table. It exits with 0 on damage too, so that its standard error has to be empty. */
function sstDump(path: string, ...options: string[]): string {
  const run = spawnSync("sst_dump", [`--file=${path}`, ...options], { encoding: "utf8", maxBuffer: 2 ** 30 });
  assert.equal(run.stderr, "");
  assert.equal(run.status, 0);
  return run.stdout;
}

function assertReadByRocksDb(t: TestContext, records: readonly TableRecord[]): void {
  const path = join(temporaryFolder(t), "table.sst");
  writeFileSync(path, writeTable(records));
  sstDump(path, "--command=check", "--verify_checksum");
  assert.match(sstDump(path, "--command=verify"), /The file is ok/);
  const lines = sstDump(path, "--command=scan", "--output_hex").split("\n").filter((line) =>
    line.startsWith("'")
  );
  const scanned = lines.map((line) => ENTRY.exec(line)?.slice(1).join(" ").toLowerCase() ?? line);
  assert.deepEqual(scanned, records.map(({ key, value }) => `${hex(key)} ${hex(value)}`));
}

const tables: { what: string; records: () => TableRecord[] }[] = [
  { what: "an empty table", records: () => [] },
  { what: "a table of one record", records: () => numberedRecords(0, 1) },
  { what: "a table of many blocks", records: () => numberedRecords(0, 20_000) },
  { what: "a table of random records", records: () => randomRecords(seededRandomness(1), 2000) },
  { what: "a table with a large index, which is stored with Zstandard", records: () => longKeys() },
  { what: "a table of large and incompressible values", records: () => largeRecords() },
];

function longKeys(): TableRecord[] {
  return numberedRecords(0, 2000).map(({ key, value }) => ({
    key: concatBytes(key, new Uint8Array(600)),
    value,
  }));
}

function largeRecords(): TableRecord[] {
  const random = seededRandomness(2);
  return numberedRecords(0, 40).map(({ key }, i) => {
    const noise = random.bytes(draw(random, MAX_VALUE_BYTES));
    return { key, value: i % 2 === 0 ? noise : noise.fill(7, noise.length >> 1) };
  });
}

for (const { what, records } of tables) {
  test(`sst_dump checks, verifies and scans ${what}`, PATIENT, (t) => {
    if (requireTool(t, "sst_dump")) assertReadByRocksDb(t, records());
  });
}

test("sst_dump finds records by key through our index and restart points", PATIENT, (t) => {
  if (!requireTool(t, "sst_dump")) return;
  const records = numberedRecords(0, 3000);
  const path = join(temporaryFolder(t), "table.sst");
  writeFileSync(path, writeTable(records));
  for (const i of [0, 1, 15, 16, 17, 700, 1500, 2999]) {
    const from = `--from=0x${hex(records[i]!.key)}`;
    const out = sstDump(path, "--command=scan", "--output_hex", "--input_key_hex", from, "--read_num=1");
    assert.match(out, new RegExp(`^'${hex(records[i]!.key).toUpperCase()}' `, "m"));
  }
});

test("sst_dump shows the properties that we write", PATIENT, (t) => {
  if (!requireTool(t, "sst_dump")) return;
  const path = join(temporaryFolder(t), "table.sst");
  writeFileSync(path, writeTable(numberedRecords(0, 500)));
  const shown = sstDump(path, "--command=check", "--show_properties");
  assert.match(shown, /# entries: 500\n/);
  assert.match(shown, /comparator name: leveldb\.BytewiseComparator\n/);
  assert.match(shown, /SST file compression algo: Snappy\n/);
  assert.match(shown, new RegExp(`# type: 0x${hex(utf8("ranges")).toUpperCase()}\n`));
});
