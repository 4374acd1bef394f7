/**
 * KV records of repositories, refs and commits: lakeFS's protobuf messages, our additions from field 100.
 *
 * A branch or tag lies in a `RefData { string name = 1; BranchData branch = 2; TagData tag = 3; bool deleted = 4; Move move = 5 }`:
 * one key for both kinds, so that one compare-and-set decides every question about a name. A deleted ref stays as a
 * marked record, from which it can be restored.
 */

import type { Timestamp } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import {
  ProtobufError,
  type ProtobufField,
  protobufFields,
  protobufPair,
  protobufString,
  protobufTimestamp,
  ProtobufWriter,
} from "../../base/protobuf.ts";
import type { Chunking } from "../committed/mod.ts";
import { DEFAULT_CHUNKING } from "../committed/mod.ts";

export interface RepositoryRecord {
  readonly id: string;
  readonly storageNamespace: string;
  readonly defaultBranch: string;
  readonly creationDate: Timestamp;
  readonly isDeleted: boolean;
  readonly instanceUid: string;
  readonly chunking: Chunking;
}

export interface BranchState {
  readonly commitId: string;
  /** The KV partition that takes changes now. */
  readonly stagingToken: string;
  /** Former staging tokens, newest first, whose changes no commit has taken yet. */
  readonly sealedTokens: readonly string[];
  readonly isHidden?: boolean;
}

/** One change of what a ref points at. An empty commit ID stands for "no ref". */
export interface RefMove {
  readonly id: string;
  readonly ref: string;
  readonly operation: string;
  readonly oldCommitId: string;
  readonly newCommitId: string;
  readonly who: string;
  readonly time: Timestamp;
  /** Of a restore: the ID of the deletion that it takes back. */
  readonly restored?: string;
}

export interface RefRecord {
  readonly name: string;
  readonly isDeleted: boolean;
  /** The last move, kept here so that it lands together with what it did. */
  readonly move: RefMove;
  /** Set on branches. */
  readonly branch?: BranchState;
  /** Set on tags: the commit. */
  readonly tagCommitId?: string;
}

export interface CommitRecord {
  readonly committer: string;
  readonly message: string;
  readonly creationDate: Timestamp;
  readonly metaRangeId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parents: readonly string[];
  readonly generation: number;
  /** What `correctedDate()` in `commits.ts` gives. */
  readonly correctedDate?: number;
}

const COMMIT_VERSION = 1;

export function encodeRepository(record: RepositoryRecord): Uint8Array {
  return new ProtobufWriter()
    .string(1, record.id)
    .string(2, record.storageNamespace)
    .string(3, record.defaultBranch)
    .timestamp(4, record.creationDate)
    .uint(5, record.isDeleted ? 1 : 0)
    .string(6, record.instanceUid)
    .uint(100, record.chunking.minSizeBytes)
    .uint(101, record.chunking.maxSizeBytes)
    .uint(102, record.chunking.raggedness)
    .finish();
}

export function decodeRepository(bytes: Uint8Array): RepositoryRecord {
  return decoding("repository", () => {
    const texts = new Map<number, string>();
    const numbers = new Map<number, number>();
    let creationDate: Timestamp = { seconds: 0, nanos: 0 };
    for (const field of protobufFields(bytes)) {
      if (field.number === 4) creationDate = protobufTimestamp(field);
      else if (field.number < 100 && field.bytes.length > 0) texts.set(field.number, protobufString(field));
      else numbers.set(field.number, field.uint);
    }
    return {
      id: texts.get(1) ?? "",
      storageNamespace: texts.get(2) ?? "",
      defaultBranch: texts.get(3) ?? "",
      creationDate,
      isDeleted: numbers.get(5) === 1,
      instanceUid: texts.get(6) ?? "",
      chunking: {
        minSizeBytes: numbers.get(100) ?? DEFAULT_CHUNKING.minSizeBytes,
        maxSizeBytes: numbers.get(101) ?? DEFAULT_CHUNKING.maxSizeBytes,
        raggedness: numbers.get(102) ?? DEFAULT_CHUNKING.raggedness,
      },
    };
  });
}

/** `RepositoryMetadata { map<string,string> metadata = 1; }`. */
export function encodeRepositoryMetadata(metadata: Readonly<Record<string, string>>): Uint8Array {
  return new ProtobufWriter().map(1, Object.entries(metadata)).finish();
}

export function decodeRepositoryMetadata(bytes: Uint8Array): Record<string, string> {
  return decoding("repository metadata", () => {
    const pairs = [...protobufFields(bytes)].filter(({ number }) => number === 1).map(protobufPair);
    return Object.fromEntries(pairs);
  });
}

export function encodeRef(record: RefRecord): Uint8Array {
  const writer = new ProtobufWriter().string(1, record.name);
  if (record.branch) {
    writer.element(
      2,
      new ProtobufWriter()
        .string(1, record.name)
        .string(2, record.branch.commitId)
        .string(3, record.branch.stagingToken)
        .strings(4, record.branch.sealedTokens)
        .bool(5, record.branch.isHidden ?? false)
        .finish(),
    );
  }
  if (record.tagCommitId !== undefined) {
    writer.element(3, new ProtobufWriter().string(1, record.name).string(2, record.tagCommitId).finish());
  }
  return writer.bool(4, record.isDeleted).element(5, encodeMove(record.move)).finish();
}

export function decodeRef(bytes: Uint8Array): RefRecord {
  return decoding("ref", () => {
    let name = "", isDeleted = false, move = decodeMove(new Uint8Array(0));
    let branch: BranchState | undefined, tagCommitId: string | undefined;
    for (const field of protobufFields(bytes)) {
      if (field.number === 1) name = protobufString(field);
      else if (field.number === 2) branch = decodeBranch(field);
      else if (field.number === 3) tagCommitId = stringField(field.bytes, 2);
      else if (field.number === 4) isDeleted = field.uint === 1;
      else if (field.number === 5) move = decodeMove(field.bytes);
    }
    return {
      name,
      isDeleted,
      move,
      ...(branch ? { branch } : {}),
      ...(tagCommitId !== undefined ? { tagCommitId } : {}),
    };
  });
}

export function encodeMove(move: RefMove): Uint8Array {
  return new ProtobufWriter()
    .string(1, move.id)
    .string(2, move.ref)
    .string(3, move.operation)
    .string(4, move.oldCommitId)
    .string(5, move.newCommitId)
    .string(6, move.who)
    .timestamp(7, move.time)
    .string(8, move.restored ?? "")
    .finish();
}

export function decodeMove(bytes: Uint8Array): RefMove {
  return decoding("reflog", () => {
    const texts: string[] = [];
    let time: Timestamp = { seconds: 0, nanos: 0 };
    for (const field of protobufFields(bytes)) {
      if (field.number === 7) time = protobufTimestamp(field);
      else if (field.number < 9) texts[field.number] = protobufString(field);
    }
    return {
      id: texts[1] ?? "",
      ref: texts[2] ?? "",
      operation: texts[3] ?? "",
      oldCommitId: texts[4] ?? "",
      newCommitId: texts[5] ?? "",
      who: texts[6] ?? "",
      time,
      ...(texts[8] ? { restored: texts[8] } : {}),
    };
  });
}

export function encodeCommit(id: string, commit: CommitRecord): Uint8Array {
  return new ProtobufWriter()
    .string(1, id)
    .string(2, commit.committer)
    .string(3, commit.message)
    .timestamp(4, commit.creationDate)
    .string(5, commit.metaRangeId)
    .map(6, Object.entries(commit.metadata))
    .strings(7, commit.parents)
    .uint(8, COMMIT_VERSION)
    .uint(9, commit.generation)
    .uint(100, commit.correctedDate ?? 0)
    .finish();
}

export function decodeCommit(bytes: Uint8Array): CommitRecord {
  return decoding("commit", () => {
    let committer = "", message = "", metaRangeId = "", generation = 0, correctedDate = 0;
    let creationDate: Timestamp = { seconds: 0, nanos: 0 };
    const metadata: [string, string][] = [];
    const parents: string[] = [];
    for (const field of protobufFields(bytes)) {
      if (field.number === 2) committer = protobufString(field);
      else if (field.number === 3) message = protobufString(field);
      else if (field.number === 4) creationDate = protobufTimestamp(field);
      else if (field.number === 5) metaRangeId = protobufString(field);
      else if (field.number === 6) metadata.push(protobufPair(field));
      else if (field.number === 7) parents.push(protobufString(field));
      else if (field.number === 9) generation = field.uint;
      else if (field.number === 100) correctedDate = field.uint;
    }
    const rest = { committer, message, creationDate, metaRangeId, parents, generation };
    const corrected = correctedDate > 0 ? { correctedDate } : {};
    return { ...rest, metadata: Object.fromEntries(metadata), ...corrected };
  });
}

function decodeBranch(field: ProtobufField): BranchState {
  let commitId = "", stagingToken = "", isHidden = false;
  const sealedTokens: string[] = [];
  for (const inner of protobufFields(field.bytes)) {
    if (inner.number === 2) commitId = protobufString(inner);
    else if (inner.number === 3) stagingToken = protobufString(inner);
    else if (inner.number === 4) sealedTokens.push(protobufString(inner));
    else if (inner.number === 5) isHidden = inner.uint === 1;
  }
  return { commitId, stagingToken, sealedTokens, ...(isHidden ? { isHidden } : {}) };
}

function stringField(message: Uint8Array, number: number): string {
  for (const field of protobufFields(message)) if (field.number === number) return protobufString(field);
  return "";
}

/** Turns bytes that are no such record into `corrupt`. */
function decoding<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new CodedError("corrupt", "corrupt_record", `Cannot read a ${what} record: ${error.message}`, {
      cause: error,
    });
  }
}
