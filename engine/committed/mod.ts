/** Committed data: ranges, metaranges, and what is done with them. Knows keys and identities, not what values mean. */

export { type Applied, applyChanges, type ApplyOptions, type Change, type SameContent } from "./apply.ts";
export { type Chunking, DEFAULT_CHUNKING, endsRange, type RecordWeight } from "./chunking.ts";
export { BlockCollector, BlockCursor } from "./cursor.ts";
export { diffMetaranges, type RecordChange } from "./diff.ts";
export { TableFiles } from "./files.ts";
export { NOT_CACHED } from "../sstable/mod.ts";
export { isFileId } from "./ids.ts";
export { type Conflict, mergeChanges, type MergeChoices, type MergeInputs } from "./merge.ts";
export { Metarange, metarangeId, NO_METARANGE } from "./metarange.ts";
export type { KeyBounds } from "./range_cursor.ts";
export type { RangeInfo } from "./range.ts";
export type { RecordScan } from "./record_scan.ts";
export { decodeRecord, encodeValue, type ValueRecord } from "./record.ts";
export { SharedTableCaches } from "./table_caches.ts";
export { MetarangeWriter, type WrittenMetarange } from "./writer.ts";
