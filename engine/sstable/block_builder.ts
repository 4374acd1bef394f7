/** Writes blocks; `block.ts` tells how they look. */

import { asBuffer, EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { RESTART_BYTES } from "./block.ts";
import { MAX_HANDLE_BYTES } from "./footer.ts";
import type { TableIndex } from "./table_index.ts";

/** Copying more than this byte by byte takes longer than a call. */
const SHORT_BYTES = 64;
const FIRST_CAPACITY = 8 * 1024;
const FIRST_RESTARTS = 64;
/** The memory of one index serves the next, since fresh memory is dear, unless it is unusual. */
const MAX_SPARE_BYTES = 4 * 1024 * 1024;
let spareBytes: Uint8Array | undefined;
/** Room for three varint32 in front of a key. */
const ENTRY_HEAD_BYTES = 15;

export interface BlockBuilderOptions {
  /** How many entries share prefixes before a whole key is written again. */
  readonly restartInterval: number;
  /** Stands behind every key. */
  readonly trailer: Uint8Array;
}

/** Neighbouring entries of an index, and how much further on than there the blocks lie that they name. */
export interface EntryRun {
  readonly from: number;
  readonly to: number;
  readonly shift: number;
}

/**
 * Builds one block after the other, in memory that it uses again. Keys ascend strictly, across blocks too; anything else
 * is an assertion.
 */
export class BlockBuilder {
  readonly #restartInterval: number;
  readonly #trailer: Uint8Array;
  #bytes: Uint8Array = new Uint8Array(FIRST_CAPACITY);
  #end = 0;
  /** Processors that we run on have numbers as blocks have them: the lowest byte first. */
  #restarts = new Uint32Array(FIRST_RESTARTS);
  #restartCount = 1;
  #entriesSinceRestart = 0;
  #lastKey = new Uint8Array(256);
  /** -1 before the first key. */
  #lastKeyLength = -1;

  constructor({ restartInterval, trailer }: BlockBuilderOptions) {
    this.#restartInterval = restartInterval;
    this.#trailer = trailer;
  }

  /** The bytes of the entries so far. */
  get sizeBytes(): number {
    return this.#end;
  }

  /** A view of the last key, valid until the next one is added. */
  get lastKey(): Uint8Array {
    return this.#lastKey.subarray(0, Math.max(0, this.#lastKeyLength));
  }

  /** Adds an entry, whose value may come in two parts; all is copied. Returns how many bytes its key shares with the last one. */
  add(key: Uint8Array, value: Uint8Array, more: Uint8Array = EMPTY_BYTES): number {
    const trailer = this.#trailer;
    const valueBytes = value.length + more.length;
    this.#reserve(ENTRY_HEAD_BYTES + key.length + trailer.length + valueBytes);
    const sharedWithLast = this.#rememberKey(key);
    let shared = sharedWithLast;
    if (this.#entriesSinceRestart === this.#restartInterval) {
      this.#addRestart(this.#end);
      this.#entriesSinceRestart = 0;
    }
    if (this.#entriesSinceRestart++ === 0) shared = 0;

    this.#putVarint(shared);
    this.#putVarint(key.length - shared + trailer.length);
    this.#putVarint(valueBytes);
    const bytes = this.#bytes;
    let end = this.#end;
    for (let i = shared; i < key.length; i++) bytes[end++] = key[i]!;
    for (let i = 0; i < trailer.length; i++) bytes[end++] = trailer[i]!;
    if (value.length > SHORT_BYTES) bytes.set(value, end);
    else for (let i = 0; i < value.length; i++) bytes[end + i] = value[i]!;
    if (more.length > 0) bytes.set(more, end + value.length);
    this.#end = end + valueBytes;
    return sharedWithLast;
  }

  /**
   * Adds entries `from` (inclusive) to `to` (exclusive) of another index, whose keys ascend, to a block in which each key is
   * whole; their blocks lie `shift` bytes further on.
   */
  addEntries(index: TableIndex, { from, to, shift }: EntryRun): void {
    const { prefix, suffixes } = index, trailer = this.#trailer;
    assertInvariant(this.#restartInterval === 1, "only an index takes over whole keys");
    const more = ENTRY_HEAD_BYTES + prefix.length + trailer.length + MAX_HANDLE_BYTES;
    // What has begun with some of an index will mostly come to have all of it.
    const expected = this.#end === 0 ? index.count : to;
    this.#reserve(index.suffixEnd(expected - 1) - index.suffixStart(from) + (expected - from) * more);
    // A short command runs this once, before it is compiled: so it is one loop, which leaves to the runtime's calls what it can.
    const bytes = this.#bytes, source = asBuffer(suffixes), target = asBuffer(bytes);
    let at = this.#end;
    for (let i = from, start = index.suffixStart(from); i < to; i++) {
      const end = index.suffixEnd(i), keyBytes = prefix.length + end - start;
      if (this.#entriesSinceRestart > 0) this.#addRestart(at);
      this.#entriesSinceRestart = 1;
      bytes[at++] = 0;
      let rest = keyBytes + trailer.length;
      for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
      bytes[at++] = rest;
      const handleLengthAt = at++;
      bytes.set(prefix, at);
      source.copy(target, at + prefix.length, start, end);
      at += keyBytes;
      bytes.set(trailer, at);
      at += trailer.length;
      let offset = index.offset(i) + shift, length = index.length(i);
      for (; offset >= 0x80; offset = Math.floor(offset / 0x80)) bytes[at++] = (offset % 0x80) | 0x80;
      bytes[at++] = offset;
      for (; length >= 0x80; length >>>= 7) bytes[at++] = (length & 0x7f) | 0x80;
      bytes[at++] = length;
      bytes[handleLengthAt] = at - handleLengthAt - 1 - keyBytes - trailer.length;
      start = end;
    }
    this.#end = at;
  }

  /** Goes on behind a key that came with another table's blocks. */
  continueAfter(key: Uint8Array): void {
    this.#rememberKey(key);
  }

  /** Returns the block, as a view that is valid until the next entry, and begins a new one. */
  finish(): Uint8Array {
    const count = this.#restartCount;
    this.#addRestart(count);
    const end = this.#end + RESTART_BYTES * (count + 1);
    this.#reserve(RESTART_BYTES * (count + 1));
    this.#bytes.set(new Uint8Array(this.#restarts.buffer, 0, RESTART_BYTES * (count + 1)), this.#end);
    this.#end = 0;
    // The first is always 0.
    this.#restartCount = 1;
    this.#entriesSinceRestart = 0;
    return this.#bytes.subarray(0, end);
  }

  /** Returns how long a prefix the key shares with the last one, which it replaces. */
  #rememberKey(key: Uint8Array): number {
    const last = this.#lastKey;
    const lastLength = this.#lastKeyLength;
    const common = lastLength < key.length ? lastLength : key.length;
    let shared = 0;
    while (shared < common && key[shared] === last[shared]) shared++;
    const ascends = shared >= lastLength
      ? key.length > lastLength
      : shared < key.length && key[shared]! > last[shared]!;
    assertInvariant(ascends, "keys of a table ascend strictly");
    if (key.length > last.length) {
      this.#lastKey = new Uint8Array(key.length * 2);
      this.#lastKey.set(key);
    } else {
      for (let i = shared; i < key.length; i++) last[i] = key[i]!;
    }
    this.#lastKeyLength = key.length;
    return shared;
  }

  #addRestart(at: number): void {
    if (this.#restartCount === this.#restarts.length) {
      const grown = new Uint32Array(2 * this.#restartCount);
      grown.set(this.#restarts);
      this.#restarts = grown;
    }
    this.#restarts[this.#restartCount++] = at;
  }

  #putVarint(value: number): void {
    for (; value >= 0x80; value >>>= 7) this.#bytes[this.#end++] = (value & 0x7f) | 0x80;
    this.#bytes[this.#end++] = value;
  }

  /** Has the memory of an index used again by another one. What {@link finish} returned must have been copied. */
  release(): void {
    const { length } = this.#bytes;
    if (length > (spareBytes?.length ?? FIRST_CAPACITY) && length <= MAX_SPARE_BYTES) {
      spareBytes = this.#bytes;
    }
    this.#bytes = EMPTY_BYTES;
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const grown = this.#memoryOf(Math.max(this.#bytes.length * 2, this.#end + more));
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = grown;
  }

  /** Returns memory for so many bytes or more. */
  #memoryOf(length: number): Uint8Array {
    const spare = spareBytes;
    if (this.#restartInterval > 1 || !spare || spare.length < length) return new Uint8Array(length);
    spareBytes = undefined;
    return spare;
  }
}
