/**
 * Zstandard, by the runtime: `varint32(length of the content) frame`.
 *
 * ```
 * frame := magic (4 bytes) descriptor (1 byte) [window (1 byte)] [dictionary ID (0, 1, 2 or 4 bytes)] [content size] blocks
 * descriptor: bits 6-7 the form of the content size, bit 5 no window (then the size is there), bits 0-1 of the dictionary ID
 * content size: form 0 one byte if there is no window, else none; 1 two bytes, less 256; 2 four bytes; 3 eight bytes
 * ```
 */

import { zstdCompressed, zstdInflated } from "../../base/platform.ts";
import { malformed } from "./malformed.ts";
import { putVarint, varintAt } from "./varint.ts";

const MAX_VARINT_BYTES = 5;
const NO_WINDOW = 0x20;
const DICTIONARY_BYTES = [0, 1, 2, 4];

/** Returns content as it is stored. Its bytes depend on the version of the library. */
export function zstdCompress(content: Uint8Array): Uint8Array {
  const frame = zstdCompressed(content);
  const stored = new Uint8Array(MAX_VARINT_BYTES + frame.length);
  const frameStart = putVarint(stored, 0, content.length);
  stored.set(frame, frameStart);
  return stored.subarray(0, frameStart + frame.length);
}

/** Returns the content, in memory of its own. Nothing is allocated for a length that is more than `maxBytes`. */
export function zstdDecompress(stored: Uint8Array, maxBytes: number): Uint8Array {
  const { value: length, end: frameStart } = varintAt(stored, 0);
  if (length > maxBytes) malformed(`Zstandard data of ${length} bytes, more than ${maxBytes}`);
  const frame = stored.subarray(frameStart);
  const content = inflate(frame, length);
  if (content.length !== length) malformed("Zstandard data of another length than it claims");
  return content;
}

function inflate(frame: Uint8Array, length: number): Uint8Array {
  try {
    return zstdInflated(frame, { length, isCertain: contentSize(frame) === length });
  } catch {
    return malformed("Zstandard data that does not decompress");
  }
}

/** Returns what a frame says of its content's length, if anything: no more than that comes out of it. */
function contentSize(frame: Uint8Array): number | undefined {
  const descriptor = frame[4] ?? 0;
  const form = descriptor >>> 6, hasWindow = (descriptor & NO_WINDOW) === 0;
  if (form === 3 || (form === 0 && hasWindow)) return undefined;
  const at = 5 + (hasWindow ? 1 : 0) + DICTIONARY_BYTES[descriptor & 3]!;
  const byte = (i: number) => frame[at + i] ?? 0;
  if (form === 0) return byte(0);
  if (form === 1) return byte(0) + byte(1) * 0x100 + 256;
  return byte(0) + byte(1) * 0x100 + byte(2) * 0x10000 + byte(3) * 0x1000000;
}
