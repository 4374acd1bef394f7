/** Writes blocks; `block.ts` tells how they look. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { RESTART_BYTES } from "./block.ts";
import type { TableIndex } from "./table_index.ts";

const FIRST_CAPACITY = 8 * 1024;
/** Room for three varint32 in front of a key. */
const ENTRY_HEAD_BYTES = 15;

export interface BlockBuilderOptions {
  /** How many entries share prefixes before a whole key is written again. */
  readonly restartInterval: number;
  /** Stands behind every key. */
  readonly trailer: Uint8Array;
}

/**
 * Builds one block after the other, in memory that it uses again. Keys ascend strictly, across blocks too; anything else
 * is an assertion.
 */
export class BlockBuilder {
  readonly #restartInterval: number;
  readonly #trailer: Uint8Array;
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #end = 0;
  #restarts: number[] = [0];
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
      this.#restarts.push(this.#end);
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
    bytes.set(value, end);
    if (more.length > 0) bytes.set(more, end + value.length);
    this.#end = end + valueBytes;
    return sharedWithLast;
  }

  /** Adds an entry of another index, whose keys ascend, to a block in which each key is whole. */
  addWhole(index: TableIndex, i: number, value: Uint8Array): void {
    const { separators } = index, start = index.separatorStart(i), end = index.separatorEnd(i);
    const trailer = this.#trailer;
    assertInvariant(this.#restartInterval === 1, "only an index takes over whole keys");
    this.#reserve(ENTRY_HEAD_BYTES + end - start + trailer.length + value.length);
    if (this.#entriesSinceRestart++ > 0) this.#restarts.push(this.#end);
    this.#entriesSinceRestart = 1;
    this.#putVarint(0);
    this.#putVarint(end - start + trailer.length);
    this.#putVarint(value.length);
    const bytes = this.#bytes;
    let at = this.#end;
    for (let from = start; from < end; from++) bytes[at++] = separators[from]!;
    for (let from = 0; from < trailer.length; from++) bytes[at++] = trailer[from]!;
    for (let from = 0; from < value.length; from++) bytes[at++] = value[from]!;
    this.#end = at;
  }

  /** Goes on behind a key that came with another table's blocks. */
  continueAfter(key: Uint8Array): void {
    this.#rememberKey(key);
  }

  /** Returns the block, as a view that is valid until the next entry, and begins a new one. */
  finish(): Uint8Array {
    const restarts = this.#restarts;
    this.#reserve(RESTART_BYTES * (restarts.length + 1));
    const view = new DataView(this.#bytes.buffer);
    let end = this.#end;
    for (const restart of restarts) {
      view.setUint32(end, restart, true);
      end += RESTART_BYTES;
    }
    view.setUint32(end, restarts.length, true);
    this.#end = 0;
    this.#restarts = [0];
    this.#entriesSinceRestart = 0;
    return this.#bytes.subarray(0, end + RESTART_BYTES);
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

  #putVarint(value: number): void {
    for (; value >= 0x80; value >>>= 7) this.#bytes[this.#end++] = (value & 0x7f) | 0x80;
    this.#bytes[this.#end++] = value;
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#end + more));
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = grown;
  }
}
