/**
 * ValueRecords and their encoding in tables.
 *
 * Value: `varint(len(identity)) identity varint(len(data)) data`, the varints zig-zag, bytes after `data` ignored.
 */

import { corrupt } from "../../base/errors.ts";

/** One record of the keyspace. Two records with equal key and identity are the same as far as Graveler is concerned. */
export interface ValueRecord {
  readonly key: Uint8Array;
  readonly identity: Uint8Array;
  readonly data: Uint8Array;
}

/** Returns a table value. */
export function encodeValue(identity: Uint8Array, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(
    varintLength(identity.length) + identity.length + varintLength(data.length) + data.length,
  );
  let at = putVarint(out, 0, identity.length);
  out.set(identity, at);
  at = putVarint(out, at + identity.length, data.length);
  out.set(data, at);
  return out;
}

/** Returns the record of a table value; identity and data are views of it. Fails with `corrupt_file`. */
export function decodeRecord(key: Uint8Array, value: Uint8Array, file: string): ValueRecord {
  const [identityLength, identityAt] = takeVarint(value, 0, file);
  const identityEnd = identityAt + identityLength;
  const [dataLength, dataAt] = takeVarint(value, identityEnd, file);
  if (dataAt + dataLength > value.length) corrupt(file, dataAt, "a value is shorter than it says");
  return {
    key,
    identity: value.subarray(identityAt, identityEnd),
    data: value.subarray(dataAt, dataAt + dataLength),
  };
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

function takeVarint(bytes: Uint8Array, at: number, file: string): [length: number, next: number] {
  let value = 0, scale = 1;
  for (let i = at; i < bytes.length && i < at + 6; i++) {
    const byte = bytes[i]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      const length = value / 2;
      if (value % 2 !== 0 || i + 1 + length > bytes.length) break;
      return [length, i + 1];
    }
    scale *= 128;
  }
  return corrupt(file, at, "a value has a bad length");
}
