/** The compression of blocks: a type byte behind each block says how its bytes are stored. */

import process from "node:process";
import { malformed } from "./malformed.ts";
import { snappyDecompress } from "./snappy.ts";
import { varintAt } from "./varint.ts";

export const STORED_PLAIN = 0;
export const STORED_SNAPPY = 1;
/** Read, never written. A varint32 with the decompressed length stands before the frame. */
export const STORED_ZSTD = 7;

/** Memory that one block after the other is put into; it grows as they need it. */
export interface BlockMemory {
  bytes: Uint8Array;
}

/** How a block of at most `maxBytes` was stored. */
export interface StoredForm {
  readonly type: number;
  readonly maxBytes: number;
  /** Where the content may be put, in place of what was there. */
  readonly memory?: BlockMemory | undefined;
}

/** Returns a block's content in memory of its own, or in the memory given; it does not hold on to `stored`. */
export function decompress(stored: Uint8Array, { type, maxBytes, memory }: StoredForm): Uint8Array {
  switch (type) {
    case STORED_PLAIN:
      return new Uint8Array(stored);
    case STORED_SNAPPY:
      return snappyDecompress(stored, maxBytes, memory);
    case STORED_ZSTD:
      return zstdDecompress(stored, maxBytes);
    default:
      return malformed(`block compression ${type}`);
  }
}

function zstdDecompress(stored: Uint8Array, maxBytes: number): Uint8Array {
  const { value: length, end: frameStart } = varintAt(stored, 0);
  if (length > maxBytes) malformed(`Zstandard data of ${length} bytes, more than ${maxBytes}`);
  const content = inflate(stored.subarray(frameStart), length);
  if (content.length !== length) malformed("Zstandard data of another length than it claims");
  return content;
}

function inflate(frame: Uint8Array, length: number): Uint8Array {
  // Loaded when it is needed: only tables that others made are compressed so, and it would cost every command its time.
  const { zstdDecompressSync } = process.getBuiltinModule("node:zlib");
  try {
    // The bound stops a frame that holds more than it claims; zlib takes none below 1.
    const content = zstdDecompressSync(frame, { maxOutputLength: Math.max(1, length) });
    return new Uint8Array(content.buffer, content.byteOffset, content.length);
  } catch {
    return malformed("Zstandard data that does not decompress");
  }
}
