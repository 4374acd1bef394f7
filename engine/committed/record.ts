/**
 * ValueRecords and their encoding in tables.
 *
 * Value: `varint(len(identity)) identity varint(len(data)) data`, the varints zig-zag, bytes after `data` ignored.
 */

import { concatBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import type { ValuePlace } from "../sstable/mod.ts";

/** One record of the keyspace. Two records with equal key and identity are the same as far as Graveler is concerned. */
export interface ValueRecord {
  readonly key: Uint8Array;
  readonly identity: Uint8Array;
  readonly data: Uint8Array;
}

/** Returns a table value. */
export function encodeValue(identity: Uint8Array, data: Uint8Array): Uint8Array {
  return concatBytes(encodeHead(identity, data.length), data);
}

/** Returns what stands in front of a value's data, in the array given if that has the right length. */
export function encodeHead(
  identity: Uint8Array,
  dataLength: number,
  head: Uint8Array = EMPTY_BYTES,
): Uint8Array {
  const length = varintLength(identity.length) + identity.length + varintLength(dataLength);
  const out = head.length === length ? head : new Uint8Array(length);
  let at = putVarint(out, 0, identity.length);
  for (let i = 0; i < identity.length; i++) out[at++] = identity[i]!;
  putVarint(out, at, dataLength);
  return out;
}

/** Returns the record of a table value; identity and data are views of it. Fails with `corrupt_file`. */
export function decodeRecord(key: Uint8Array, value: Uint8Array, file: string): ValueRecord {
  return decodeRecordAt(key, { valueBytes: value, valueStart: 0, valueEnd: value.length }, file);
}

/** Returns what {@link decodeRecord} does of a value that lies in a block. */
export function decodeRecordAt(key: Uint8Array, place: ValuePlace, file: string): ValueRecord {
  const bytes = place.valueBytes;
  locate(place, file);
  return {
    key,
    identity: bytes.subarray(identityAt, identityEnd),
    data: bytes.subarray(dataAt, dataEnd),
  };
}

/** Returns what {@link decodeRecordAt} does; identity and data are in memory of their own. */
export function copyRecordAt(key: Uint8Array, place: ValuePlace, file: string): ValueRecord {
  const bytes = place.valueBytes;
  locate(place, file);
  return { key, identity: bytes.slice(identityAt, identityEnd), data: bytes.slice(dataAt, dataEnd) };
}

/** Where the parts of a value lie, in the bytes that it lies in. */
export interface ValueParts {
  identityStart: number;
  identityEnd: number;
  dataStart: number;
  dataEnd: number;
}

/** Finds the parts of a value. Fails with `corrupt_file`. */
export function findParts(place: ValuePlace, file: string, parts: ValueParts): void {
  locate(place, file);
  parts.identityStart = identityAt;
  parts.identityEnd = identityEnd;
  parts.dataStart = dataAt;
  parts.dataEnd = dataEnd;
}

/** Where the parts of the value lie that was looked at last. */
let identityAt = 0, identityEnd = 0, dataAt = 0, dataEnd = 0;

function locate({ valueBytes: bytes, valueStart, valueEnd }: ValuePlace, file: string): void {
  const identityLength = lengthAt(bytes, valueStart, valueEnd);
  identityAt = varintEnd;
  identityEnd = identityAt + identityLength;
  if (identityLength < 0 || identityEnd > valueEnd) corrupt(file, valueStart, "a value has a bad length");
  const dataLength = lengthAt(bytes, identityEnd, valueEnd);
  dataAt = varintEnd;
  dataEnd = dataAt + dataLength;
  if (dataLength < 0 || dataEnd > valueEnd) corrupt(file, identityEnd, "a value has a bad length");
}

/** Zig-zag of a length below 2^31, so at most 2^32: plain arithmetic. */
function putVarint(out: Uint8Array, at: number, length: number): number {
  let rest = length * 2;
  while (rest >= 0x80) {
    out[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  out[at++] = rest;
  return at;
}

function varintLength(length: number): number {
  let bytes = 1;
  for (let rest = length * 2; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** Where the length that {@link lengthAt} returned ends. */
let varintEnd = 0;

/** Returns the length that stands at `at`, or -1 when none does. */
function lengthAt(bytes: Uint8Array, at: number, end: number): number {
  let value = 0, scale = 1;
  for (let i = at; i < end && i < at + 6; i++) {
    const byte = bytes[i]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      varintEnd = i + 1;
      return value % 2 === 0 ? value / 2 : -1;
    }
    scale *= 128;
  }
  return -1;
}
