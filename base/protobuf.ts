/**
 * The protobuf wire format, as far as our records need it: varints, length-delimited fields, nested messages and
 * string maps. Fields are written in ascending order and maps sorted by key bytes, so equal records have equal bytes.
 * A reader skips fields that it does not know.
 */

import { compareBytes, EMPTY_BYTES, tryUtf8Text, utf8, writeUtf8 } from "./bytes.ts";
import type { Timestamp } from "./clock.ts";

/** Bytes that are no protobuf of the expected shape. Callers turn it into `corrupt` with the record's name. */
export class ProtobufError extends Error {
  override name = "ProtobufError";
}

/** A text of so many UTF-16 units has a length of one byte, whatever its characters. */
const SHORT_TEXT = 42;

/** What a finished writer leaves to the next one: messages are small and many, and memory for each would cost most. */
let spare = new Uint8Array(256);
const EMPTY = new Uint8Array(0);
const MAX_SPARE_BYTES = 64 * 1024;

/** Builds one message. Default values (0, "", false) are left out, as proto3 does. */
export class ProtobufWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor() {
    this.#bytes = spare.length > 0 ? spare : new Uint8Array(256);
    spare = EMPTY;
  }

  uint(field: number, value: number): this {
    if (value !== 0) {
      this.#varint(field * 8);
      this.#varint(value);
    }
    return this;
  }

  bool(field: number, value: boolean): this {
    return this.uint(field, value ? 1 : 0);
  }

  bytes(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.#delimited(field, value);
  }

  /** Writes the field even when the value is empty: for elements of repeated fields and present sub-messages. */
  element(field: number, value: Uint8Array): this {
    return this.#delimited(field, value);
  }

  string(field: number, value: string): this {
    if (value === "") return this;
    if (value.length > SHORT_TEXT) return this.#delimited(field, utf8(value));
    this.#varint(field * 8 + 2);
    this.#reserve(1 + 3 * value.length);
    const written = writeUtf8(value, this.#bytes, this.#length + 1);
    this.#bytes[this.#length] = written;
    this.#length += 1 + written;
    return this;
  }

  strings(field: number, values: readonly string[]): this {
    for (const value of values) this.#delimited(field, utf8(value));
    return this;
  }

  timestamp(field: number, value: Timestamp | undefined): this {
    if (!value) return this;
    this.#varint(field * 8 + 2);
    this.#reserve(1);
    const start = this.#length++;
    this.signed(1, value.seconds).uint(2, value.nanos);
    // Two numbers are at most 22 bytes: their length takes one.
    this.#bytes[start] = this.#length - start - 1;
    return this;
  }

  /** An int64 or int32 that may be negative: ten bytes of two's complement. */
  signed(field: number, value: number): this {
    if (value >= 0) return this.uint(field, value);
    this.#varint(field * 8);
    let rest = BigInt.asUintN(64, BigInt(value));
    this.#reserve(10);
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
    return this;
  }

  map(field: number, entries: Iterable<readonly [string, string]>): this {
    const pairs = [...entries].map(([key, value]) => ({ key: utf8(key), value: utf8(value) }));
    pairs.sort((a, b) => compareBytes(a.key, b.key));
    for (const { key, value } of pairs) {
      this.#delimited(field, new ProtobufWriter().element(1, key).element(2, value).finish());
    }
    return this;
  }

  /** Returns what was written; the writer may not be used afterwards. */
  finish(): Uint8Array {
    const out = this.#bytes.slice(0, this.#length);
    if (this.#bytes.length <= MAX_SPARE_BYTES) spare = this.#bytes;
    this.#bytes = EMPTY;
    this.#length = 0;
    return out;
  }

  #delimited(field: number, value: Uint8Array): this {
    this.#varint(field * 8 + 2);
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  #varint(value: number): void {
    this.#reserve(10);
    while (value >= 0x80) {
      this.#bytes[this.#length++] = (value % 128) | 0x80;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#length++] = value;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** One field of a message: its number and, by wire type, a number or a view of the bytes. */
export interface ProtobufField {
  readonly number: number;
  readonly uint: number;
  readonly bytes: Uint8Array;
}

/** Walks the fields of a message in the order they stand, and makes nothing of a field but what is asked for. */
export class ProtobufCursor {
  /** Of the field that {@link next} stepped to: its number, and the value of a varint. */
  number = 0;
  uint = 0;
  readonly #message: Uint8Array;
  readonly #reader: VarintReader;
  #length = 0;

  constructor(message: Uint8Array) {
    this.#message = message;
    this.#reader = new VarintReader(message);
  }

  /** Steps to the next field; returns `false` at the end. */
  next(): boolean {
    const reader = this.#reader;
    if (reader.atEnd) return false;
    const tag = reader.next();
    const wireType = tag % 8;
    this.number = Math.floor(tag / 8);
    if (this.number === 0) throw new ProtobufError("field number 0");
    this.uint = wireType === 0 ? reader.next() : 0;
    this.#length = wireType === 0 ? 0 : reader.skip(wireType);
    return true;
  }

  /** The content of a field that is no varint: a view of the message's memory. */
  get bytes(): Uint8Array {
    if (this.#length === 0) return EMPTY_BYTES;
    const { at } = this.#reader;
    return this.#message.subarray(at - this.#length, at);
  }
}

/** Yields the fields of a message in the order they stand. Views share the message's memory. */
export function* protobufFields(message: Uint8Array): Generator<ProtobufField> {
  const cursor = new ProtobufCursor(message);
  while (cursor.next()) {
    const { number, uint, bytes } = cursor;
    yield { number, uint, bytes };
  }
}

/** Returns the text of a string field. */
export function protobufString(field: ProtobufField): string {
  const text = tryUtf8Text(field.bytes);
  if (text === undefined) throw new ProtobufError(`field ${field.number} is not UTF-8`);
  return text;
}

/** Returns a google.protobuf.Timestamp field. */
export function protobufTimestamp(field: ProtobufField): Timestamp {
  let seconds = 0, nanos = 0;
  for (const inner of protobufFields(field.bytes)) {
    if (inner.number === 1) seconds = inner.uint;
    else if (inner.number === 2) nanos = inner.uint;
  }
  return { seconds, nanos };
}

/** Returns one pair of a string map field. */
export function protobufPair(field: ProtobufField): [string, string] {
  let key = "", value = "";
  for (const inner of protobufFields(field.bytes)) {
    if (inner.number === 1) key = protobufString(inner);
    else if (inner.number === 2) value = protobufString(inner);
  }
  return [key, value];
}

/** Walks the raw bytes of a message. */
export class VarintReader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  /** Steps over the value of a field of this wire type; returns how many bytes its content has. */
  skip(wireType: number): number {
    switch (wireType) {
      case 0: {
        const start = this.at;
        this.next();
        return this.at - start;
      }
      case 1:
        return this.#step(8);
      case 2:
        return this.#step(this.next());
      case 5:
        return this.#step(4);
      default:
        throw new ProtobufError(`wire type ${wireType}`);
    }
  }

  /** Reads one varint. */
  next(): number {
    let value = 0, scale = 1;
    for (let i = 0; i < 10; i++) {
      if (this.at >= this.#bytes.length) throw new ProtobufError("ends inside a varint");
      const byte = this.#bytes[this.at++]!;
      // Ten bytes are a negative int64: only then do the top bits matter.
      if (i === 9) return Number(BigInt.asIntN(64, this.#big()));
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new ProtobufError("varint too long");
  }

  #big(): bigint {
    let value = 0n;
    for (let i = 0; i < 10; i++) value |= BigInt(this.#bytes[this.at - 10 + i]! & 0x7f) << BigInt(7 * i);
    return value;
  }

  #step(length: number): number {
    if (length < 0 || length > this.#bytes.length - this.at) throw new ProtobufError("length beyond the end");
    this.at += length;
    return length;
  }
}
