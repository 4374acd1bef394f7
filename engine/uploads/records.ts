/**
 * Records of uploads in parts, in a partition of their own, `<name>-<instance uid>/uploads`:
 *
 *     id/<id>                              UploadData
 *     part/<id>/<number, five digits>      PartData
 *     path/<BRANCH/PATH, cut> NUL <id>     empty: where listings find open uploads
 *     due/<milliseconds, 15 digits>/<id>   the key under "path/": when something is to be done about the upload
 *
 * ```
 * UploadData { string id = 1; string branch = 2; string path = 3; Timestamp started = 4; string who = 5; string content_type = 6;
 *              map<string,string> metadata = 7; map<string,string> notes = 8; string state = 9; uint64 due = 10;
 *              bytes landing = 11; repeated string adopted = 12; bytes entry = 13; string note = 14; string etag = 15; repeated string slabs = 16; }
 * PartData   { Timestamp stored = 1; string address = 2; uint64 offset = 3; uint64 size = 4; bytes md5 = 5; bytes sha256 = 6;
 *              string note = 7; bool unflushed = 8; uint64 source_size = 9; bytes source_sha256 = 10; bool in_slab = 11; }
 * ```
 */

import { EMPTY_BYTES, lossyText, utf8 } from "../../base/bytes.ts";
import type { Timestamp } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { MAX_KEY_BYTES } from "../../base/limits.ts";
import {
  ProtobufError,
  type ProtobufField,
  protobufFields,
  protobufPair,
  protobufString,
  protobufTimestamp,
  ProtobufWriter,
} from "../../base/protobuf.ts";

export interface UploadRecord {
  readonly id: string;
  readonly branch: string;
  readonly path: string;
  readonly started: Timestamp;
  readonly who: string;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly notes: Readonly<Record<string, string>>;
  readonly state: "open" | "completed" | "aborted";
  /** Milliseconds since the epoch, as in the key of its record under "due/". */
  readonly due: number;
  /** Names who is about to stage the object; empty while nobody is. */
  readonly landing: Uint8Array;
  /** Addresses of parts that may have become the object: these are never deleted with the parts. */
  readonly adopted: readonly string[];
  /** Addresses of files that hold several parts. */
  readonly slabs: readonly string[];
  /** Of a completed one: the entry that was staged. */
  readonly entry: Uint8Array;
  /** Of a completed one: what whoever completed it had noted. */
  readonly note: string;
  /** Of a completed one: that of the parts that were named, by which a repetition is recognised. */
  readonly etag: string;
}

export interface PartSourceRecord {
  readonly sizeBytes: number;
  /** Empty when it is not known. */
  readonly sha256: Uint8Array;
}

export interface PartRecord {
  readonly stored: Timestamp;
  /** Where the bytes lie, relative to the storage namespace. */
  readonly address: string;
  readonly offset: number;
  readonly sizeBytes: number;
  readonly md5: Uint8Array;
  readonly sha256: Uint8Array;
  readonly note: string;
  /** Whether the bytes may not be on disk yet. */
  readonly isUnflushed: boolean;
  /** Of a part that lies in somebody else's object: that one, which is never deleted with the upload. */
  readonly source?: PartSourceRecord;
  /** Whether other parts lie in the same file. */
  readonly isInSlab: boolean;
}

const ID = "id/", PART = "part/", PATH = "path/", DUE = "due/";
const PART_DIGITS = 5, TIME_DIGITS = 15, ID_LENGTH = 26;
const MAX_NAME_BYTES = MAX_KEY_BYTES - PATH.length - 1 - ID_LENGTH;

export function uploadKey(id: string): Uint8Array {
  return utf8(ID + id);
}

export function partPrefix(id: string): Uint8Array {
  return utf8(`${PART}${id}/`);
}

export function partKey(id: string, number: number): Uint8Array {
  return utf8(`${PART}${id}/${String(number).padStart(PART_DIGITS, "0")}`);
}

export function partNumberOf(key: Uint8Array): number {
  return Number(lossyText(key.subarray(key.length - PART_DIGITS)));
}

/** Returns what an upload is listed by. */
export function nameOf({ branch, path }: Pick<UploadRecord, "branch" | "path">): string {
  return `${branch}/${path}`;
}

/** Returns what keys of uploads begin with whose names begin with `name`; of a very long name only the first part counts. */
export function namePrefix(name: string): { readonly prefix: Uint8Array; readonly isCut: boolean } {
  const bytes = utf8(PATH + name), most = PATH.length + MAX_NAME_BYTES;
  return { prefix: bytes.subarray(0, most), isCut: bytes.length > most };
}

/** Returns the key that an upload is listed under. The id follows a NUL, which no name contains. */
export function listedKey(record: Pick<UploadRecord, "id" | "branch" | "path">): Uint8Array {
  const { prefix } = namePrefix(nameOf(record));
  const key = new Uint8Array(prefix.length + 1 + ID_LENGTH);
  key.set(prefix);
  key.set(utf8(record.id), prefix.length + 1);
  return key;
}

/** Returns the name, perhaps cut, and the id in a key that an upload is listed under. */
export function listedParts(key: Uint8Array): { readonly name: Uint8Array; readonly id: string } {
  const at = key.length - ID_LENGTH;
  return { name: key.subarray(PATH.length, at - 1), id: lossyText(key.subarray(at)) };
}

/** Whether a name in a key may have been cut. */
export function mayBeCut(name: Uint8Array): boolean {
  return name.length === MAX_NAME_BYTES;
}

export const DUE_PREFIX: Uint8Array = utf8(DUE);

export function dueKey({ due, id }: Pick<UploadRecord, "due" | "id">): Uint8Array {
  return utf8(`${DUE}${String(due).padStart(TIME_DIGITS, "0")}/${id}`);
}

export function dueParts(key: Uint8Array): { readonly due: number; readonly id: string } {
  const text = lossyText(key.subarray(DUE.length));
  return { due: Number(text.slice(0, TIME_DIGITS)), id: text.slice(TIME_DIGITS + 1) };
}

export function encodeUpload(record: UploadRecord): Uint8Array {
  return new ProtobufWriter()
    .string(1, record.id)
    .string(2, record.branch)
    .string(3, record.path)
    .timestamp(4, record.started)
    .string(5, record.who)
    .string(6, record.contentType)
    .map(7, Object.entries(record.metadata))
    .map(8, Object.entries(record.notes))
    .string(9, record.state)
    .uint(10, record.due)
    .bytes(11, record.landing)
    .strings(12, record.adopted)
    .bytes(13, record.entry)
    .string(14, record.note)
    .string(15, record.etag)
    .strings(16, record.slabs)
    .finish();
}

/** Fails with `corrupt_record`. */
export function decodeUpload(value: Uint8Array): UploadRecord {
  const fields = fieldsOf(value);
  const map = (number: number) =>
    Object.fromEntries(fields.filter((field) => field.number === number).map(protobufPair));
  return decoding(() => ({
    id: text(fields, 1),
    branch: text(fields, 2),
    path: text(fields, 3),
    started: time(fields, 4),
    who: text(fields, 5),
    contentType: text(fields, 6),
    metadata: map(7),
    notes: map(8),
    state: text(fields, 9) as UploadRecord["state"],
    due: uint(fields, 10),
    landing: bytes(fields, 11),
    adopted: texts(fields, 12),
    entry: bytes(fields, 13),
    note: text(fields, 14),
    etag: text(fields, 15),
    slabs: texts(fields, 16),
  }));
}

export function encodePart(record: PartRecord): Uint8Array {
  return new ProtobufWriter()
    .timestamp(1, record.stored)
    .string(2, record.address)
    .uint(3, record.offset)
    .uint(4, record.sizeBytes)
    .bytes(5, record.md5)
    .bytes(6, record.sha256)
    .string(7, record.note)
    .bool(8, record.isUnflushed)
    .uint(9, record.source?.sizeBytes ?? 0)
    .bytes(10, record.source?.sha256 ?? EMPTY_BYTES)
    .bool(11, record.isInSlab)
    .finish();
}

/** Fails with `corrupt_record`. */
export function decodePart(value: Uint8Array): PartRecord {
  const fields = fieldsOf(value);
  return decoding(() => ({
    stored: time(fields, 1),
    address: text(fields, 2),
    offset: uint(fields, 3),
    sizeBytes: uint(fields, 4),
    md5: bytes(fields, 5),
    sha256: bytes(fields, 6),
    note: text(fields, 7),
    isUnflushed: uint(fields, 8) === 1,
    isInSlab: uint(fields, 11) === 1,
    ...(field(fields, 9) ? { source: { sizeBytes: uint(fields, 9), sha256: bytes(fields, 10) } } : {}),
  }));
}

type Fields = readonly ProtobufField[];

function fieldsOf(value: Uint8Array): Fields {
  return decoding(() => [...protobufFields(value)]);
}

function field(fields: Fields, number: number): ProtobufField | undefined {
  return fields.find((one) => one.number === number);
}

function text(fields: Fields, number: number): string {
  const found = field(fields, number);
  return found ? protobufString(found) : "";
}

function texts(fields: Fields, number: number): readonly string[] {
  return fields.filter((one) => one.number === number).map(protobufString);
}

function uint(fields: Fields, number: number): number {
  return field(fields, number)?.uint ?? 0;
}

/** A copy: views would keep the whole record in memory. */
function bytes(fields: Fields, number: number): Uint8Array {
  return new Uint8Array(field(fields, number)?.bytes ?? []);
}

function time(fields: Fields, number: number): Timestamp {
  const found = field(fields, number);
  return found ? protobufTimestamp(found) : { seconds: 0, nanos: 0 };
}

function decoding<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new CodedError("corrupt", "corrupt_record", `Cannot read a record of an upload: ${error.message}`, {
      cause: error,
    });
  }
}
