/**
 * Reading blocks from a file: bounds, checksums and compression.
 *
 * ```
 * stored block := content, perhaps compressed
 *                 compression (1 byte: 0 none, 1 Snappy, 7 Zstandard)
 *                 masked CRC-32C (uint32 LE) of all before it, the compression byte included
 * ```
 */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { MAX_BLOCK_BYTES } from "../../base/limits.ts";
import { Block, type KeyForm } from "./block.ts";
import type { ByteSource } from "./byte_source.ts";
import { type BlockMemory, decompress } from "./compression.ts";
import { maskedCrc32c } from "./crc32c.ts";
import { type BlockHandle, decodeFooter, type Footer, FOOTER_BYTES } from "./footer.ts";
import { decodeAt } from "./malformed.ts";

/** What follows every block: its compression and checksum. */
export const BLOCK_TRAILER_BYTES = 5;

/** One read of this size finds, in most files, the footer and all that must be known to use the file. */
const TAIL_BYTES = 64 * 1024;

/** How much is read at once of what is copied. */
const PART_BYTES = 128 * 1024;

/** Memory for the next file's tail. */
let spareTail: Uint8Array | undefined;

/** Most blocks are smaller. */
const SPARE_BYTES = 16 * 1024;
let spareBytes: Uint8Array | undefined;

/** What was read, counted up. */
export interface ReadCounts {
  tablesOpened: number;
  /** Decompressed and checked. */
  blocksRead: number;
  bytesRead: number;
}

/** A block's bytes, from its first on, and how they are opened. */
export interface OpenBlockOptions {
  readonly keyForm: KeyForm;
  readonly stored: Uint8Array;
  /** For the content, which is then there until the memory is used again. */
  readonly memory?: BlockMemory | undefined;
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
    const tail = await readExactly(source, { offset, length, into: takeSpareTail(length) });
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

  /** The bytes of the file that stay in memory. */
  get memoryBytes(): number {
    return this.#tail.length;
  }

  footer(): Footer {
    const place = { file: this.name, offset: this.#source.sizeBytes - FOOTER_BYTES };
    return decodeAt(place, () => decodeFooter(this.#tail.subarray(this.#tail.length - FOOTER_BYTES)));
  }

  /** Frees the tail, which opening needed and nobody looks at any more; a file that fits it stays in memory. */
  releaseTail(): void {
    if (this.#tail.length === this.#source.sizeBytes) return;
    // Only what is all of its memory: a source may have answered with a part of something larger.
    if (this.#tail.buffer.byteLength === TAIL_BYTES) spareTail = this.#tail;
    this.#tail = EMPTY_BYTES;
  }

  /** Fails unless a block can lie there, before any memory is taken for it. */
  checkHandle({ offset, length }: BlockHandle): void {
    this.checkExtent(offset, length);
  }

  /** Where the content of the last block must end at the latest. */
  get blocksEnd(): number {
    return this.#source.sizeBytes - FOOTER_BYTES - BLOCK_TRAILER_BYTES;
  }

  /** Does what {@link checkHandle} does. */
  checkExtent(offset: number, length: number): void {
    if (length > MAX_BLOCK_BYTES) {
      corrupt(this.name, offset, `block of ${length} bytes, more than ${MAX_BLOCK_BYTES}`);
    }
    if (offset + length > this.blocksEnd) {
      corrupt(this.name, offset, `block of ${length} bytes that reaches beyond the file`);
    }
  }

  /** Reads one block, into memory of its own. */
  loadBlock(handle: BlockHandle, keyForm: KeyForm): Promise<Block> {
    return this.withBlock(handle, keyForm, { use: (block) => block });
  }

  /**
   * Reads one block and returns what is made of it at once. With `memory` the block lies there, and only until then: the memory
   * may serve reads side by side.
   */
  async withBlock<T>(
    handle: BlockHandle,
    keyForm: KeyForm,
    { use, memory }: { readonly use: (block: Block) => T; readonly memory?: BlockMemory },
  ): Promise<T> {
    // Nothing of the stored form outlives this, so its memory serves the next block; of reads side by side the others take
    // new one.
    const into = spareBytes ?? new Uint8Array(SPARE_BYTES);
    spareBytes = undefined;
    const stored = await this.readSound([handle], into);
    const result = use(this.openBlock(handle, { keyForm, stored, memory }));
    spareBytes = into;
    return result;
  }

  /**
   * Reads neighbouring blocks as they are stored, perhaps into `into`. Damage is for their reader to find, unless the source
   * kept a copy that may be at fault: then it is asked once more.
   */
  async readSound(handles: readonly BlockHandle[], into?: Uint8Array): Promise<Uint8Array> {
    const first = handles[0]!, last = handles[handles.length - 1]!;
    for (const handle of handles) this.checkHandle(handle);
    const length = last.offset + last.length + BLOCK_TRAILER_BYTES - first.offset;
    const stored = await this.read(first.offset, length, into);
    if (
      !this.mayRenew ||
      handles.every((handle) => this.#holds(handle, stored.subarray(handle.offset - first.offset)))
    ) {
      return stored;
    }
    return await this.renew() ? await this.read(first.offset, length, into) : stored;
  }

  /** Whether the source keeps a copy, so that {@link renew} may help against damage. */
  get mayRenew(): boolean {
    return this.#source.forget !== undefined;
  }

  /** Has the source drop its copy, in which damage was found; returns whether reading again may give other bytes. */
  async renew(): Promise<boolean> {
    if (!await this.#source.forget?.()) return false;
    // What is in memory of a small file came from that copy, too.
    this.#tail = this.#tail.subarray(0, 0);
    return true;
  }

  /**
   * Reads a large part of the file into memory that has room for it. A store on this machine answers small reads at once;
   * large ones go to its threads, where they would wait behind what is being written.
   */
  async readInto(into: Uint8Array, offset: number): Promise<void> {
    for (let at = 0; at < into.length; at += PART_BYTES) {
      const part = into.subarray(at, at + PART_BYTES);
      const bytes = await this.read(offset + at, part.length, part);
      if (bytes.buffer !== part.buffer) part.set(bytes);
    }
  }

  /** Reads a block as it is stored, with its trailer, unchecked, perhaps into `into`. */
  readStored(handle: BlockHandle, into?: Uint8Array): Promise<Uint8Array> {
    this.checkHandle(handle);
    return this.read(handle.offset, handle.length + BLOCK_TRAILER_BYTES, into);
  }

  /** Checks and decompresses the block at the start of `stored`. */
  openBlock(handle: BlockHandle, { keyForm, stored, memory }: OpenBlockOptions): Block {
    this.checkSum(handle, stored);
    this.countBlocks(1);
    const place = { file: this.name, offset: handle.offset };
    const form = { type: stored[handle.length]!, maxBytes: MAX_BLOCK_BYTES, memory };
    const content = decodeAt(place, () => decompress(stored.subarray(0, handle.length), form));
    return new Block(content, { keyForm, place });
  }

  /** Counts blocks that were decompressed and checked. */
  countBlocks(count: number): void {
    if (this.#counts) this.#counts.blocksRead += count;
  }

  /** Fails unless the block at the start of `stored` has the checksum behind it. */
  checkSum(handle: BlockHandle, stored: Uint8Array): void {
    if (!this.#holds(handle, stored)) corrupt(this.name, handle.offset, "block with a wrong checksum");
  }

  #holds(handle: BlockHandle, stored: Uint8Array): boolean {
    return maskedCrc32c(stored, handle.length + 1) === this.storedChecksum(handle, stored);
  }

  /** Returns the checksum behind the block at the start of `stored`. */
  storedChecksum({ length }: BlockHandle, stored: Uint8Array): number {
    const at = length + 1;
    return (stored[at]! | stored[at + 1]! << 8 | stored[at + 2]! << 16 | stored[at + 3]! << 24) >>> 0;
  }

  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const tailStart = this.#source.sizeBytes - this.#tail.length;
    if (offset >= tailStart) {
      return Promise.resolve(this.#tail.subarray(offset - tailStart, offset - tailStart + length));
    }
    if (this.#counts) this.#counts.bytesRead += length;
    return readExactly(this.#source, { offset, length, into });
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

function takeSpareTail(length: number): Uint8Array | undefined {
  if (length !== TAIL_BYTES) return undefined;
  const spare = spareTail;
  spareTail = undefined;
  return spare;
}
