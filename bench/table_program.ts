/**
 * Tables of the engine over made-up records, by the commands of its peer, `bench/peers/table/main.go`:
 *
 *     table_program.ts write FILE RECORDS    writes a table
 *     table_program.ts scan FILE             walks over it
 *     table_program.ts get FILE RECORDS      looks keys up in a scattered order
 *     table_program.ts digest FILE           SHA-256 over all keys and values, not timed
 *
 * Each prints the seconds that it took, without start-up and making of records, and an answer to compare.
 */

import { closeSync, fstatSync, openSync, readSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import process from "node:process";
import { hex, utf8 } from "../base/bytes.ts";
import { type ByteSource, TableReader, TableWriter } from "../engine/sstable/mod.ts";

const VALUE_BYTES = 180;
const LOOK_UPS = 100_000;
/** Coprime with every number of records that is no multiple of it. */
const STRIDE = 7_919;

function keyOf(i: number): Uint8Array {
  const folder = String(Math.floor(i / 1000)).padStart(4, "0");
  return utf8(`folder-${folder}/object-${String(i).padStart(8, "0")}`);
}

/** Half of a value repeats, half is noise: it packs about as entries do. */
function valueOf(i: number): Uint8Array {
  const out = new Uint8Array(VALUE_BYTES);
  let state = (Math.imul(i, 2654435761) + 1) | 0;
  for (let at = 0; at < VALUE_BYTES; at++) {
    if (at % 2 === 0) {
      out[at] = 0x61 + at % 26;
      continue;
    }
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[at] = state;
  }
  return out;
}

function write(file: string, records: number): void {
  const keys = Array.from({ length: records }, (_, i) => keyOf(i));
  const values = Array.from({ length: records }, (_, i) => valueOf(i));
  const start = performance.now();
  const writer = new TableWriter({ type: "ranges" });
  for (let i = 0; i < records; i++) writer.add(keys[i]!, values[i]!);
  const [minKey, maxKey] = [keys[0]!, keys[records - 1]!];
  writeFileSync(file, writer.finish({ minKey, maxKey, count: records, estimatedSizeBytes: 0 }));
  answer(start, records);
}

async function withTable(file: string, work: (table: TableReader) => Promise<void>): Promise<void> {
  const descriptor = openSync(file, "r");
  const source: ByteSource = {
    name: file,
    sizeBytes: fstatSync(descriptor).size,
    read: async (offset, length) => {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
    },
  };
  try {
    await work(await TableReader.open(source));
  } finally {
    closeSync(descriptor);
  }
}

async function scan(file: string): Promise<void> {
  const start = performance.now();
  let count = 0, total = 0;
  await withTable(file, async (table) => {
    for await (const block of table.blocks()) {
      for (const { key, value } of block) {
        count++;
        total += key.length + value.length;
      }
    }
  });
  answer(start, count, total);
}

async function get(file: string, records: number): Promise<void> {
  const wanted = Array.from({ length: LOOK_UPS }, (_, i) => keyOf(i * STRIDE % records));
  const start = performance.now();
  let found = 0, sum = 0;
  await withTable(file, async (table) => {
    for (const key of wanted) {
      const value = await table.get(key);
      if (!value) continue;
      found++;
      sum = (Math.imul(sum, 31) + (value[1]! | value[2]! << 8 | value[3]! << 16 | value[4]! << 24)) >>> 0;
    }
  });
  answer(start, found, sum);
}

async function digest(file: string): Promise<void> {
  const start = performance.now();
  const hash = createHash("sha256");
  await withTable(file, async (table) => {
    for await (const block of table.blocks()) {
      for (const { key, value } of block) hash.update(key).update(value);
    }
  });
  answer(start, hex(hash.digest()));
}

function answer(start: number, ...values: readonly (string | number)[]): void {
  console.log([((performance.now() - start) / 1000).toFixed(6), ...values].join(" "));
}

const [command, file = "", records = "0"] = process.argv.slice(2);
if (command === "write") write(file, Number(records));
else if (command === "scan") await scan(file);
else if (command === "get") await get(file, Number(records));
else if (command === "digest") await digest(file);
