/** Writes tables. `docs/format.md` describes the file. */

import { concatBytes, EMPTY_BYTES, utf8 } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import { RECORD_TRAILER } from "./block.ts";
import { BlockBuilder } from "./block_builder.ts";
import { BlockOutput } from "./block_output.ts";
import { type BlockHandle, encodeFooter, encodeHandle, MAX_HANDLE_BYTES, putHandle } from "./footer.ts";
import { encodeProperties, PROPERTIES_BLOCK, type TableSummary, type TableType } from "./properties.ts";
import { BLOCK_TRAILER_BYTES } from "./table_file.ts";
import type { TableIndex } from "./table_index.ts";
import { MemorySink, type TableSink } from "./table_sink.ts";

export interface TableWriterOptions {
  readonly type: TableType;
  /** A data block ends when its entries have this many bytes, before compression. Default: 4 KiB. */
  readonly blockBytes?: number;
  /** Where the file goes. Without it it stays in memory. */
  readonly sink?: TableSink;
}

/** Neighbouring blocks of another table, as they are stored there. */
export interface StoredBlocks {
  readonly index: TableIndex;
  /** From this block (inclusive) to that one (exclusive). */
  readonly from: number;
  readonly to: number;
  /** From the start of the first block to the end of the last one's trailer. */
  readonly bytes: Uint8Array;
  readonly records: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
}

/** A table that was written, all of which its sink has. */
export interface FinishedTable {
  readonly sizeBytes: number;
  /** The stored checksum of its index. */
  readonly indexChecksum: number;
}

const BLOCK_BYTES = 4096;
const RESTART_INTERVAL = 16;
/** The separator of an empty table has kind 255, which stands for none. */
const NO_RECORD_TRAILER = Uint8Array.of(0xff, 0, 0, 0, 0, 0, 0, 0);

/**
 * Builds a table from records in ascending order of their keys.
 *
 * The separator of a data block in the index is the block's last key, whole. Shortened separators would make an index
 * entry depend on the block that follows; so it depends on its own block alone, and a writer that reuses unchanged blocks
 * can reuse their index entries with them.
 */
export class TableWriter {
  readonly #type: TableType;
  readonly #blockBytes: number;
  readonly #sink: TableSink;
  readonly #output: BlockOutput;
  readonly #block = new BlockBuilder({ restartInterval: RESTART_INTERVAL, trailer: RECORD_TRAILER });
  readonly #index = new BlockBuilder({ restartInterval: 1, trailer: RECORD_TRAILER });
  readonly #handle = new Uint8Array(MAX_HANDLE_BYTES);
  #dataBlocks = 0;
  #count = 0;
  #keyBytes = 0;
  #valueBytes = 0;
  #finished = false;

  constructor({ type, blockBytes = BLOCK_BYTES, sink = new MemorySink() }: TableWriterOptions) {
    this.#type = type;
    this.#sink = sink;
    this.#output = new BlockOutput(sink);
    this.#blockBytes = blockBytes;
  }

  /** How many records have been added. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a record, whose value may come in two parts; all is copied. A key that does not sort after the last one is an
   * assertion. Returns how many bytes the key shares with the last one.
   */
  add(key: Uint8Array, value: Uint8Array, more: Uint8Array = EMPTY_BYTES): number {
    assertInvariant(!this.#finished, "no record is added to a finished table");
    assertInvariant(key.length <= MAX_TABLE_KEY_BYTES, "a table's keys keep to their limit");
    const shared = this.#block.add(key, value, more);
    this.#count++;
    this.#keyBytes += key.length + RECORD_TRAILER.length;
    this.#valueBytes += value.length + more.length;
    if (this.#block.sizeBytes >= this.#blockBytes) this.endBlock();
    return shared;
  }

  /** The bytes of the block under way, before compression; 0 between blocks. */
  get blockBytes(): number {
    return this.#block.sizeBytes;
  }

  /** Ends the block under way, if there is one; returns the fingerprint of the last one: CRC-32 of it as it is stored. */
  endBlock(): number {
    if (this.#block.sizeBytes > 0) this.#endBlock(this.#index);
    return this.#output.lastFingerprint();
  }

  /** How many bytes of stored blocks still fit the memory under way. */
  get storedRoomLeft(): number {
    return this.#output.roomLeft;
  }

  /** Returns at least so much memory: stored blocks that lie at its start when they are added are not copied. */
  storedRoom(bytes: number): Uint8Array {
    return this.#output.room(bytes);
  }

  /**
   * Takes blocks of another table over as they are, checksums included: what is damaged there stays detectable here.
   * Their keys sort after all that was added; no block may be under way, and their separators have to be last keys.
   */
  addStored({ index, from, to, bytes, ...counts }: StoredBlocks): void {
    assertInvariant(!this.#finished && this.#block.sizeBytes === 0, "stored blocks come between blocks");
    const start = this.#output.appendStored(bytes);
    this.#index.addEntries(index, { from, to, shift: start - index.offset(from) });
    this.#index.continueAfter(index.separator(to - 1));
    this.#block.continueAfter(index.separator(to - 1));
    this.#dataBlocks += to - from;
    this.#count += counts.records;
    this.#keyBytes += counts.keyBytes + counts.records * RECORD_TRAILER.length;
    this.#valueBytes += counts.valueBytes;
  }

  /** Ends a table that has no sink and returns the whole file. */
  finish(summary: TableSummary): Uint8Array {
    this.end(summary);
    assertInvariant(this.#sink instanceof MemorySink, "only a table in memory can be returned");
    return concatBytes(...this.#sink.parts);
  }

  /** Ends the table: nothing can be added afterwards. `summary` becomes its user properties. */
  end(summary: TableSummary): FinishedTable {
    assertInvariant(!this.#finished, "a table is finished once");
    this.#finished = true;
    let index = this.#index;
    if (this.#count === 0) {
      // As in Pebble's files, an empty table has one data block with nothing in it.
      index = new BlockBuilder({ restartInterval: 1, trailer: NO_RECORD_TRAILER });
      this.#endBlock(index);
    } else if (this.#block.sizeBytes > 0) {
      this.#endBlock(index);
    }

    const dataBytes = this.#output.length;
    const indexBlock = index.finish();
    const indexBytes = indexBlock.length + BLOCK_TRAILER_BYTES;
    const indexHandle = this.#output.append(indexBlock, "compressed");
    index.release();
    const counts = {
      records: this.#count,
      dataBlocks: this.#dataBlocks,
      dataBytes,
      indexBytes,
      keyBytes: this.#keyBytes,
      valueBytes: this.#valueBytes,
    };
    const indexChecksum = this.#output.lastChecksum;
    const properties = this.#output.append(encodeProperties({ type: this.#type, summary, counts }), "plain");
    const metaindex = new BlockBuilder({ restartInterval: 1, trailer: EMPTY_BYTES });
    metaindex.add(utf8(PROPERTIES_BLOCK), encodeHandle(properties));
    const metaindexHandle = this.#output.append(metaindex.finish(), "plain");
    this.#output.finish(encodeFooter({ metaindex: metaindexHandle, index: indexHandle }));
    return { sizeBytes: this.#output.length, indexChecksum };
  }

  #endBlock(index: BlockBuilder): void {
    const lastKey = this.#block.lastKey;
    const handle = this.#output.append(this.#block.finish(), "compressed");
    index.add(lastKey, this.#encodeHandle(handle));
    this.#dataBlocks++;
  }

  /** Returns a view of the encoded handle, valid until the next one. */
  #encodeHandle(handle: BlockHandle): Uint8Array {
    return this.#handle.subarray(0, putHandle(this.#handle, handle));
  }
}
