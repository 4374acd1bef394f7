/** The file that a writer builds: stored blocks, one after the other. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { crc32 } from "../../base/platform.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { STORED_PLAIN, STORED_SNAPPY, STORED_ZSTD } from "./compression.ts";
import { maskedCrc32c } from "./crc32c.ts";
import type { BlockHandle } from "./footer.ts";
import type { PiecePool } from "./piece_pool.ts";
import { maxSnappyBytes, snappyCompress } from "./snappy.ts";
import { BLOCK_TRAILER_BYTES } from "./table_file.ts";
import { kernelOnceItPays } from "./table_kernel.ts";
import { zstdCompress } from "./zstd.ts";

/** Stored blocks of fewer bytes are copied rather than kept apart. */
const MIN_PART_BYTES = 4096;
const MIN_ZSTD_BYTES = 32 * 1024;

/** Blocks are built in pieces of memory, so that a large file is never copied to make room. */
export class BlockOutput {
  readonly #pool: PiecePool;
  readonly #parts: Uint8Array[] = [];
  readonly #pieces: Uint8Array[] = [];
  #piece: Uint8Array = EMPTY_BYTES;
  /** What of the piece is not a part yet. */
  #from = 0;
  #to = 0;
  #length = 0;
  /** Of the last appended block. */
  lastChecksum = 0;
  #last: Uint8Array = EMPTY_BYTES;

  constructor(pool: PiecePool) {
    this.#pool = pool;
  }

  /** The pieces of the pool that the parts lie in. */
  get pieces(): readonly Uint8Array[] {
    return this.#pieces;
  }

  /** The bytes of all blocks so far, trailers included. */
  get length(): number {
    return this.#length;
  }

  /** Appends a block. It is compressed only where that is asked for and saves at least an eighth. */
  append(block: Uint8Array, form: "compressed" | "plain"): BlockHandle {
    assertInvariant(block.length <= MAX_BLOCK_BYTES, "a table's blocks keep to their limit");
    if (form === "compressed" && block.length >= MIN_ZSTD_BYTES) return this.#appendLarge(block);
    const room = this.#room(maxSnappyBytes(block.length) + BLOCK_TRAILER_BYTES);
    const offset = this.#length;
    const kernel = form === "compressed" ? kernelOnceItPays() : undefined;
    const length = kernel?.fitsStore(block.length)
      ? kernel.store(block, room) - BLOCK_TRAILER_BYTES
      : storeBlock(block, form, room);
    this.#appended(room, length);
    return { offset, length };
  }

  /** Large blocks are indexes, of which a short command opens one: the runtime's Zstandard is there at once. */
  #appendLarge(block: Uint8Array): BlockHandle {
    const packed = zstdCompress(block);
    const offset = this.#length, { length } = packed;
    const room = this.#room(length + BLOCK_TRAILER_BYTES);
    room.set(packed);
    endStored(room, length, STORED_ZSTD);
    this.#appended(room, length);
    return { offset, length };
  }

  /** Returns the fingerprint of the last appended block as it is stored. */
  lastFingerprint(): number {
    return crc32(this.#last);
  }

  /**
   * Appends blocks as another file has them, trailers included; returns where they begin. `bytes` may lie in a piece of the
   * pool, which is then this file's.
   */
  appendStored(bytes: Uint8Array, piece?: Uint8Array): number {
    const offset = this.#length;
    if (piece) this.#pieces.push(piece);
    if (bytes.length < MIN_PART_BYTES) {
      this.#room(bytes.length).set(bytes);
      this.#advance(bytes.length);
    } else {
      this.#endPart();
      this.#parts.push(bytes);
      this.#length += bytes.length;
    }
    return offset;
  }

  /** Returns the file, in parts: the blocks and the footer. */
  finish(footer: Uint8Array): readonly Uint8Array[] {
    this.#room(footer.length).set(footer);
    this.#advance(footer.length);
    this.#endPart();
    return this.#parts;
  }

  /** Returns at least so much memory behind what was appended. */
  #room(bytes: number): Uint8Array {
    if (this.#to + bytes > this.#piece.length) {
      this.#endPart();
      this.#piece = this.#pool.take(bytes);
      this.#pieces.push(this.#piece);
      this.#from = this.#to = 0;
    }
    return this.#piece.subarray(this.#to);
  }

  #appended(room: Uint8Array, length: number): void {
    this.#last = room.subarray(0, length + BLOCK_TRAILER_BYTES);
    this.lastChecksum = uint32(room, length + 1);
    this.#advance(length + BLOCK_TRAILER_BYTES);
  }

  #advance(bytes: number): void {
    this.#to += bytes;
    this.#length += bytes;
  }

  #endPart(): void {
    if (this.#to > this.#from) this.#parts.push(this.#piece.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}

/** Writes a block as it is stored, with its type and checksum, into `room`; returns how many bytes its content takes. */
function storeBlock(block: Uint8Array, form: "compressed" | "plain", room: Uint8Array): number {
  let length = block.length;
  let storedAs = STORED_PLAIN;
  if (form === "compressed") {
    const compressed = snappyCompress(block, room);
    if (compressed < length - Math.floor(length / 8)) {
      length = compressed;
      storedAs = STORED_SNAPPY;
    }
  }
  if (storedAs === STORED_PLAIN) room.set(block);
  endStored(room, length, storedAs);
  return length;
}

/** Writes what stands behind every block: its compression and checksum. */
function endStored(room: Uint8Array, length: number, storedAs: number): void {
  room[length] = storedAs;
  const sum = maskedCrc32c(room, length + 1);
  for (let i = 0; i < 4; i++) room[length + 1 + i] = sum >>> (8 * i);
}

function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0;
}
