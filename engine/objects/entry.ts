/**
 * Entries: what a key maps to. Encoded as lakeFS's protobuf `Entry`, with our SHA-256 as field 100.
 */

import { equalBytes } from "../../base/bytes.ts";
import type { Timestamp } from "../../base/clock.ts";
import { corrupt } from "../../base/errors.ts";
import { ProtobufError, protobufFields, ProtobufWriter, VarintReader } from "../../base/protobuf.ts";
import type { ValueRecord } from "../committed/mod.ts";
import { EntryFields } from "./entry_fields.ts";
import { EntryReader } from "./entry_reader.ts";
import { TypedStream } from "./typed_stream.ts";

/** 0: full or relative by its prefix (old lakeFS), 1: relative to the storage namespace, 2: full. */
export type AddressType = 0 | 1 | 2;

export interface Entry {
  readonly address: string;
  readonly addressType: AddressType;
  readonly lastModified: Timestamp;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly contentType: string;
  /** 32 bytes; absent in entries that others wrote. */
  readonly sha256?: Uint8Array;
}

export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

const SHA256_FIELD = 100;

/** Returns the bytes of an entry. */
export function encodeEntry(entry: Entry): Uint8Array {
  const writer = new ProtobufWriter()
    .string(1, entry.address)
    .timestamp(2, entry.lastModified)
    .uint(3, entry.sizeBytes)
    .string(4, entry.etag)
    .map(5, Object.entries(entry.metadata))
    .uint(6, entry.addressType)
    .string(7, entry.contentType);
  if (entry.sha256) writer.bytes(SHA256_FIELD, entry.sha256);
  return writer.finish();
}

const entryReader = new EntryReader();

/** Returns the entry of a record. Fails with `corrupt_file`, naming `where` it came from. */
export function decodeEntry(data: Uint8Array, where = "entry"): Entry {
  return entryReader.read(data, where).entry();
}

const identityStream = new TypedStream();

/** Returns the identity: SHA-256 over size, ETag, metadata and, if not empty, content type. The address is no part. */
export function entryIdentity(entry: Entry): Uint8Array {
  const stream = identityStream.restart().int64(entry.sizeBytes).string(entry.etag).map(entry.metadata);
  if (entry.contentType !== "") stream.string(entry.contentType);
  return stream.sha256();
}

/** Returns the record of an entry under a key. */
export function entryRecord(key: Uint8Array, entry: Entry): ValueRecord {
  return { key, identity: entryIdentity(entry), data: encodeEntry(entry) };
}

const weighedFields = new EntryFields();

/**
 * Returns a record's canonical size: `len(key) + 32 + 64 + bytes of metadata keys and values + bytes of the content type`.
 * Makes no texts: it is asked of every record that is written.
 */
export function entryWeight(record: ValueRecord): number {
  const fields = weighedFields;
  let weight = record.key.length + 32 + 64;
  const plain = plainWeight(record.data);
  if (plain >= 0) return weight + plain;
  if (!fields.find(record.data)) return weight + generalWeight(record.data);
  weight += fields.contentTypeEnd - fields.contentTypeStart;
  const { metadata } = fields;
  for (let i = 0; i < metadata.length; i += 2) weight += metadata[i + 1]! - metadata[i]!;
  return weight;
}

const CONTENT_TYPE_TAG = 7 * 8 + 2;
const METADATA_TAG = 5 * 8 + 2;
const ADDRESS_TAG = 1 * 8 + 2, LAST_MODIFIED_TAG = 2 * 8 + 2, SIZE_TAG = 3 * 8, ETAG_TAG = 4 * 8 + 2;
const ADDRESS_TYPE_TAG = 6 * 8, SHA256_TAG = [0xa2, 0x06] as const;

/** Returns the bytes of the content type of an entry as nearly all are; -1 for one with metadata or of another form. */
function plainWeight(data: Uint8Array): number {
  const { length } = data;
  let weight = -1, at = 0;
  while (at < length) {
    const tag = data[at++]!;
    if (tag === SIZE_TAG || tag === ADDRESS_TYPE_TAG) {
      while (data[at++]! >= 0x80);
      continue;
    }
    if (tag === SHA256_TAG[0]) {
      if (data[at++] !== SHA256_TAG[1]) return -1;
    } else if (tag === CONTENT_TYPE_TAG) {
      if (weight >= 0 || data[at]! >= 0x80) return -1;
      weight = data[at]!;
    } else if (tag !== ADDRESS_TAG && tag !== LAST_MODIFIED_TAG && tag !== ETAG_TAG) return -1;
    let size = data[at++]!;
    if (size >= 0x80) size = (size & 0x7f) + longLength(data[at++]!);
    at += size;
  }
  // What is cut off does not end where the bytes do.
  if (at !== length) return -1;
  return weight < 0 ? 0 : weight;
}

/** Returns what the second byte of a length stands for, or what no length is if it is not the last one. */
function longLength(byte: number): number {
  return byte < 0x80 ? byte * 0x80 : Infinity;
}

/** Returns the bytes of metadata and content type in an entry of any form that protobuf allows. */
function generalWeight(data: Uint8Array): number {
  const reader = new VarintReader(data);
  let weight = 0;
  try {
    while (!reader.atEnd) {
      const tag = reader.next();
      const length = reader.skip(tag % 8);
      if (tag === CONTENT_TYPE_TAG) weight += length;
      else if (tag === METADATA_TAG) weight += pairWeight(data.subarray(reader.at - length, reader.at));
    }
  } catch (error) {
    if (error instanceof ProtobufError) corrupt("entry", 0, `an entry does not decode (${error.message})`);
    throw error;
  }
  return weight;
}

function pairWeight(pair: Uint8Array): number {
  let weight = 0;
  for (const part of protobufFields(pair)) weight += part.bytes.length;
  return weight;
}

/**
 * Returns whether two records of one key hold the same content: equal identities, or equal SHA-256, size, metadata and
 * content type (the same bytes uploaded in one piece and in parts have two ETags).
 */
export function sameContent(a: ValueRecord, b: ValueRecord): boolean {
  if (equalBytes(a.identity, b.identity)) return true;
  const left = entryReader.read(a.data), right = otherReader.read(b.data);
  if (left.sizeBytes !== right.sizeBytes) return false;
  const leftHash = left.sha256, rightHash = right.sha256;
  return leftHash !== undefined && rightHash !== undefined && equalBytes(leftHash, rightHash) &&
    left.contentType === right.contentType &&
    equalBytes(new TypedStream().map(left.metadata).finish(), new TypedStream().map(right.metadata).finish());
}

const otherReader = new EntryReader();
