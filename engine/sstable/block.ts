/**
 * Blocks: sorted entries with prefix-compressed keys, and offsets at which whole keys stand.
 *
 * ```
 * block   := entry* restart+ count
 * entry   := varint32(bytes shared with the key before) varint32(bytes not shared) varint32(bytes of the value)
 *            the bytes not shared, the value
 * restart := uint32 LE, the offset of an entry that shares nothing; the first is 0
 * count   := uint32 LE, the number of restarts
 * ```
 *
 * In data and index blocks a key is an internal key: the user key and a trailer of 8 bytes, the kind (1 byte) and the
 * sequence number (7 bytes LE). In tables of ours and of lakeFS the trailer of a record is always kind 1 ("set"),
 * sequence 0. Trailers take part in prefix sharing, not in the order: user keys ascend strictly.
 */

import { corrupt } from "../../base/errors.ts";
import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import type { Place } from "./malformed.ts";

export const RESTART_BYTES = 4;
export const TRAILER_BYTES = 8;
export const RECORD_TRAILER = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);

/** What follows the user keys of a block. */
export type KeyForm = "record" | "separator" | "plain";

/** A block whose outer form has been checked; its entries are checked as they are walked. */
export class Block {
  readonly bytes: Uint8Array;
  readonly keyForm: KeyForm;
  readonly place: Place;
  readonly trailerBytes: number;
  readonly entriesEnd: number;
  readonly restartCount: number;

  constructor(bytes: Uint8Array, { keyForm, place }: { keyForm: KeyForm; place: Place }) {
    this.bytes = bytes;
    this.keyForm = keyForm;
    this.place = place;
    this.trailerBytes = keyForm === "plain" ? 0 : TRAILER_BYTES;
    if (bytes.length < 2 * RESTART_BYTES) this.fail("block without restart points");
    this.restartCount = uint32(bytes, bytes.length - RESTART_BYTES);
    this.entriesEnd = bytes.length - RESTART_BYTES * (this.restartCount + 1);
    if (this.restartCount === 0 || this.entriesEnd < 0) {
      this.fail("block with a wrong count of restart points");
    }
    if (this.restart(0) !== 0) this.fail("block whose first restart point is not its first entry");
  }

  /** Throws `corrupt` with the block's place. */
  fail(why: string): never {
    corrupt(this.place.file, this.place.offset, why);
  }

  restart(i: number): number {
    return uint32(this.bytes, this.entriesEnd + RESTART_BYTES * i);
  }
}

/** Walks a block's entries. It knows where an entry's parts lie and never builds its key. */
export class BlockCursor {
  /** May be exchanged before a seek. */
  block: Block;
  /** Of the current entry: how much of its key the one before has, and where the rest and the value lie. */
  shared = 0;
  restStart = 0;
  valueStart = 0;
  /** Where the next entry begins. */
  end = 0;
  /** Of the current entry's key, with its trailer. */
  keyLength = 0;

  constructor(block: Block) {
    this.block = block;
  }

  /** The current entry's user key has this many bytes. */
  get userKeyLength(): number {
    return this.keyLength - this.block.trailerBytes;
  }

  /** The memory that the current entry's value lies in. */
  get valueBytes(): Uint8Array {
    return this.block.bytes;
  }

  /** Where the current entry's value ends: where the next entry begins. */
  get valueEnd(): number {
    return this.end;
  }

  /** Returns a view of the current entry's value. */
  value(): Uint8Array {
    return this.block.bytes.subarray(this.valueStart, this.end);
  }

  /** Fails unless the current entry is a record: tables here hold no deletions, merges or older versions. */
  checkIsRecord(): void {
    const { bytes } = this.block;
    const trailer = this.valueStart - TRAILER_BYTES;
    if (uint32(bytes, trailer) !== 1 || uint32(bytes, trailer + 4) !== 0) {
      this.block.fail("entry that is not a plain record");
    }
  }

  /** Moves to the next entry, or returns `false` behind the last one. */
  next(): boolean {
    const { bytes, entriesEnd, trailerBytes } = this.block;
    let at = this.end;
    if (at >= entriesEnd) return false;
    let shared = bytes[at]!, rest = bytes[at + 1]!, value = bytes[at + 2]!;
    if ((shared | rest | value) < 0x80) {
      at += 3;
    } else {
      this.end = at;
      shared = this.#varint();
      rest = this.#varint();
      value = this.#varint();
      at = this.end;
    }
    const keyLength = shared + rest;
    if (shared > this.keyLength || rest < trailerBytes || rest + value > entriesEnd - at) {
      this.block.fail("block entry out of bounds");
    }
    if (keyLength > MAX_TABLE_KEY_BYTES + trailerBytes) {
      this.block.fail(`key of more than ${MAX_TABLE_KEY_BYTES} bytes`);
    }
    this.shared = shared;
    this.restStart = at;
    this.valueStart = at + rest;
    this.end = this.valueStart + value;
    this.keyLength = keyLength;
    return true;
  }

  /**
   * Moves in front of the last restart point whose key is at most `target`, or of the first one. All keys of the block have
   * `prefix` bytes in common with it.
   */
  seekRestart(target: Uint8Array, prefix = 0): void {
    const { block } = this;
    let below = 0, above = block.restartCount;
    while (above - below > 1) {
      const middle = (below + above) >>> 1;
      this.#moveTo(block.restart(middle));
      if (!this.next()) block.fail("restart point out of bounds");
      if (this.#compareRest(target, prefix) <= 0) below = middle;
      else above = middle;
    }
    this.#moveTo(block.restart(below));
  }

  /**
   * Moves to the first entry whose user key is `target` or greater. Returns 0 when it is `target`, a positive number
   * when it is greater, and -1 when there is none. All keys of the block have `prefix` bytes in common with it.
   *
   * Keys are compared without being built: `matched` bytes of the last key equal the target's, and `difference` tells how
   * the bytes behind those compare. A key that shares more than that compares in the same way as the last one.
   */
  seek(target: Uint8Array, prefix = 0): number {
    this.seekRestart(target, prefix);
    const { bytes } = this.block;
    let matched = prefix, difference = 0;
    while (this.next()) {
      const { shared, keyLength, userKeyLength } = this;
      if (shared <= matched) {
        const toRest = this.restStart - shared;
        const common = keyLength < target.length ? keyLength : target.length;
        matched = shared > prefix ? shared : prefix;
        while (matched < common && bytes[toRest + matched] === target[matched]) matched++;
        difference = matched < common ? bytes[toRest + matched]! - target[matched]! : 0;
      }
      const order = matched < userKeyLength && matched < target.length
        ? difference
        : userKeyLength - target.length;
      if (order >= 0) return order;
    }
    return -1;
  }

  /** Moves in front of the last restart point. */
  toLastRestart(): void {
    this.#moveTo(this.block.restart(this.block.restartCount - 1));
  }

  #moveTo(offset: number): void {
    this.end = offset;
    this.keyLength = 0;
  }

  /** Compares an entry that shares nothing. */
  #compareRest(target: Uint8Array, prefix: number): number {
    const { bytes } = this.block;
    const { restStart, userKeyLength } = this;
    const common = userKeyLength < target.length ? userKeyLength : target.length;
    for (let i = prefix; i < common; i++) {
      const difference = bytes[restStart + i]! - target[i]!;
      if (difference !== 0) return difference;
    }
    return userKeyLength - target.length;
  }

  #varint(): number {
    const { bytes, entriesEnd } = this.block;
    let value = 0;
    for (let shift = 0; shift < 35 && this.end < entriesEnd; shift += 7) {
      const byte = bytes[this.end++]!;
      value += shift < 28 ? (byte & 0x7f) << shift : (byte & 0x7f) * 2 ** 28;
      if (byte < 0x80) return value;
    }
    return this.block.fail("block entry out of bounds");
  }
}

function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0;
}
