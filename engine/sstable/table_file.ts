/**
 * Reading blocks from a file: bounds, checksums and compression.
 *
 * ```
 * stored block := content, perhaps compressed
 *                 compression (1 byte: 0 none, 1 Snappy, 7 Zstandard)
 *                 masked CRC-32C (uint32 LE) of all before it, the compression byte included
 * ```
 */

import { corrupt } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { Block, type KeyForm } from "./block.ts";
import type { ByteSource } from "./byte_source.ts";
import { decompress } from "./compression.ts";
import { maskedCrc32c } from "./crc32c.ts";
import { type BlockHandle, decodeFooter, type Footer, FOOTER_BYTES } from "./footer.ts";
import { decodeAt } from "./malformed.ts";

/** What follows every block: its compression and checksum. */
export const BLOCK_TRAILER_BYTES = 5;

/** One read of this size finds, in most files, the footer and all that must be known to use the file. */
const TAIL_BYTES = 64 * 1024;

/** What was read, counted up. */
export interface ReadCounts {
  tablesOpened: number;
  /** Decompressed and checked. */
  blocksRead: number;
  bytesRead: number;
}

/** A file of blocks. Whatever it finds wrong is `corrupt`. */
export class TableFile {
  readonly #source: ByteSource;
  /** The end of the file while it is being opened; all of it, for good, when it is small. */
  #tail: Uint8Array;
  readonly #counts: ReadCounts | undefined;

  private constructor(source: ByteSource, { tail, counts }: { tail: Uint8Array; counts?: ReadCounts }) {
    this.#source = source;
    this.#tail = tail;
    this.#counts = counts;
  }

  static async open(source: ByteSource, counts?: ReadCounts): Promise<TableFile> {
    if (source.sizeBytes < FOOTER_BYTES) corrupt(source.name, 0, `only ${source.sizeBytes} bytes, no footer`);
    const length = Math.min(source.sizeBytes, TAIL_BYTES);
    const offset = source.sizeBytes - length;
    const tail = await readExactly(source, { offset, length });
    if (!counts) return new TableFile(source, { tail });
    counts.tablesOpened++;
    counts.bytesRead += length;
    return new TableFile(source, { tail, counts });
  }

  get name(): string {
    return this.#source.name;
  }

  get sizeBytes(): number {
    return this.#source.sizeBytes;
  }

  footer(): Footer {
    const place = { file: this.name, offset: this.#source.sizeBytes - FOOTER_BYTES };
    return decodeAt(place, () => decodeFooter(this.#tail.subarray(this.#tail.length - FOOTER_BYTES)));
  }

  /** Frees the tail, which opening needed; a file that fits it stays in memory. */
  releaseTail(): void {
    if (this.#tail.length < this.#source.sizeBytes) this.#tail = this.#tail.slice(0, 0);
  }

  /** Fails unless a block can lie there, before any memory is taken for it. */
  checkHandle({ offset, length }: BlockHandle): void {
    const end = this.#source.sizeBytes - FOOTER_BYTES - BLOCK_TRAILER_BYTES;
    if (length > MAX_BLOCK_BYTES) {
      corrupt(this.name, offset, `block of ${length} bytes, more than ${MAX_BLOCK_BYTES}`);
    }
    if (offset + length > end) {
      corrupt(this.name, offset, `block of ${length} bytes that reaches beyond the file`);
    }
  }

  /** Reads one block. */
  async loadBlock(handle: BlockHandle, keyForm: KeyForm): Promise<Block> {
    return this.openBlock(handle, { keyForm, stored: await this.readStored(handle) });
  }

  /** Reads a block as it is stored, with its trailer, unchecked. */
  readStored(handle: BlockHandle): Promise<Uint8Array> {
    this.checkHandle(handle);
    return this.read(handle.offset, handle.length + BLOCK_TRAILER_BYTES);
  }

  /** Checks and decompresses the block at the start of `stored`. */
  openBlock(handle: BlockHandle, { keyForm, stored }: { keyForm: KeyForm; stored: Uint8Array }): Block {
    this.checkSum(handle, stored);
    if (this.#counts) this.#counts.blocksRead++;
    const place = { file: this.name, offset: handle.offset };
    const form = { type: stored[handle.length]!, maxBytes: MAX_BLOCK_BYTES };
    const content = decodeAt(place, () => decompress(stored.subarray(0, handle.length), form));
    return new Block(content, { keyForm, place });
  }

  /** Fails unless the block at the start of `stored` has the checksum behind it. */
  checkSum(handle: BlockHandle, stored: Uint8Array): void {
    if (maskedCrc32c(stored.subarray(0, handle.length + 1)) !== this.storedChecksum(handle, stored)) {
      corrupt(this.name, handle.offset, "block with a wrong checksum");
    }
  }

  /** Returns the checksum behind the block at the start of `stored`. */
  storedChecksum({ length }: BlockHandle, stored: Uint8Array): number {
    return new DataView(stored.buffer, stored.byteOffset, stored.length).getUint32(length + 1, true);
  }

  async read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const tailStart = this.#source.sizeBytes - this.#tail.length;
    if (offset >= tailStart) return this.#tail.subarray(offset - tailStart, offset - tailStart + length);
    if (this.#counts) this.#counts.bytesRead += length;
    return await readExactly(this.#source, { offset, length, into });
  }
}

async function readExactly(
  source: ByteSource,
  { offset, length, into }: BlockHandle & { into?: Uint8Array | undefined },
): Promise<Uint8Array> {
  const bytes = await source.read(offset, length, into);
  if (bytes.length !== length) corrupt(source.name, offset + bytes.length, "file shorter than it was");
  return bytes;
}
