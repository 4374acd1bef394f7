/** Writes tables. `docs/format.md` describes the file. */

import { EMPTY_BYTES, utf8 } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import { RECORD_TRAILER } from "./block.ts";
import { BlockBuilder } from "./block_builder.ts";
import { BlockOutput } from "./block_output.ts";
import { encodeFooter, encodeHandle } from "./footer.ts";
import { encodeProperties, PROPERTIES_BLOCK, type TableSummary, type TableType } from "./properties.ts";
import { BLOCK_TRAILER_BYTES } from "./table_file.ts";

/**
 * Decides, after each record, whether its data block ends with it: from the record's key and the bytes of the block's
 * entries so far, before compression. It is asked for every record, in order, and may keep state between calls.
 */
export type BlockCutter = (key: Uint8Array, blockSizeBytes: number) => boolean;

export interface TableWriterOptions {
  readonly type: TableType;
  /** Default: blocks end at 4 KiB. */
  readonly cutBlock?: BlockCutter;
}

const BLOCK_BYTES = 4096;
const RESTART_INTERVAL = 16;
/** The separator of an empty table has kind 255, which stands for none. */
const NO_RECORD_TRAILER = Uint8Array.of(0xff, 0, 0, 0, 0, 0, 0, 0);

/**
 * Builds a table in memory from records in ascending order of their keys.
 *
 * The separator of a data block in the index is the block's last key, whole. Shortened separators would make an index
 * entry depend on the block that follows; so it depends on its own block alone, and a writer that reuses unchanged blocks
 * can reuse their index entries with them.
 */
export class TableWriter {
  readonly #type: TableType;
  readonly #cutBlock: BlockCutter;
  readonly #output = new BlockOutput();
  readonly #block = new BlockBuilder({ restartInterval: RESTART_INTERVAL, trailer: RECORD_TRAILER });
  readonly #index = new BlockBuilder({ restartInterval: 1, trailer: RECORD_TRAILER });
  #dataBlocks = 0;
  #count = 0;
  #keyBytes = 0;
  #valueBytes = 0;
  #finished = false;

  constructor({ type, cutBlock = cutAtSize }: TableWriterOptions) {
    this.#type = type;
    this.#cutBlock = cutBlock;
  }

  /** How many records have been added. */
  get count(): number {
    return this.#count;
  }

  /** Adds a record; both arrays are copied. A key that does not sort after the last one is an assertion. */
  add(key: Uint8Array, value: Uint8Array): void {
    assertInvariant(!this.#finished, "no record is added to a finished table");
    assertInvariant(key.length <= MAX_TABLE_KEY_BYTES, "a table's keys keep to their limit");
    this.#block.add(key, value);
    this.#count++;
    this.#keyBytes += key.length + RECORD_TRAILER.length;
    this.#valueBytes += value.length;
    if (this.#cutBlock(key, this.#block.sizeBytes)) this.#endBlock(this.#index);
  }

  /** Returns the whole file; nothing can be added afterwards. `summary` becomes its user properties. */
  finish(summary: TableSummary): Uint8Array {
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
    const counts = {
      records: this.#count,
      dataBlocks: this.#dataBlocks,
      dataBytes,
      indexBytes,
      keyBytes: this.#keyBytes,
      valueBytes: this.#valueBytes,
    };
    const properties = this.#output.append(encodeProperties({ type: this.#type, summary, counts }), "plain");
    const metaindex = new BlockBuilder({ restartInterval: 1, trailer: EMPTY_BYTES });
    metaindex.add(utf8(PROPERTIES_BLOCK), encodeHandle(properties));
    const metaindexHandle = this.#output.append(metaindex.finish(), "plain");
    return this.#output.finish(encodeFooter({ metaindex: metaindexHandle, index: indexHandle }));
  }

  #endBlock(index: BlockBuilder): void {
    const lastKey = this.#block.lastKey;
    const handle = this.#output.append(this.#block.finish(), "compressed");
    index.add(lastKey, encodeHandle(handle));
    this.#dataBlocks++;
  }
}

function cutAtSize(_key: Uint8Array, blockSizeBytes: number): boolean {
  return blockSizeBytes >= BLOCK_BYTES;
}
