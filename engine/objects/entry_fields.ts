/**
 * Where the fields of an entry lie in its bytes, found in one pass that makes neither views nor objects.
 *
 *     tag   field
 *     0a    1    address        text
 *     12    2    last modified  message: 08 seconds, 10 nanoseconds
 *     18    3    size           varint
 *     22    4    ETag           text
 *     2a    5    metadata       message a pair: 0a key, 12 value
 *     30    6    address type   varint
 *     3a    7    content type   text
 *     a206  100  SHA-256        32 bytes
 *
 * This is what lakeFS and we write. Other protobuf is legal (unknown fields, negative numbers, fields twice) and rare:
 * it is not understood here, and no more is what does not decode at all. Then the general reader has its turn, which
 * also knows what to say of it.
 */

import { EMPTY_BYTES } from "../../base/bytes.ts";

const ADDRESS = 0x0a, LAST_MODIFIED = 0x12, SIZE = 0x18, ETAG = 0x22, METADATA = 0x2a, ADDRESS_TYPE = 0x30;
const CONTENT_TYPE = 0x3a, SHA256 = 0xa2, SHA256_SECOND = 0x06;
const SECONDS = 0x08, NANOS = 0x10, PAIR_KEY = 0x0a, PAIR_VALUE = 0x12;
/** Longer varints are negative numbers. */
const MOST_VARINT_BYTES = 9;

/** The places of one entry's fields; used over again for the next entry. A missing text lies at 0 and is empty. */
export class EntryFields {
  data: Uint8Array = EMPTY_BYTES;
  addressStart = 0;
  addressEnd = 0;
  etagStart = 0;
  etagEnd = 0;
  contentTypeStart = 0;
  contentTypeEnd = 0;
  seconds = 0;
  nanos = 0;
  sizeBytes = 0;
  addressType = 0;
  /** Negative when there is none. */
  sha256Start = -1;
  /** The pairs of the metadata: key start, key end, value start, value end of each. */
  readonly metadata: number[] = [];
  /** The number that {@link #varint} read last. */
  #number = 0;

  /** Finds the fields of an entry, a part of `data`; returns `false`, with nothing to rely on, when its form is another. */
  find(data: Uint8Array, start = 0, end = data.length): boolean {
    this.#forget(data);
    for (let at = start; at < end;) {
      const tag = data[at++]!;
      if (tag === SHA256 && data[at++] !== SHA256_SECOND) return false;
      at = this.#varint(at, end);
      if (at < 0) return false;
      if (tag === SIZE) this.sizeBytes = this.#number;
      else if (tag === ADDRESS_TYPE) this.addressType = this.#number;
      else {
        const start = at;
        at += this.#number;
        if (at > end || !this.#delimited(tag, start, at)) return false;
      }
    }
    return this.addressType <= 2;
  }

  #forget(data: Uint8Array): void {
    this.data = data;
    this.addressStart =
      this.addressEnd =
      this.etagStart =
      this.etagEnd =
        0;
    this.contentTypeStart = this.contentTypeEnd = 0;
    this.seconds =
      this.nanos =
      this.sizeBytes =
      this.addressType =
        0;
    this.sha256Start = -1;
    if (this.metadata.length > 0) this.metadata.length = 0;
  }

  #delimited(tag: number, start: number, end: number): boolean {
    switch (tag) {
      case ADDRESS:
        if (this.addressStart > 0) return false;
        this.addressStart = start;
        this.addressEnd = end;
        return true;
      case LAST_MODIFIED:
        return this.#timestamp(start, end);
      case ETAG:
        if (this.etagStart > 0) return false;
        this.etagStart = start;
        this.etagEnd = end;
        return true;
      case METADATA:
        return this.#pair(start, end);
      case CONTENT_TYPE:
        if (this.contentTypeStart > 0) return false;
        this.contentTypeStart = start;
        this.contentTypeEnd = end;
        return true;
      case SHA256:
        if (end - start === 32) this.sha256Start = start;
        return true;
      default:
        return false;
    }
  }

  #timestamp(start: number, end: number): boolean {
    this.seconds = this.nanos = 0;
    for (let at = start; at < end;) {
      const tag = this.data[at]!;
      at = this.#varint(at + 1, end);
      if (at < 0) return false;
      if (tag === SECONDS) this.seconds = this.#number;
      else if (tag === NANOS) this.nanos = this.#number;
      else return false;
    }
    return true;
  }

  #pair(start: number, end: number): boolean {
    const { data } = this;
    if (data[start] !== PAIR_KEY) return false;
    const keyStart = this.#varint(start + 1, end);
    if (keyStart < 0) return false;
    const keyEnd = keyStart + this.#number;
    if (keyEnd >= end || data[keyEnd] !== PAIR_VALUE) return false;
    const valueStart = this.#varint(keyEnd + 1, end);
    if (valueStart < 0 || valueStart + this.#number !== end) return false;
    this.metadata.push(keyStart, keyEnd, valueStart, end);
    return true;
  }

  /** Reads a number and returns where it ends; negative when it does not end before `end` or is a long one. */
  #varint(at: number, end: number): number {
    if (at >= end) return -1;
    const { data } = this;
    const first = data[at]!;
    if (first < 0x80) {
      this.#number = first;
      return at + 1;
    }
    let value = first & 0x7f, scale = 128;
    const last = Math.min(end, at + MOST_VARINT_BYTES);
    for (let i = at + 1; i < last; i++) {
      const byte = data[i]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.#number = value;
        return i + 1;
      }
      scale *= 128;
    }
    return -1;
  }
}
