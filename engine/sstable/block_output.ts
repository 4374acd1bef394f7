/** The file that a writer builds: stored blocks, one after the other. */

import { assertInvariant } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { STORED_PLAIN, STORED_SNAPPY } from "./compression.ts";
import { maskedCrc32c } from "./crc32c.ts";
import type { BlockHandle } from "./footer.ts";
import { maxSnappyBytes, snappyCompress } from "./snappy.ts";
import { BLOCK_TRAILER_BYTES } from "./table_file.ts";

const FIRST_CAPACITY = 64 * 1024;

export class BlockOutput {
  #bytes: Uint8Array;
  #end = 0;

  constructor(capacity = FIRST_CAPACITY) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** The bytes of all blocks so far, trailers included. */
  get length(): number {
    return this.#end;
  }

  /** Appends a block. It is compressed only where that is asked for and saves at least an eighth. */
  append(block: Uint8Array, form: "compressed" | "plain"): BlockHandle {
    assertInvariant(block.length <= MAX_BLOCK_BYTES, "a table's blocks keep to their limit");
    this.#reserve(maxSnappyBytes(block.length) + BLOCK_TRAILER_BYTES);
    const offset = this.#end;
    const room = this.#bytes.subarray(offset);
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
    room[length] = storedAs;
    const sum = maskedCrc32c(room.subarray(0, length + 1));
    new DataView(room.buffer, room.byteOffset).setUint32(length + 1, sum, true);
    this.#end += length + BLOCK_TRAILER_BYTES;
    return { offset, length };
  }

  /** Appends blocks as another file has them, trailers included; returns where they begin. */
  appendStored(bytes: Uint8Array): number {
    this.#reserve(bytes.length);
    const start = this.#end;
    this.#bytes.set(bytes, start);
    this.#end += bytes.length;
    return start;
  }

  /** Returns the file: the blocks and the footer. */
  finish(footer: Uint8Array): Uint8Array {
    this.#reserve(footer.length);
    this.#bytes.set(footer, this.#end);
    const length = this.#end + footer.length;
    // Where little room is left over, it is not worth a copy.
    return length > this.#bytes.length * 3 / 4
      ? this.#bytes.subarray(0, length)
      : this.#bytes.slice(0, length);
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#end + more));
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = grown;
  }
}
