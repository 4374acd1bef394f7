/**
 * Finds a key in a block without walking it.
 *
 * A block of a table holds of a key what it does not share with the one before, so that a look-up walks entry by entry, each
 * in another line of memory. What is kept of a block has apart instead what its keys differ in, close together:
 *
 * ```
 * kept block := entry*, the bytes that all keys begin with, suffix*, value*
 * entry      := 16 bits each: the hash of the suffix, where the suffix ends, where the value ends
 * ```
 *
 * Suffixes and values stand one behind the other, in the order of the entries, which is that of the keys. Trailers, lengths and
 * restart points are not kept: they are a tenth of a block of small records.
 */

import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import { type Block, BlockCursor, RECORD_TRAILER, TRAILER_BYTES } from "./block.ts";
import { putVarint } from "./varint.ts";

/** Of 16 bits, in an entry. */
export const ENTRY_HALVES = 3;
const HASH = 0, SUFFIX_END = 1, VALUE_END = 2;
/** Blocks that hold more, or so many bytes of keys, are too large: tables rarely have any. */
const MAX_16_BITS = 0xffff;
/** Of an entry that shares nothing: a zero and two lengths of 16 bits. */
const MOST_LENGTHS_BYTES = 7;
const ONE_RESTART = Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0);
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** Where a kept block lies in larger arrays. */
export interface KeptBlock {
  readonly bytes: Uint8Array;
  readonly halves: Uint16Array;
  /** Of the entries, in `halves`. */
  readonly entriesStart: number;
  readonly count: number;
  readonly prefixLength: number;
  /** Of the bytes that all keys begin with, in `bytes`; the suffixes follow. */
  readonly prefixStart: number;
  readonly valuesStart: number;
}

/** Takes blocks apart. What the last one comes to stands in its fields. */
export class KeptBlockBuilder {
  halves: Uint16Array = new Uint16Array(64 * ENTRY_HALVES);
  /** The prefix, and behind it the suffixes. */
  bytes: Uint8Array = new Uint8Array(1024);
  count = 0;
  prefixLength = 0;
  bytesLength = 0;
  valuesLength = 0;
  /** Where each value begins in the block. */
  valueStarts: Uint32Array = new Uint32Array(64);
  /** All keys, one behind the other, with their trailers, which take part in the sharing. */
  #keys: Uint8Array = new Uint8Array(2 * (MAX_TABLE_KEY_BYTES + TRAILER_BYTES));
  #keyEnds: Uint32Array = new Uint32Array(64);

  /**
   * Takes a data block apart, all of whose entries are checked by that. Returns `false` when the block is too large for it.
   * Fails with `corrupt_file`.
   */
  build(block: Block): boolean {
    if (block.bytes.length > MAX_16_BITS || !this.#takeEntries(block)) return false;
    this.#takeSuffixes();
    return true;
  }

  #takeEntries(block: Block): boolean {
    const { bytes } = block;
    const cursor = new BlockCursor(block);
    let count = 0, keysEnd = 0, keyStart = 0, prefixLength = 0, valuesLength = 0;
    while (cursor.next()) {
      cursor.checkIsRecord();
      const { shared, restStart, keyLength, valueStart } = cursor;
      this.#reserveKeys(keysEnd + keyLength);
      const keys = this.#keys;
      for (let i = 0; i < shared; i++) keys[keysEnd + i] = keys[keyStart + i]!;
      for (let i = shared, from = restStart; i < keyLength; i++) keys[keysEnd + i] = bytes[from++]!;
      keyStart = keysEnd;
      const userLength = keyLength - TRAILER_BYTES;
      if (count === 0) prefixLength = userLength;
      else prefixLength = commonLength(keys, keyStart, Math.min(prefixLength, userLength));
      keysEnd += keyLength;
      if (keysEnd > MAX_16_BITS) return false;
      this.#reserveEntries(count + 1);
      this.#keyEnds[count] = keysEnd;
      this.valueStarts[count] = valueStart;
      valuesLength += cursor.end - valueStart;
      this.halves[count * ENTRY_HALVES + VALUE_END] = valuesLength;
      count++;
    }
    this.count = count;
    this.prefixLength = prefixLength;
    this.valuesLength = valuesLength;
    return true;
  }

  #takeSuffixes(): void {
    const { halves, count, prefixLength } = this;
    const keys = this.#keys, keyEnds = this.#keyEnds;
    if (this.bytes.length < keys.length) this.bytes = new Uint8Array(keys.length);
    const out = this.bytes;
    let at = 0;
    for (; at < prefixLength; at++) out[at] = keys[at]!;
    for (let i = 0, keyStart = 0; i < count; i++) {
      const end = keyEnds[i]! - TRAILER_BYTES;
      let hash = HASH_START;
      for (let from = keyStart + prefixLength; from < end; from++) {
        const byte = keys[from]!;
        out[at++] = byte;
        hash = Math.imul(hash ^ byte, HASH_FACTOR);
      }
      halves[i * ENTRY_HALVES + HASH] = folded(hash);
      halves[i * ENTRY_HALVES + SUFFIX_END] = at - prefixLength;
      keyStart = keyEnds[i]!;
    }
    this.bytesLength = at;
  }

  #reserveKeys(end: number): void {
    if (end <= this.#keys.length) return;
    const larger = new Uint8Array(end * 2);
    larger.set(this.#keys);
    this.#keys = larger;
  }

  #reserveEntries(count: number): void {
    if (count <= this.#keyEnds.length) return;
    const keyEnds = new Uint32Array(count * 2), valueStarts = new Uint32Array(count * 2);
    const halves = new Uint16Array(count * 2 * ENTRY_HALVES);
    keyEnds.set(this.#keyEnds);
    valueStarts.set(this.valueStarts);
    halves.set(this.halves);
    this.#keyEnds = keyEnds;
    this.valueStarts = valueStarts;
    this.halves = halves;
  }
}

/** Where a value lies: in the array of the block's place, until the next look-up. */
export interface FoundValue {
  valueStart: number;
  valueEnd: number;
}

/** Returns whether a block has a key, all of whose keys have `shared` bytes in common with it, and where its value lies. */
export function findKey(
  kept: KeptBlock,
  { key, shared, found }: { readonly key: Uint8Array; readonly shared: number; readonly found: FoundValue },
): boolean {
  const { bytes, halves, entriesStart, count, prefixStart, prefixLength } = kept;
  if (key.length < prefixLength) return false;
  for (let i = shared; i < prefixLength; i++) if (bytes[prefixStart + i] !== key[i]) return false;
  let hash = HASH_START;
  for (let i = prefixLength; i < key.length; i++) hash = Math.imul(hash ^ key[i]!, HASH_FACTOR);
  const wanted = folded(hash);
  const suffixesStart = prefixStart + prefixLength;
  const end = entriesStart + count * ENTRY_HALVES;
  for (let at = entriesStart; at < end; at += ENTRY_HALVES) {
    if (halves[at + HASH] !== wanted) continue;
    const last = at - ENTRY_HALVES;
    const suffixStart = at === entriesStart ? 0 : halves[last + SUFFIX_END]!;
    if (prefixLength + halves[at + SUFFIX_END]! - suffixStart !== key.length) continue;
    const toKey = suffixesStart + suffixStart - prefixLength;
    let i = prefixLength;
    while (i < key.length && bytes[toKey + i] === key[i]) i++;
    if (i < key.length) continue;
    found.valueStart = kept.valuesStart + (at === entriesStart ? 0 : halves[last + VALUE_END]!);
    found.valueEnd = kept.valuesStart + halves[at + VALUE_END]!;
    return true;
  }
  return false;
}

/** Returns a block with the entries of a kept one: its only restart point is its first entry, and no key shares anything. */
export function wholeBlock(kept: KeptBlock): Uint8Array {
  const { bytes, halves, entriesStart, count, prefixStart, prefixLength, valuesStart } = kept;
  const suffixesStart = prefixStart + prefixLength;
  const end = entriesStart + count * ENTRY_HALVES;
  const keysLength = count === 0 ? 0 : halves[end - ENTRY_HALVES + SUFFIX_END]! + count * prefixLength;
  const valuesLength = count === 0 ? 0 : halves[end - ENTRY_HALVES + VALUE_END]!;
  const out = new Uint8Array(
    keysLength + valuesLength + count * (TRAILER_BYTES + MOST_LENGTHS_BYTES) + ONE_RESTART.length,
  );
  let to = 0, suffixStart = 0, valueStart = 0;
  for (let at = entriesStart; at < end; at += ENTRY_HALVES) {
    const suffixEnd = halves[at + SUFFIX_END]!, valueEnd = halves[at + VALUE_END]!;
    out[to++] = 0;
    to = putVarint(out, to, prefixLength + suffixEnd - suffixStart + TRAILER_BYTES);
    to = putVarint(out, to, valueEnd - valueStart);
    for (let i = 0; i < prefixLength; i++) out[to++] = bytes[prefixStart + i]!;
    for (let i = suffixStart; i < suffixEnd; i++) out[to++] = bytes[suffixesStart + i]!;
    for (let i = 0; i < TRAILER_BYTES; i++) out[to++] = RECORD_TRAILER[i]!;
    for (let i = valueStart; i < valueEnd; i++) out[to++] = bytes[valuesStart + i]!;
    suffixStart = suffixEnd;
    valueStart = valueEnd;
  }
  out.set(ONE_RESTART, to);
  return out.subarray(0, to + ONE_RESTART.length);
}

/** Returns how many bytes the key at `start` has in common with the first key, at most `limit`. */
function commonLength(keys: Uint8Array, start: number, limit: number): number {
  let i = 0;
  while (i < limit && keys[i] === keys[start + i]) i++;
  return i;
}

function folded(hash: number): number {
  return (hash ^ (hash >>> 16)) & 0xffff;
}
