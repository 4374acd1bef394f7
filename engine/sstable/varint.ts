/** Base-128 varints: seven bits a byte, the lowest first, the top bit set on all bytes but the last. */

import { malformed } from "./malformed.ts";

export interface DecodedVarint {
  readonly value: number;
  /** Where the bytes behind it begin. */
  readonly end: number;
}

/** Returns the varint of a non-negative safe integer. */
export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  bytes.push(value);
  return Uint8Array.from(bytes);
}

/** Writes the varint of a non-negative safe integer into `out` at `at`; returns where it ends. */
export function putVarint(out: Uint8Array, at: number, value: number): number {
  for (; value >= 0x80; value = Math.floor(value / 0x80)) out[at++] = (value % 0x80) | 0x80;
  out[at++] = value;
  return at;
}

/** Returns how many bytes the varint of a non-negative safe integer has. */
export function varintLength(value: number): number {
  let length = 1;
  for (; value >= 0x80; value = Math.floor(value / 0x80)) length++;
  return length;
}

/** Returns the varint at `at`. What is cut off, or no safe integer, is malformed. */
export function varintAt(bytes: Uint8Array, at: number): DecodedVarint {
  let value = 0;
  for (let scale = 1; at < bytes.length && scale < Number.MAX_SAFE_INTEGER; scale *= 0x80) {
    const byte = bytes[at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      return value <= Number.MAX_SAFE_INTEGER ? { value, end: at } : malformed("too large a number");
    }
  }
  return malformed("number without an end");
}
