/**
 * Tables: files of records sorted by key, as RocksDB, Pebble and lakeFS read and write them.
 *
 * This folder knows bytes, not what they mean: values are opaque here, and a table's ID is its caller's business.
 */

export { BlockCache } from "./block_cache.ts";
export { type ByteSource, memorySource } from "./byte_source.ts";
export type { TableSummary, TableType, UserProperties } from "./properties.ts";
export { PIECE_BYTES, PiecePool } from "./piece_pool.ts";
export type { BlockRun } from "./block_run.ts";
export { NOT_CACHED, TableReader, type TableReaderOptions } from "./reader.ts";
export { type MakeRecord, type TableRecord, tableRecord, type ValuePlace } from "./records.ts";
export type { TableScan } from "./scan.ts";
export type { ReadCounts } from "./table_file.ts";
export type { TableIndex } from "./table_index.ts";
export type { TableSink } from "./table_sink.ts";
export { type FinishedTable, type StoredBlocks, TableWriter, type TableWriterOptions } from "./writer.ts";
