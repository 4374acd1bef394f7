/** Byte strings: comparing, joining, text. Keys are bytes, and their order is the order of unsigned bytes. */

import { Buffer } from "node:buffer";

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

/** Returns a negative number, zero or a positive number as `a` sorts before, equals or sorts after `b`. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Returns whether both hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Returns whether `bytes` begins with `prefix`. */
export function startsWithBytes(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false;
  return true;
}

/** Returns the position of `needle` in `bytes` at or after `from`, or -1. An empty needle is found nowhere. */
export function indexOfBytes(bytes: Uint8Array, needle: Uint8Array, from = 0): number {
  if (needle.length === 0) return -1;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(needle, from);
}

/** Returns the same memory as a plain array: `slice` of a `Buffer` makes no copy, and its methods are others. */
export function plainBytes(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** Returns the parts one after the other in a new array. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return joinBytes(parts);
}

/** Returns the parts one after the other in a new array; there may be more of them than a call takes arguments. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * Returns the smallest byte string that sorts after every string beginning with `prefix`, or `undefined` when there
 * is none (an empty prefix, or one of 0xff alone).
 */
export function afterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  if (end === 0) return undefined;
  const out = prefix.slice(0, end);
  out[end - 1]!++;
  return out;
}

/** Returns the smallest byte string that sorts after `key`. */
export function afterKey(key: Uint8Array): Uint8Array {
  const out = new Uint8Array(key.length + 1);
  out.set(key);
  return out;
}

/** Returns the UTF-8 bytes of `text`. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Writes the UTF-8 bytes of `text` into `target` from `at` on, and returns how many there are: at most three times
 * `text.length`, for which there must be room.
 */
export function writeUtf8(text: string, target: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Nearly every text is short and ASCII alone: then this costs less than the call of an encoder.
    if (unit >= 0x80) return i + encoder.encodeInto(text.slice(i), target.subarray(at + i)).written;
    target[at + i] = unit;
  }
  return text.length;
}

/** Returns the text of valid UTF-8, or `undefined` for bytes that are not. */
export function tryUtf8Text(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the text of UTF-8 bytes up to `end`, with U+FFFD for what is no UTF-8: for showing, never for comparing. */
export function lossyText(bytes: Uint8Array, end = bytes.length): string {
  // A `Buffer` over the memory of a small array costs several times as much as its text.
  return Buffer.prototype.toString.call(bytes, "utf8", 0, end);
}

/**
 * Returns a text with one unit for each byte, of which what stands for ASCII is right: one text, and slices of it, cost a
 * part of many texts.
 */
export function oneUnitAByte(bytes: Uint8Array, start: number, end: number): string {
  // Of the encodings with one unit a byte it is the fastest, by far where there are many.
  return Buffer.prototype.toString.call(bytes, "ascii", start, end);
}

/** Returns a text with one character for each byte, the same for the same bytes alone: to look bytes up by. */
export function nameOfBytes(bytes: Uint8Array): string {
  // A `Buffer` over the memory of a small array costs ten times as much.
  return Buffer.prototype.toString.call(bytes, "latin1", 0, bytes.length);
}

/** Returns the lower-case hexadecimal form. */
export function hex(bytes: Uint8Array): string {
  // A `Buffer` over the memory of a small array costs more than what it is made for.
  return bytes.toHex?.() ?? asBuffer(bytes).toString("hex");
}

/** Returns the bytes of a hexadecimal string, or `undefined` when it is none. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** Returns a `Buffer` over the same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns whether a string has no lone surrogates, so that it has a UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
