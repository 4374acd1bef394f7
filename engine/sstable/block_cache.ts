/**
 * Data blocks that were read, kept decoded in memory of a fixed size.
 *
 * The memory is chunks, made when they are needed, in which blocks lie one behind the other:
 *
 * ```
 * cached block := the table's number, the block's index and a bit that it was used (uint32 each)
 *                 bytes of values, entries, bytes of keys, bytes that all keys begin with (uint32 each)
 *                 kept block (`kept_block.ts`), padding to 8 bytes
 * ```
 *
 * It is written in turn from the first chunk to the last and then from the start again. What lies in the way has its
 * second chance: a block that was used since the last round moves down to the end of what has been written, all others
 * make way. That is nearly least-recently-used; a hit costs a bit, no block is an object that the collector would have to
 * visit, and no gaps are left.
 *
 *     written in this round │ moved down │     gap     │ of the last round
 *     ──────────────────────┴────────────┘             └──▶ what makes way next
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { EMPTY_BYTES } from "../../base/bytes.ts";
import { collectGarbage } from "../../base/platform.ts";
import { Block } from "./block.ts";
import { ENTRY_HALVES, findKey, type KeptBlock, KeptBlockBuilder, wholeBlock } from "./kept_block.ts";
import type { Place } from "./malformed.ts";
import type { ValuePlace } from "./records.ts";

const HALF_BYTES = 2, WORD_BYTES = 4;
const HEADER_WORDS = 6;
const TABLE = 0, INDEX = 1, VALUE_BYTES = 2, COUNT = 3, KEY_BYTES = 4, PREFIX = 5;
const USED = 1 << 31, UNUSED = ~USED;
/** Of a chunk. Places are counted in granules, so that 32 bits reach far. */
const GRANULES_BITS = 19;
const GRANULE_BYTES = 8;
const CHUNK_BYTES = GRANULE_BYTES << GRANULES_BITS;
/** After so many hits it is looked whether garbage is to be collected, once there are so many chunks. */
const HITS_A_LOOK = 8192, FEWEST_CHUNKS = 2;
/** Where this memory is less of the heap, collecting all of it for what look-ups have thrown away costs too much. */
const MOST_OF_HEAP = 0.6;
const MAX_CHUNKS = 2 ** (32 - GRANULES_BITS) - 1;

/** A part of the memory. */
class Chunk implements KeptBlock {
  readonly bytes: Uint8Array;
  readonly halves: Uint16Array;
  readonly words: Int32Array;
  /** Where the blocks of the last round end. */
  end = 0;
  /** What was looked at last. */
  entriesStart = 0;
  count = 0;
  prefixLength = 0;
  prefixStart = 0;
  valuesStart = 0;

  constructor(sizeBytes: number) {
    // Memory that is not cleared takes no place before it is used.
    const { buffer } = Buffer.allocUnsafeSlow(sizeBytes);
    this.bytes = new Uint8Array(buffer, 0, sizeBytes);
    this.halves = new Uint16Array(buffer, 0, sizeBytes / HALF_BYTES);
    this.words = new Int32Array(buffer, 0, sizeBytes / WORD_BYTES);
  }
}

/** Which blocks of one table are in a cache, and where. */
export class CachedBlocks {
  /** A granule's number and one, or 0, a block. */
  readonly places: Uint32Array;
  /** How many there are; 0 while the cache does not know of the table. */
  count = 0;
  id = 0;

  constructor(blockCount: number) {
    this.places = new Uint32Array(blockCount);
  }

  has(index: number): boolean {
    return this.places[index] !== 0;
  }
}

/** A cache of data blocks, bounded in bytes, shared by any number of tables. */
export class BlockCache {
  readonly #chunkBytes: number;
  readonly #chunkCount: number;
  readonly #chunks: Chunk[] = [];
  readonly #tables: (CachedBlocks | undefined)[] = [];
  readonly #freeIds: number[] = [];
  readonly #builder = new KeptBlockBuilder();
  readonly #found = { valueBytes: EMPTY_BYTES, valueStart: 0, valueEnd: 0 };
  #hits = 0;
  /** Where the next block goes: a chunk, and the gap in it. */
  #current = 0;
  #gapStart = 0;
  #gapEnd = 0;

  /** The memory never takes more than `maxBytes`. */
  constructor(maxBytes: number) {
    this.#chunkCount = Math.min(Math.ceil(maxBytes / CHUNK_BYTES), MAX_CHUNKS);
    const even = this.#chunkCount > 0 ? Math.min(CHUNK_BYTES, Math.floor(maxBytes / this.#chunkCount)) : 0;
    this.#chunkBytes = even - even % GRANULE_BYTES;
  }

  /** Whether there is room for any block. */
  get keepsAny(): boolean {
    return this.#chunkBytes > 0;
  }

  /** What the memory takes. */
  get bytes(): number {
    return this.#chunks.length * this.#chunkBytes;
  }

  /**
   * Keeps a copy of a data block, whose entries are all checked by that; returns whether it has one now: of a very large block
   * it has none. Fails with `corrupt_file`.
   */
  add(blocks: CachedBlocks, index: number, block: Block): boolean {
    if (blocks.has(index)) return true;
    const { length } = block.bytes;
    // A chunk that few blocks fill would be given up too early.
    if (length > this.#chunkBytes / 4 || !this.#builder.build(block)) return false;
    const { valuesLength, count, bytesLength } = this.#builder;
    const size = cachedBytes(valuesLength, count, bytesLength);
    // The block comes whole and then draws together.
    const passing = cachedBytes(length, count, bytesLength);
    if (passing > this.#chunkBytes / 4) return false;
    this.#makeGap(passing);
    this.#write(blocks, index, block);
    this.#gapStart += size;
    return true;
  }

  /**
   * Returns where a key's value lies in a block that is there, `undefined` when it has no such key. All of the block's keys
   * have `prefix` bytes in common with it. The bytes are those of the cache: they are to be copied before anything else is
   * done with it.
   */
  find(
    blocks: CachedBlocks,
    index: number,
    { key, prefix }: { readonly key: Uint8Array; readonly prefix: number },
  ): ValuePlace | undefined {
    if (++this.#hits % HITS_A_LOOK === 0) this.#collect();
    const chunk = this.#at(blocks.places[index]!);
    const found = this.#found;
    found.valueBytes = chunk.bytes;
    return findKey(chunk, { key, shared: prefix, found }) ? found : undefined;
  }

  /** Returns a block with the entries of one that is there, in memory of its own. */
  copy(blocks: CachedBlocks, index: number, place: Place): Block {
    return new Block(wholeBlock(this.#at(blocks.places[index]!)), { keyForm: "record", place });
  }

  /** Returns the chunk of a block that is used, with its place in it. */
  #at(place: number): Chunk {
    const granule = place - 1;
    const chunk = this.#chunks[granule >>> GRANULES_BITS]!;
    const at = (granule & ((1 << GRANULES_BITS) - 1)) * (GRANULE_BYTES / WORD_BYTES);
    const { words } = chunk;
    if (words[at + INDEX]! >= 0) words[at + INDEX]! |= USED;
    chunk.count = words[at + COUNT]!;
    chunk.prefixLength = words[at + PREFIX]!;
    chunk.entriesStart = (at + HEADER_WORDS) * (WORD_BYTES / HALF_BYTES);
    chunk.prefixStart = (chunk.entriesStart + chunk.count * ENTRY_HALVES) * HALF_BYTES;
    chunk.valuesStart = chunk.prefixStart + words[at + KEY_BYTES]!;
    return chunk;
  }

  /** Makes a gap of a size. */
  #makeGap(size: number): void {
    let chunk = this.#chunk();
    while (this.#gapEnd - this.#gapStart < size) {
      if (this.#gapEnd < chunk.end) this.#giveWay(chunk);
      else if (this.#gapEnd < this.#chunkBytes) this.#gapEnd = this.#chunkBytes;
      else {
        chunk.end = this.#gapStart;
        this.#current = (this.#current + 1) % this.#chunkCount;
        this.#gapStart = this.#gapEnd = 0;
        chunk = this.#chunk();
      }
    }
  }

  #chunk(): Chunk {
    return this.#chunks[this.#current] ??= this.#newChunk();
  }

  #newChunk(): Chunk {
    this.#collect();
    return new Chunk(this.#chunkBytes);
  }

  /** The collector lets what is thrown away grow to as much as is kept, which may be this memory alone: then it is told when. */
  #collect(): void {
    if (!collectGarbage || this.#chunks.length < FEWEST_CHUNKS) return;
    if (this.bytes > MOST_OF_HEAP * process.memoryUsage().heapUsed) collectGarbage();
  }

  /** Moves the block behind the gap to before it, or drops it. */
  #giveWay(chunk: Chunk): void {
    const { words, bytes } = chunk;
    const at = this.#gapEnd / WORD_BYTES;
    const blocks = this.#tables[words[at + TABLE]!]!;
    const index = words[at + INDEX]! & UNUSED;
    const size = cachedBytes(words[at + VALUE_BYTES]!, words[at + COUNT]!, words[at + KEY_BYTES]!);
    if (words[at + INDEX]! >= 0) {
      this.#forget(blocks, index);
    } else {
      words[at + INDEX] = index;
      blocks.places[index] = this.#placeOf(this.#gapStart);
      if (this.#gapStart < this.#gapEnd) {
        bytes.copyWithin(this.#gapStart, this.#gapEnd, this.#gapEnd + size);
      }
      this.#gapStart += size;
    }
    this.#gapEnd += size;
  }

  /** Writes a block, which was just taken apart, to the start of the gap. */
  #write(blocks: CachedBlocks, index: number, block: Block): void {
    if (blocks.count++ === 0) {
      blocks.id = this.#freeIds.pop() ?? this.#tables.length;
      this.#tables[blocks.id] = blocks;
    }
    const { halves, count, bytes, bytesLength, prefixLength, valuesLength } = this.#builder;
    const chunk = this.#chunks[this.#current]!;
    const header = this.#gapStart / WORD_BYTES;
    chunk.words[header + TABLE] = blocks.id;
    chunk.words[header + INDEX] = index;
    chunk.words[header + VALUE_BYTES] = valuesLength;
    chunk.words[header + COUNT] = count;
    chunk.words[header + KEY_BYTES] = bytesLength;
    chunk.words[header + PREFIX] = prefixLength;
    let at = (header + HEADER_WORDS) * (WORD_BYTES / HALF_BYTES);
    for (let i = 0; i < count * ENTRY_HALVES; i++) chunk.halves[at++] = halves[i]!;
    at *= HALF_BYTES;
    for (let i = 0; i < bytesLength; i++) chunk.bytes[at++] = bytes[i]!;
    this.#writeValues(chunk.bytes, at, block);
    blocks.places[index] = this.#placeOf(this.#gapStart);
  }

  /** Writes the block's values one behind the other: all of the block by one call, and then each to where it belongs. */
  #writeValues(out: Uint8Array, at: number, block: Block): void {
    const { halves, count, valueStarts } = this.#builder;
    out.set(block.bytes, at);
    for (let i = 0, done = 0; i < count; i++) {
      const end = halves[i * ENTRY_HALVES + ENTRY_HALVES - 1]!, from = at + valueStarts[i]!;
      out.copyWithin(at + done, from, from + end - done);
      done = end;
    }
  }

  #forget(blocks: CachedBlocks, index: number): void {
    blocks.places[index] = 0;
    if (--blocks.count > 0) return;
    this.#tables[blocks.id] = undefined;
    this.#freeIds.push(blocks.id);
  }

  #placeOf(offset: number): number {
    return this.#current * (1 << GRANULES_BITS) + offset / GRANULE_BYTES + 1;
  }
}

/** What a block takes in the memory. */
function cachedBytes(valuesBytes: number, count: number, keyBytes: number): number {
  const bytes = HEADER_WORDS * WORD_BYTES + count * ENTRY_HALVES * HALF_BYTES + keyBytes + valuesBytes;
  return bytes + (GRANULE_BYTES - 1) & ~(GRANULE_BYTES - 1);
}
