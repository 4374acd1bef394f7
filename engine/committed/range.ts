/** The record of one range in a metarange. */

import { compareBytes, tryUtf8Text, utf8 } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { ProtobufError, protobufFields, ProtobufWriter } from "../../base/protobuf.ts";
import { isFileId } from "./ids.ts";
import type { ValueRecord } from "./record.ts";

export interface RangeInfo {
  readonly id: string;
  readonly minKey: Uint8Array;
  readonly maxKey: Uint8Array;
  /** The canonical size of the records (in ranges that we wrote). */
  readonly sizeBytes: number;
  readonly count: number;
}

/** Returns the metarange's record of a range: keyed by its last key, identified by its ID as ASCII. */
export function encodeRange(range: RangeInfo): ValueRecord {
  const data = new ProtobufWriter()
    .bytes(1, range.minKey).bytes(2, range.maxKey).uint(3, range.sizeBytes).uint(4, range.count).finish();
  return { key: range.maxKey, identity: utf8(range.id), data };
}

/** Returns the range that a metarange's record describes. Fails with `corrupt_file` when it does not describe one. */
export function decodeRange(record: ValueRecord, file: string): RangeInfo {
  const id = tryUtf8Text(record.identity);
  if (id === undefined || !isFileId(id)) corrupt(file, 0, "a range has no valid ID");
  let minKey: Uint8Array = new Uint8Array(0), maxKey = record.key, sizeBytes = 0, count = 0;
  try {
    for (const field of protobufFields(record.data)) {
      if (field.number === 1) minKey = field.bytes;
      else if (field.number === 2) maxKey = field.bytes;
      else if (field.number === 3) sizeBytes = field.uint;
      else if (field.number === 4) count = field.uint;
    }
  } catch (error) {
    if (error instanceof ProtobufError) {
      corrupt(file, 0, `a range's description does not decode (${error.message})`);
    }
    throw error;
  }
  if (compareBytes(maxKey, record.key) !== 0 || compareBytes(minKey, maxKey) > 0) {
    corrupt(file, 0, "a range's keys contradict each other");
  }
  return { id, minKey, maxKey, sizeBytes, count };
}
