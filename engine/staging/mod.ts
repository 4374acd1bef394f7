/** Staged changes: records, tokens, and how tokens lie over one another. Knows the KV, not what entries mean. */

export { cleanDropped, droppedEntries, DroppedTokens, KEEP_MS, recordDropped } from "./dropped.ts";
export { isTokenEmpty, lookUpStaged, stagedRecords } from "./overlay.ts";
export { decodeStaged, encodeStaged, type StagedRecord } from "./record.ts";
