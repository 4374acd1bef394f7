/** Records and readings of tables, for the tests of the format. */

import { afterKey, compareBytes, utf8 } from "../../base/bytes.ts";
import type { Randomness } from "../../base/randomness.ts";
import {
  memorySource,
  TableReader,
  type TableRecord,
  TableWriter,
  type TableWriterOptions,
} from "../../engine/sstable/mod.ts";

/** Writes the records, which are in order, to a table. */
export function writeTable(
  records: readonly TableRecord[],
  { endsBlock, ...options }: Partial<TableWriterOptions> & { endsBlock?: (key: Uint8Array) => boolean } = {},
): Uint8Array {
  const writer = new TableWriter({
    type: "ranges",
    ...(endsBlock ? { blockBytes: Infinity } : {}),
    ...options,
  });
  for (const { key, value } of records) {
    writer.add(key, value);
    if (endsBlock?.(key)) writer.endBlock();
  }
  return writer.finish({
    minKey: records[0]?.key ?? utf8(""),
    maxKey: records.at(-1)?.key ?? utf8(""),
    count: records.length,
    estimatedSizeBytes: 8,
  });
}

/** Opens a table that is in memory. */
export function openBytes(bytes: Uint8Array, name = "test.sst"): Promise<TableReader> {
  return TableReader.open(memorySource(name, bytes));
}

/** Returns all records from `start`, copied. */
export async function scanAll(reader: TableReader, start?: Uint8Array): Promise<TableRecord[]> {
  const records: TableRecord[] = [];
  for await (const step of reader.blocks(start)) {
    for (const { key, value } of step) records.push({ key: key.slice(), value: value.slice() });
  }
  return records;
}

/** Returns records `from` to `to`-1 of a long, regular table. */
export function numberedRecords(from: number, to: number): TableRecord[] {
  return Array.from({ length: to - from }, (_, i) => numberedRecord(from + i));
}

function numberedRecord(i: number): TableRecord {
  const key = utf8(
    `folder-${String(Math.floor(i / 100)).padStart(4, "0")}/file-${String(i).padStart(7, "0")}`,
  );
  return { key, value: utf8(`value ${i} `.repeat(i % 20)) };
}

/**
 * Draws a table's records. Keys come from few byte values and extend one another, zero and one among them, so that they
 * share long prefixes, end within each other, and look like trailers.
 */
export function randomRecords(random: Randomness, count: number): TableRecord[] {
  const keys: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const stem = keys.length > 0 && random.fraction() < 0.7 ? keys[draw(random, keys.length)]! : utf8("");
    const kept = stem.subarray(0, draw(random, stem.length + 1));
    const tail = random.bytes(draw(random, 6)).map((byte) => [0, 1, 1, 0x61, 0xff][byte % 5]!);
    keys.push(Uint8Array.of(...kept, ...tail));
  }
  keys.sort(compareBytes);
  return keys
    .filter((key, i) => i === 0 || compareBytes(keys[i - 1]!, key) < 0)
    .map((key) => ({ key, value: random.bytes(draw(random, random.fraction() < 0.1 ? 2000 : 40)) }));
}

/** Returns a whole number from 0 to `below`-1. */
export function draw(random: Randomness, below: number): number {
  return Math.floor(random.fraction() * below);
}

/** Returns each key, the keys just before and after it, and both ends. */
export function probesOf(records: readonly TableRecord[]): Uint8Array[] {
  const probes = records.flatMap(({ key }) => [key, afterKey(key), key.subarray(0, -1)]);
  return [utf8(""), ...probes, Uint8Array.of(0xff, 0xff, 0xff)];
}
