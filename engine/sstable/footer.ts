/**
 * Block handles and the footer.
 *
 * ```
 * handle := varint64(offset of the block) varint64(its stored length, without the trailer)
 * footer := checksum type (1 byte: 1, CRC-32C)
 *           metaindex handle, index handle, zeros up to 41 bytes
 *           version (uint32 LE: 2)
 *           magic f7 cf f4 85 b7 41 e2 88
 * ```
 * The footer is the last 53 bytes of the file.
 */

import { equalBytes } from "../../base/bytes.ts";
import { malformed } from "./malformed.ts";
import { putVarint, varintAt } from "./varint.ts";

export const FOOTER_BYTES = 53;

const HANDLES_END = 41;
const VERSION = 2;
const CHECKSUM_CRC32C = 1;
const MAGIC = Uint8Array.of(0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88);

/** Where a block lies. Its trailer of 5 bytes follows and is not counted. */
export interface BlockHandle {
  readonly offset: number;
  readonly length: number;
}

export interface Footer {
  readonly metaindex: BlockHandle;
  readonly index: BlockHandle;
}

export const MAX_HANDLE_BYTES = 16;

export function encodeHandle(handle: BlockHandle): Uint8Array {
  const bytes = new Uint8Array(MAX_HANDLE_BYTES);
  return bytes.subarray(0, putHandle(bytes, handle));
}

/** Writes a handle to the start of `out`; returns its length. */
export function putHandle(out: Uint8Array, { offset, length }: BlockHandle): number {
  return putVarint(out, putVarint(out, 0, offset), length);
}

/** Returns the handle that fills `bytes`. */
export function decodeHandle(bytes: Uint8Array): BlockHandle {
  const { handle, end } = handleAt(bytes, 0);
  if (end !== bytes.length) malformed("block handle with bytes behind it");
  return handle;
}

export function encodeFooter({ metaindex, index }: Footer): Uint8Array {
  const bytes = new Uint8Array(FOOTER_BYTES);
  bytes[0] = CHECKSUM_CRC32C;
  bytes.set([...encodeHandle(metaindex), ...encodeHandle(index)], 1);
  new DataView(bytes.buffer).setUint32(HANDLES_END, VERSION, true);
  bytes.set(MAGIC, FOOTER_BYTES - MAGIC.length);
  return bytes;
}

/** Returns what the last {@link FOOTER_BYTES} bytes of a file say. */
export function decodeFooter(bytes: Uint8Array): Footer {
  if (!equalBytes(bytes.subarray(FOOTER_BYTES - MAGIC.length), MAGIC)) {
    malformed("no table file: wrong magic");
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(HANDLES_END, true);
  if (version !== VERSION) malformed(`table format version ${version}`);
  if (bytes[0] !== CHECKSUM_CRC32C) malformed(`checksum type ${bytes[0]}`);
  const handles = bytes.subarray(0, HANDLES_END);
  const metaindex = handleAt(handles, 1);
  const index = handleAt(handles, metaindex.end);
  return { metaindex: metaindex.handle, index: index.handle };
}

function handleAt(bytes: Uint8Array, at: number): { handle: BlockHandle; end: number } {
  const offset = varintAt(bytes, at);
  const length = varintAt(bytes, offset.end);
  return { handle: { offset: offset.value, length: length.value }, end: length.end };
}
