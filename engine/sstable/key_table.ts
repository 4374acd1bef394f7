/**
 * Finds a key in a block without walking it.
 *
 * A block of a table holds of a key what it does not share with the one before, so that a look-up walks entry by entry, each
 * in another line of memory. Beside a cached block lies instead what its keys differ in, close together:
 *
 * ```
 * key table := entry*, the bytes that all keys begin with, suffix*
 * entry     := 16 bits of the hash of the suffix, 16 bits of where the suffix ends
 *              16 bits of where the value begins in the block, 16 bits of its length
 * ```
 *
 * Suffixes stand one behind the other, in the order of the entries, which is that of the keys.
 */

import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import { type Block, BlockCursor, TRAILER_BYTES } from "./block.ts";

/** Words of an entry. */
export const ENTRY_WORDS = 2;
/** Blocks that hold more, or so many bytes of keys, are too large: tables rarely have any. */
const MAX_16_BITS = 0xffff;
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** Where the key table of a block lies in larger arrays, and where the block does. */
export interface TablePlace {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  readonly wordsStart: number;
  readonly count: number;
  readonly prefixLength: number;
  /** Of the bytes that all keys begin with; the suffixes follow. */
  readonly prefixStart: number;
  readonly blockStart: number;
}

/** Makes key tables. The last one made stands in its fields. */
export class KeyTableBuilder {
  words: Int32Array = new Int32Array(64 * ENTRY_WORDS);
  /** The prefix, and behind it the suffixes. */
  bytes: Uint8Array = new Uint8Array(1024);
  count = 0;
  prefixLength = 0;
  bytesLength = 0;
  /** All keys, one behind the other, with their trailers, which take part in the sharing. */
  #keys: Uint8Array = new Uint8Array(2 * (MAX_TABLE_KEY_BYTES + TRAILER_BYTES));
  #keyEnds: Uint32Array = new Uint32Array(64);

  /**
   * Makes the table of a data block, all of whose entries are checked by that. Returns `false` when the block is too
   * large for one. Fails with `corrupt_file`.
   */
  build(block: Block): boolean {
    return block.bytes.length <= MAX_16_BITS && this.#takeKeys(block) && this.#takeSuffixes();
  }

  #takeKeys(block: Block): boolean {
    const { bytes } = block;
    const cursor = new BlockCursor(block);
    let count = 0, keysEnd = 0, keyStart = 0, prefixLength = 0;
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
      this.#reserveWords(count + 1);
      this.#keyEnds[count] = keysEnd;
      this.words[count * ENTRY_WORDS + 1] = (valueStart << 16) | (cursor.end - valueStart);
      count++;
    }
    this.count = count;
    this.prefixLength = prefixLength;
    return true;
  }

  #takeSuffixes(): boolean {
    const { words, count, prefixLength } = this;
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
      words[i * ENTRY_WORDS] = (folded(hash) << 16) | (at - prefixLength);
      keyStart = keyEnds[i]!;
    }
    this.bytesLength = at;
    return true;
  }

  #reserveKeys(end: number): void {
    if (end <= this.#keys.length) return;
    const larger = new Uint8Array(end * 2);
    larger.set(this.#keys);
    this.#keys = larger;
  }

  #reserveWords(count: number): void {
    if (count <= this.#keyEnds.length) return;
    const keyEnds = new Uint32Array(count * 2), words = new Int32Array(count * 2 * ENTRY_WORDS);
    keyEnds.set(this.#keyEnds);
    words.set(this.words);
    this.#keyEnds = keyEnds;
    this.words = words;
  }
}

/** Where a value lies: in the array of the block's place, until the next look-up. */
export interface FoundValue {
  valueStart: number;
  valueEnd: number;
}

/** Returns whether a block has a key, all of whose keys have `shared` bytes in common with it, and where its value lies. */
export function findKey(
  place: TablePlace,
  { key, shared, found }: { readonly key: Uint8Array; readonly shared: number; readonly found: FoundValue },
): boolean {
  const { bytes, words, wordsStart, count, prefixStart, prefixLength } = place;
  if (key.length < prefixLength) return false;
  for (let i = shared; i < prefixLength; i++) if (bytes[prefixStart + i] !== key[i]) return false;
  let hash = HASH_START;
  for (let i = prefixLength; i < key.length; i++) hash = Math.imul(hash ^ key[i]!, HASH_FACTOR);
  const wanted = folded(hash);
  const suffixesStart = prefixStart + prefixLength;
  const end = wordsStart + count * ENTRY_WORDS;
  for (let at = wordsStart; at < end; at += ENTRY_WORDS) {
    if (words[at]! >>> 16 !== wanted) continue;
    const suffixStart = at === wordsStart ? 0 : words[at - ENTRY_WORDS]! & MAX_16_BITS;
    const suffixLength = (words[at]! & MAX_16_BITS) - suffixStart;
    if (prefixLength + suffixLength !== key.length) continue;
    const toKey = suffixesStart + suffixStart - prefixLength;
    let i = prefixLength;
    while (i < key.length && bytes[toKey + i] === key[i]) i++;
    if (i < key.length) continue;
    const value = words[at + 1]!;
    found.valueStart = place.blockStart + (value >>> 16);
    found.valueEnd = found.valueStart + (value & MAX_16_BITS);
    return true;
  }
  return false;
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
