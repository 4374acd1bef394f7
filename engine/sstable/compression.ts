/** The compression of blocks: a type byte behind each block says how its bytes are stored. */

import { malformed } from "./malformed.ts";
import { snappyDecompress } from "./snappy.ts";
import { zstdDecompress } from "./zstd.ts";

export const STORED_PLAIN = 0;
export const STORED_SNAPPY = 1;
/** Written for large indexes alone. */
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
