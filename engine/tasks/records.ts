/**
 * Records of tasks: `tasks/<id>` in the repository's partition, as
 * `TaskData { string id = 1; string kind = 2; string branch = 3; string source = 4; string state = 5; Timestamp updated = 6;
 * uint64 beats = 7; bool cancel = 8; string commit_id = 9; string error_kind = 10; string error_code = 11; string error_message = 12; }`.
 *
 * Each beat of a running task changes its record, so whoever sees it stay the same knows that nobody runs it any more,
 * whatever the clocks of two machines say.
 */

import { millisecondsOf, type Timestamp } from "../../base/clock.ts";
import { CodedError, type ErrorKind } from "../../base/errors.ts";
import {
  ProtobufError,
  protobufFields,
  protobufString,
  protobufTimestamp,
  ProtobufWriter,
} from "../../base/protobuf.ts";
import type { TaskInfo } from "../../drivers/tasks.ts";

export interface TaskRecord {
  readonly id: string;
  readonly kind: TaskInfo["kind"];
  readonly branch: string;
  readonly source: string;
  readonly state: TaskInfo["state"];
  readonly updated: Timestamp;
  readonly beats: number;
  readonly isCancelAsked: boolean;
  readonly commitId: string;
  readonly errorKind: string;
  readonly errorCode: string;
  readonly errorMessage: string;
}

export function encodeTask(record: TaskRecord): Uint8Array {
  return new ProtobufWriter()
    .string(1, record.id)
    .string(2, record.kind)
    .string(3, record.branch)
    .string(4, record.source)
    .string(5, record.state)
    .timestamp(6, record.updated)
    .uint(7, record.beats)
    .bool(8, record.isCancelAsked)
    .string(9, record.commitId)
    .string(10, record.errorKind)
    .string(11, record.errorCode)
    .string(12, record.errorMessage)
    .finish();
}

/** Fails with `corrupt_record`. */
export function decodeTask(value: Uint8Array): TaskRecord {
  try {
    const texts: string[] = [];
    let updated: Timestamp = { seconds: 0, nanos: 0 }, beats = 0, isCancelAsked = false;
    for (const field of protobufFields(value)) {
      if (field.number === 6) updated = protobufTimestamp(field);
      else if (field.number === 7) beats = field.uint;
      else if (field.number === 8) isCancelAsked = field.uint === 1;
      else if (field.number <= 12) texts[field.number] = protobufString(field);
    }
    return {
      id: texts[1] ?? "",
      kind: texts[2] as TaskRecord["kind"],
      branch: texts[3] ?? "",
      source: texts[4] ?? "",
      state: texts[5] as TaskRecord["state"],
      updated,
      beats,
      isCancelAsked,
      commitId: texts[9] ?? "",
      errorKind: texts[10] ?? "",
      errorCode: texts[11] ?? "",
      errorMessage: texts[12] ?? "",
    };
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new CodedError("corrupt", "corrupt_record", `Cannot read a task record: ${error.message}`, {
      cause: error,
    });
  }
}

/** Returns a task as the contract shows it. */
export function taskInfo(record: TaskRecord): TaskInfo {
  const { id, kind, branch, source, state, commitId, errorKind, errorCode, errorMessage } = record;
  return {
    id,
    kind,
    branch,
    state,
    updatedMs: millisecondsOf(record.updated),
    ...(source === "" ? {} : { source }),
    ...(state === "done" ? { commitId } : {}),
    ...(state === "failed"
      ? { error: { kind: errorKind as ErrorKind, code: errorCode, message: errorMessage } }
      : {}),
  };
}
