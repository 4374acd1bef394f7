/**
 * Staged records: lakeFS's `StagedEntryData { bytes key = 1; bytes identity = 2; bytes data = 3; }`, no data being a
 * tombstone. Ours: 100 `object_unflushed`, 101 `nonce` of a conditional write.
 */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { ProtobufCursor, ProtobufError, ProtobufWriter } from "../../base/protobuf.ts";
import type { ValueRecord } from "../committed/mod.ts";

export interface StagedRecord {
  readonly key: Uint8Array;
  /** What the key becomes; `undefined` is a tombstone. */
  readonly record: ValueRecord | undefined;
  /** Whether the object may not be on disk yet, so that a commit has to flush it. */
  readonly isUnflushed: boolean;
  /** Marks a conditional write, so that a repeat recognises its own first attempt. */
  readonly nonce?: Uint8Array;
}

/** Returns the KV value of a staged record. */
export function encodeStaged(staged: StagedRecord): Uint8Array {
  const writer = new ProtobufWriter().bytes(1, staged.key);
  if (staged.record) writer.bytes(2, staged.record.identity).bytes(3, staged.record.data);
  writer.bool(100, staged.isUnflushed);
  if (staged.nonce) writer.bytes(101, staged.nonce);
  return writer.finish();
}

/** Returns the staged record of a KV value. Fails with `corrupt_record`. */
export function decodeStaged(key: Uint8Array, value: Uint8Array): StagedRecord {
  let identity: Uint8Array = EMPTY_BYTES, data: Uint8Array = EMPTY_BYTES, isUnflushed = false;
  let nonce: Uint8Array | undefined;
  try {
    const field = new ProtobufCursor(value);
    while (field.next()) {
      if (field.number === 2) identity = field.bytes;
      else if (field.number === 3) data = field.bytes;
      else if (field.number === 100) isUnflushed = field.uint === 1;
      else if (field.number === 101) nonce = field.bytes;
    }
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new CodedError("corrupt", "corrupt_record", `Cannot read a staged record: ${error.message}`, {
      cause: error,
    });
  }
  const record = data.length > 0 ? { key, identity, data } : undefined;
  return nonce ? { key, record, isUnflushed, nonce } : { key, record, isUnflushed };
}
