/**
 * Parquet: one row group after the other, each gone from memory when the next begins.
 *
 * Text and JSON are UTF-8 strings, whole numbers INT64, times TIMESTAMP in UTC milliseconds. Only columns in which a value
 * can be missing are optional.
 */

import * as zlib from "node:zlib";
import { type Field, type TableWriter, wholeTime, type WriteBytes } from "./fields.ts";

const GROUP_ROWS = 20_000;
/** Long messages and metadata end a row group early. */
const GROUP_CHARACTERS = 16 * 1024 * 1024;
/** Zstandard's fastest: the system's own code, where Snappy would be JavaScript. */
const LEVEL = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

type Value = string | bigint | undefined;

/** Begins a table. Nothing is written before the first row group is full, or the end. */
export async function parquetTable<T>(
  fields: readonly Field<T>[],
  write: WriteBytes,
): Promise<TableWriter<T>> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const bytes = new ByteWriter();
  const parquet = new ParquetWriter({ writer: bytes, schema: schemaOf(fields), ...COMPRESSION });
  let columns: Value[][] = fields.map(() => []);
  let rows = 0, size = 0;

  async function writeOut(): Promise<void> {
    const piece = bytes.getBytes().slice();
    // The writer goes on counting what it has written in all.
    bytes.index = 0;
    await write(piece);
  }

  async function endGroup(): Promise<void> {
    if (rows === 0) return;
    const columnData = fields.map(({ name }, at) => ({ name, data: columns[at]! }));
    await parquet.write({ columnData, rowGroupSize: rows });
    columns = fields.map(() => []);
    rows = size = 0;
    await writeOut();
  }

  return {
    async add(items) {
      for (const item of items) {
        for (const [at, field] of fields.entries()) {
          const value = valueOf(field, item);
          columns[at]!.push(value);
          if (typeof value === "string") size += value.length;
        }
        if (++rows >= GROUP_ROWS || size >= GROUP_CHARACTERS) await endGroup();
      }
    },
    async finish() {
      await endGroup();
      await parquet.finish();
      await writeOut();
    },
  };
}

function valueOf<T>(field: Field<T>, item: T): Value {
  if (field.type === "time") {
    const time = wholeTime(field.of(item));
    return time === undefined ? undefined : BigInt(time);
  }
  const value = field.of(item);
  if (value === undefined) return undefined;
  if (field.type === "integer") return BigInt(value as number);
  return field.type === "json" ? JSON.stringify(value) : value as string;
}

function schemaOf<T>(fields: readonly Field<T>[]) {
  const root = { name: "root", num_children: fields.length };
  return [
    root,
    ...fields.map(({ name, type, optional }) => ({
      name,
      repetition_type: optional ? "OPTIONAL" as const : "REQUIRED" as const,
      ...PHYSICAL[type],
    })),
  ];
}

/** A runtime without Zstandard makes do with what the library has. */
const COMPRESSION = "zstdCompressSync" in zlib
  ? {
    codec: "ZSTD" as const,
    compressors: { ZSTD: (bytes: Uint8Array) => zlib.zstdCompressSync(bytes, LEVEL) },
  }
  : {};

const TEXT = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } } as const;
const INTEGER = { type: "INT64" } as const;
const TIME = {
  type: "INT64",
  converted_type: "TIMESTAMP_MILLIS",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
} as const;

const PHYSICAL = { text: TEXT, json: TEXT, integer: INTEGER, time: TIME } as const;
