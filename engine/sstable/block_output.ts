/** The file that a writer builds: stored blocks, one after the other. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { crc32 } from "../../base/platform.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { STORED_PLAIN, STORED_SNAPPY, STORED_ZSTD } from "./compression.ts";
import { maskedCrc32c } from "./crc32c.ts";
import type { BlockHandle } from "./footer.ts";
import { maxSnappyBytes, snappyCompress } from "./snappy.ts";
import { BLOCK_TRAILER_BYTES } from "./table_file.ts";
import { kernelOnceItPays } from "./table_kernel.ts";
import type { TableSink } from "./table_sink.ts";
import { zstdCompress } from "./zstd.ts";

const MIN_ZSTD_BYTES = 32 * 1024;

/** Blocks are built in pieces of memory, so that a large file is never copied to make room, and need not lie in memory whole. */
export class BlockOutput {
  readonly #sink: TableSink;
  #piece: Uint8Array = EMPTY_BYTES;
  /** How much of the piece is used. */
  #to = 0;
  #length = 0;
  /** Of the last appended block. */
  lastChecksum = 0;
  #last: Uint8Array = EMPTY_BYTES;

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /** The bytes of all blocks so far, trailers included. */
  get length(): number {
    return this.#length;
  }

  /** How many bytes the piece still takes that is being filled. */
  get roomLeft(): number {
    return this.#piece.length - this.#to;
  }

  /** Appends a block. It is compressed only where that is asked for and saves at least an eighth. */
  append(block: Uint8Array, form: "compressed" | "plain"): BlockHandle {
    assertInvariant(block.length <= MAX_BLOCK_BYTES, "a table's blocks keep to their limit");
    if (form === "compressed" && block.length >= MIN_ZSTD_BYTES) return this.#appendLarge(block);
    const room = this.room(maxSnappyBytes(block.length) + BLOCK_TRAILER_BYTES);
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
    const room = this.room(length + BLOCK_TRAILER_BYTES);
    room.set(packed);
    endStored(room, length, STORED_ZSTD);
    this.#appended(room, length);
    return { offset, length };
  }

  /** Returns the fingerprint of the last appended block as it is stored. */
  lastFingerprint(): number {
    return crc32(this.#last);
  }

  /** Appends blocks as another file has them, trailers included, perhaps from {@link room}; returns where they begin. */
  appendStored(bytes: Uint8Array): number {
    const offset = this.#length;
    const room = this.room(bytes.length);
    if (bytes.buffer !== room.buffer || bytes.byteOffset !== room.byteOffset) room.set(bytes);
    this.#advance(bytes.length);
    return offset;
  }

  /** Appends the footer and hands over what is left. */
  finish(footer: Uint8Array): void {
    this.appendStored(footer);
    this.#endPiece();
  }

  /** Returns at least so much memory: what is appended next lies at its start. */
  room(bytes: number): Uint8Array {
    if (bytes > this.roomLeft) {
      this.#endPiece();
      this.#piece = this.#sink.piece(bytes);
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

  #endPiece(): void {
    if (this.#piece.length > 0) this.#sink.take(this.#piece, this.#to);
    this.#piece = EMPTY_BYTES;
    this.#to = 0;
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
