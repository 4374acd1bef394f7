/**
 * The typed stream that identities and commit IDs are hashed from.
 *
 * One type byte and a body an item: bytes 0, string 1, int64 2, string list 3, string map 4, embedded 5.
 * int64: `02 08` and 8 bytes big-endian. string: `01`, its length as an int64 item, UTF-8. list: `03`, count, items.
 * map: `04`, the number of pairs, then key and value as string items, sorted by key. bytes: `00`, length, bytes.
 * embedded: `05`, then a bytes item.
 */

import { compareBytes, utf8, writeUtf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";

/** An int64 item: its type, its length and itself. */
const INT64_BYTES = 10;

export class TypedStream {
  #bytes = new Uint8Array(256);
  #length = 0;

  /** Forgets what was written, so that the next stream takes the same memory. */
  restart(): this {
    this.#length = 0;
    return this;
  }

  int64(value: number | bigint): this {
    this.#reserve(INT64_BYTES);
    this.#bytes[this.#length++] = 2;
    this.#bytes[this.#length++] = 8;
    if (typeof value === "number" && value >= 0 && value <= 0xffffffff) {
      // Nearly every number is a length or a size that fits in four bytes.
      for (let i = 0; i < 4; i++) {
        this.#bytes[this.#length + i] = 0;
        this.#bytes[this.#length + 4 + i] = value >>> (24 - 8 * i);
      }
    } else new DataView(this.#bytes.buffer).setBigInt64(this.#length, BigInt(value));
    this.#length += 8;
    return this;
  }

  string(value: string): this {
    this.#type(1);
    const start = this.#length;
    this.#reserve(INT64_BYTES + 3 * value.length);
    const written = writeUtf8(value, this.#bytes, start + INT64_BYTES);
    this.int64(written);
    this.#length += written;
    return this;
  }

  bytes(value: Uint8Array): this {
    return this.#lengthAnd(0, value);
  }

  list(values: readonly string[]): this {
    this.#type(3).int64(values.length);
    for (const value of values) this.string(value);
    return this;
  }

  map(entries: Readonly<Record<string, string>>): this {
    const pairs = Object.entries(entries).map(([key, value]) => ({ key: utf8(key), value }));
    if (pairs.length > 1) pairs.sort((a, b) => compareBytes(a.key, b.key));
    this.#type(4).int64(pairs.length);
    for (const { key, value } of pairs) this.#lengthAnd(1, key).string(value);
    return this;
  }

  /** Adds the SHA-256 of another stream. */
  embedded(inner: TypedStream): this {
    return this.#type(5).bytes(inner.sha256());
  }

  /** Returns a copy of what was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Returns the SHA-256 of what was written: 32 bytes. */
  sha256(): Uint8Array {
    return sha256(this.#bytes.subarray(0, this.#length));
  }

  #type(type: number): this {
    this.#reserve(1);
    this.#bytes[this.#length++] = type;
    return this;
  }

  #lengthAnd(type: number, value: Uint8Array): this {
    this.#type(type).int64(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
