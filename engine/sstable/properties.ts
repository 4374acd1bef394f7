/**
 * The properties block: names and values, sorted by name, with no prefix shared beyond one restart point.
 *
 * Names that begin with `rocksdb.` describe the table to readers of the format; the others are the user's. Numbers are
 * varints unless it says otherwise below.
 */

import { hex, tryUtf8Text, utf8 } from "../../base/bytes.ts";
import type { Block } from "./block.ts";
import { BlockBuilder } from "./block_builder.ts";
import { decodeAt, malformed } from "./malformed.ts";
import { RecordDecoder, tableRecord } from "./records.ts";
import { encodeVarint, varintAt } from "./varint.ts";

export type TableType = "ranges" | "metaranges";

/** What the caller says of a table. */
export interface TableSummary {
  readonly minKey: Uint8Array;
  readonly maxKey: Uint8Array;
  readonly count: number;
  readonly estimatedSizeBytes: number;
  /** What the file is to be named by, so that one that came to lie under another's name is known. */
  readonly id?: string;
}

/** A table's user properties. Tables that others wrote may lack any of them. */
export interface UserProperties extends Partial<TableSummary> {
  readonly type?: string;
}

/** What the writer has counted. Sizes of blocks include their trailers. */
export interface TableCounts {
  readonly records: number;
  readonly dataBlocks: number;
  readonly dataBytes: number;
  /** Before compression. */
  readonly indexBytes: number;
  /** Of all keys, with their trailers. */
  readonly keyBytes: number;
  readonly valueBytes: number;
}

/** The properties block's name in the metaindex. */
export const PROPERTIES_BLOCK = "rocksdb.properties";

const INDEX_TYPE = "rocksdb.block.based.table.index.type";
const PARTITIONED_INDEX = 2;
const RECORD_COUNT = "rocksdb.num.entries";
const ID = "tarn.id";

/** Known files have about 35. */
const MAX_NAMES = 1000;

const COMPRESSION_OPTIONS =
  "window_bits=-14; level=32767; strategy=0; max_dict_bytes=0; zstd_max_train_bytes=0; enabled=0; ";

/** Returns a properties block: the set that lakeFS's files have, with the same values for the same content, and the ID. */
export function encodeProperties(
  { type, summary, counts }: { type: TableType; summary: TableSummary; counts: TableCounts },
): Uint8Array {
  const properties: [name: string, value: Uint8Array][] = [
    ["count", utf8(String(summary.count))],
    ["estimated_size_bytes", utf8(String(summary.estimatedSizeBytes))],
    ["max_key", summary.maxKey],
    ["min_key", summary.minKey],
    [INDEX_TYPE, fixed32(0)],
    ["rocksdb.block.based.table.prefix.filtering", utf8("0")],
    ["rocksdb.block.based.table.whole.key.filtering", utf8("0")],
    ["rocksdb.column.family.id", encodeVarint(0x7fff_ffff)],
    ["rocksdb.comparator", utf8("leveldb.BytewiseComparator")],
    ["rocksdb.compression", utf8("Snappy")],
    ["rocksdb.compression_options", utf8(COMPRESSION_OPTIONS)],
    ["rocksdb.creation.time", encodeVarint(0)],
    ["rocksdb.data.size", encodeVarint(counts.dataBytes)],
    ["rocksdb.deleted.keys", encodeVarint(0)],
    ["rocksdb.external_sst_file.global_seqno", new Uint8Array(8)],
    ["rocksdb.external_sst_file.version", fixed32(2)],
    ["rocksdb.filter.size", encodeVarint(0)],
    ["rocksdb.fixed.key.length", encodeVarint(0)],
    ["rocksdb.format.version", encodeVarint(0)],
    ["rocksdb.index.key.is.user.key", encodeVarint(0)],
    ["rocksdb.index.size", encodeVarint(counts.indexBytes)],
    ["rocksdb.index.value.is.delta.encoded", encodeVarint(0)],
    ["rocksdb.merge.operands", encodeVarint(0)],
    ["rocksdb.merge.operator", utf8("pebble.concatenate")],
    ["rocksdb.num.data.blocks", encodeVarint(counts.dataBlocks)],
    [RECORD_COUNT, encodeVarint(counts.records)],
    ["rocksdb.num.range-deletions", encodeVarint(0)],
    ["rocksdb.oldest.key.time", encodeVarint(0)],
    ["rocksdb.prefix.extractor.name", utf8("nullptr")],
    ["rocksdb.property.collectors", utf8("[static]")],
    ["rocksdb.raw.key.size", encodeVarint(counts.keyBytes)],
    ["rocksdb.raw.value.size", encodeVarint(counts.valueBytes)],
    ...(summary.id === undefined ? [] : [[ID, utf8(summary.id)] satisfies [string, Uint8Array]]),
    ["type", utf8(type)],
  ];
  const builder = new BlockBuilder({ restartInterval: properties.length, trailer: new Uint8Array(0) });
  for (const [name, value] of properties) builder.add(utf8(name), value);
  return builder.finish();
}

/** What a properties block says. */
export interface TableProperties {
  readonly raw: ReadonlyMap<string, Uint8Array>;
  readonly user: UserProperties;
  /** Whether the index is an index of indexes. */
  readonly partitionedIndex: boolean;
  readonly recordCount?: number;
}

/** Returns what the properties block says; a table may have none. */
export function decodeProperties(block: Block | undefined): TableProperties {
  if (!block) return { raw: new Map(), user: {}, partitionedIndex: false };
  const raw = decodeNames(block);
  const indexType = raw.get(INDEX_TYPE);
  const type = raw.get("type"), id = raw.get(ID);
  const recordCount = raw.get(RECORD_COUNT);
  return decodeAt(block.place, () => ({
    raw,
    user: {
      type: type && tryUtf8Text(type),
      minKey: raw.get("min_key"),
      maxKey: raw.get("max_key"),
      count: decimal(raw.get("count")),
      estimatedSizeBytes: decimal(raw.get("estimated_size_bytes")),
      ...(id ? { id: tryUtf8Text(id) ?? "" } : {}),
    },
    partitionedIndex: indexType?.length === 4 && indexType[0] === PARTITIONED_INDEX,
    recordCount: recordCount && varintAt(recordCount, 0).value,
  }));
}

/** Returns a block of names and values as a map: the properties, or the metaindex. */
export function decodeNames(block: Block): Map<string, Uint8Array> {
  const records = new RecordDecoder(block, { make: tableRecord }).next(MAX_NAMES + 1);
  if (records.length > MAX_NAMES) block.fail(`more than ${MAX_NAMES} names`);
  return new Map(records.map(({ key, value }) => [tryUtf8Text(key) ?? hex(key), value.slice()]));
}

function decimal(value: Uint8Array | undefined): number | undefined {
  if (!value) return undefined;
  const text = tryUtf8Text(value) ?? "";
  if (!/^[0-9]{1,15}$/.test(text)) malformed("property that is no decimal number");
  return Number(text);
}

function fixed32(value: number): Uint8Array {
  return Uint8Array.of(value, 0, 0, 0);
}
