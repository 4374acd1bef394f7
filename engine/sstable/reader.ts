/** Reads tables. `docs/format.md` describes the file. */

import { compareBytes } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { type Block, BlockCursor } from "./block.ts";
import type { ByteSource } from "./byte_source.ts";
import { type BlockHandle, decodeHandle } from "./footer.ts";
import { decodeAt } from "./malformed.ts";
import {
  decodeNames,
  decodeProperties,
  PROPERTIES_BLOCK,
  type TableProperties,
  type UserProperties,
} from "./properties.ts";
import { RecordDecoder, type TableRecord } from "./records.ts";
import { BLOCK_TRAILER_BYTES, TableFile } from "./table_file.ts";

/** A scan's first read, and what its reads grow to. Short scans read little, long ones read seldom. */
const FIRST_READ_BYTES = 64 * 1024;
const MAX_READ_BYTES = 1024 * 1024;
/** A step of a scan is a block, unless that has more records than these. */
const MAX_STEP_RECORDS = 4096;
const INDEX_STEP_ENTRIES = 256;
/** Metaindex names of blocks that delete ranges of keys begin so. */
const RANGE_DELETIONS = "rocksdb.range_del";

interface IndexEntry {
  /** At least the block's last key, and less than the first key of the next block. */
  readonly separator: Uint8Array;
  readonly handle: BlockHandle;
}

/** Data blocks that were read at once. */
interface BlockRun {
  readonly entries: readonly IndexEntry[];
  /** Of the first block; `bytes` begin there. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

interface TableParts {
  readonly file: TableFile;
  readonly properties: TableProperties;
  readonly index: Block;
  /** The blocks beside data and index: properties, filters. */
  readonly metaHandles: readonly BlockHandle[];
}

/**
 * An open table. Its index stays in memory, decompressed, and so does the whole of a file of at most 64 KiB.
 *
 * Calls may run side by side. They fail with `corrupt_file` (kind `corrupt`) on damage in what they read, and else only
 * as the source does. A get trusts that keys are in order; a scan checks it.
 */
export class TableReader {
  readonly properties: ReadonlyMap<string, Uint8Array>;
  readonly userProperties: UserProperties;
  readonly #table: TableParts;

  private constructor(table: TableParts) {
    this.properties = table.properties.raw;
    this.userProperties = table.properties.user;
    this.#table = table;
  }

  /** Opens a table with one read of its end, and one more when its index does not fit that. */
  static async open(source: ByteSource): Promise<TableReader> {
    const file = await TableFile.open(source);
    const footer = file.footer();
    const metaindex = await file.loadBlock(footer.metaindex, "plain");
    const handles = new Map<string, BlockHandle>();
    for (const [name, value] of decodeNames(metaindex)) {
      if (name.startsWith(RANGE_DELETIONS)) metaindex.fail("range deletions, which no table here has,");
      handles.set(name, decodeAt(metaindex.place, () => decodeHandle(value)));
    }
    const propertiesHandle = handles.get(PROPERTIES_BLOCK);
    const properties = decodeProperties(propertiesHandle && await file.loadBlock(propertiesHandle, "plain"));
    const index = await file.loadBlock(footer.index, "separator");
    file.releaseTail();
    return new TableReader({ file, properties, index, metaHandles: [...handles.values()] });
  }

  /** Returns the value of a key: a view of its block's memory. */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const block = await this.#blockFor(key);
    if (!block) return undefined;
    const cursor = new BlockCursor(block);
    if (cursor.seek(key) !== 0) return undefined;
    cursor.checkIsRecord();
    return cursor.value();
  }

  /** Returns the first record whose key is `key` or sorts after it. */
  async seek(key: Uint8Array): Promise<TableRecord | undefined> {
    const block = await this.#blockFor(key);
    if (!block) return undefined;
    const [record] = new RecordDecoder(block, key).next(1);
    if (record) return record;
    // A separator may lie above its block's last key: then the record is the first of a later block.
    for await (const records of this.blocks(key)) return records[0];
    return undefined;
  }

  /**
   * Yields the records from the first key that is `start` or sorts after it, in order: a data block a step, or a part of
   * one that holds very many. Reads ahead, up to 1 MiB at once. A value is a view of its block's memory, so who keeps a
   * few of many copies them.
   */
  async *blocks(start?: Uint8Array): AsyncGenerator<readonly TableRecord[], void, undefined> {
    let lastSeparator: Uint8Array | undefined;
    for await (const run of this.#runs(start)) {
      for (const { separator, handle } of run.entries) {
        const stored = run.bytes.subarray(handle.offset - run.offset);
        const block = this.#table.file.openBlock(handle, { keyForm: "record", stored });
        const decoder = new RecordDecoder(block, lastSeparator ? undefined : start);
        for (
          let step = decoder.next(MAX_STEP_RECORDS);
          step.length > 0;
          step = decoder.next(MAX_STEP_RECORDS)
        ) {
          if (lastSeparator && compareBytes(step[0]!.key, lastSeparator) <= 0) {
            block.fail("keys that belong to an earlier block");
          }
          if (compareBytes(step[step.length - 1]!.key, separator) > 0) {
            block.fail("keys that belong to a later block");
          }
          yield step;
        }
        lastSeparator = separator;
      }
    }
  }

  /** Reads the whole file; fails unless all checksums, the order of keys and the number of records are right. */
  async verify(): Promise<void> {
    const { file, properties, metaHandles } = this.#table;
    let metaBytes = 0;
    for (const handle of metaHandles) {
      file.checkSum(handle, await file.readStored(handle));
      metaBytes += handle.length;
      if (metaBytes > file.sizeBytes) corrupt(file.name, handle.offset, "blocks that overlap");
    }
    let count = 0;
    for await (const records of this.blocks()) count += records.length;
    const { recordCount = count } = properties;
    if (count !== recordCount) {
      corrupt(file.name, 0, `${count} records where the properties say ${recordCount}`);
    }
  }

  /** Loads the only data block that may hold `key`, or else the key that follows it. */
  async #blockFor(key: Uint8Array): Promise<Block | undefined> {
    const { file, index, properties } = this.#table;
    let handle = handleFor(index, key);
    if (handle && properties.partitionedIndex) {
      handle = handleFor(await file.loadBlock(handle, "separator"), key);
    }
    return handle && file.loadBlock(handle, "record");
  }

  /** Reads the data blocks from the one that may hold `start`, several at once. */
  async *#runs(start: Uint8Array | undefined): AsyncGenerator<BlockRun, void, undefined> {
    let readBytes = FIRST_READ_BYTES;
    let entries: IndexEntry[] = [];
    let end = 0;
    for await (const index of this.#indexes(start)) {
      for (const entry of indexEntries(index, start)) {
        end = this.#endBehind(end, entry.handle);
        const [first] = entries;
        if (first && end - first.handle.offset > readBytes) {
          yield await this.#readRun(entries);
          entries = [];
          readBytes = Math.min(readBytes * 2, MAX_READ_BYTES);
        }
        entries.push(entry);
      }
    }
    if (entries.length > 0) yield await this.#readRun(entries);
  }

  /** Yields the index blocks that point at data blocks. */
  async *#indexes(start: Uint8Array | undefined): AsyncGenerator<Block, void, undefined> {
    const { file, index, properties } = this.#table;
    if (!properties.partitionedIndex) return yield index;
    let end = 0;
    for (const { handle } of indexEntries(index, start)) {
      end = this.#endBehind(end, handle);
      yield await file.loadBlock(handle, "separator");
    }
  }

  /**
   * Returns where a block ends, with its trailer. It has to lie behind the one before it, as every writer puts them:
   * otherwise a small index could have one block read without end.
   */
  #endBehind(end: number, handle: BlockHandle): number {
    const { file } = this.#table;
    file.checkHandle(handle);
    if (handle.offset < end) corrupt(file.name, handle.offset, "blocks out of order");
    return handle.offset + handle.length + BLOCK_TRAILER_BYTES;
  }

  async #readRun(entries: readonly IndexEntry[]): Promise<BlockRun> {
    const { offset } = entries[0]!.handle;
    const last = entries[entries.length - 1]!.handle;
    const bytes = await this.#table.file.read(
      offset,
      last.offset + last.length + BLOCK_TRAILER_BYTES - offset,
    );
    return { entries, offset, bytes };
  }
}

/** Returns the handle of the first entry whose separator is `key` or sorts after it. */
function handleFor(index: Block, key: Uint8Array): BlockHandle | undefined {
  const cursor = new BlockCursor(index);
  if (cursor.seek(key) < 0) return undefined;
  return decodeAt(index.place, () => decodeHandle(cursor.value()));
}

/** Yields an index block's entries from the first whose separator is `start` or sorts after it. */
function* indexEntries(index: Block, start: Uint8Array | undefined): Generator<IndexEntry, void, undefined> {
  const decoder = new RecordDecoder(index, start);
  for (;;) {
    const entries = decoder.next(INDEX_STEP_ENTRIES);
    if (entries.length === 0) return;
    for (const { key, value } of entries) {
      yield { separator: key, handle: decodeAt(index.place, () => decodeHandle(value)) };
    }
  }
}
