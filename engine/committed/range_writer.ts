/** Writing one range: records and blocks of older ranges go in, in key order, its file and side come out. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { PrefixFnv } from "../../base/hashes.ts";
import { type FinishedTable, PIECE_BYTES, type TableSink, TableWriter } from "../sstable/mod.ts";
import { BlockTableBuilder } from "./block_table.ts";
import type { Chunking } from "./chunking.ts";
import { RunRecorder } from "./id_runs.ts";
import { RecordIds } from "./ids.ts";
import type { OpenRange } from "./open_range.ts";
import type { RangeInfo } from "./range.ts";
import { encodeHead, type ValueRecord } from "./record.ts";
import type { Side } from "./sides.ts";
import { giveBytesBack } from "./spare_memory.ts";

/**
 * Data blocks end where the record's ID says so, on average behind 4 KiB of records, and prefix compression begins anew: so
 * two versions of a range share all blocks but those around their differences, byte for byte.
 */
const MIN_BLOCK_BYTES = 1024;
const MAX_BLOCK_BYTES = 16 * 1024;
/** Behind the minimum a block goes on for so much, on average. */
const MEAN_MORE_BYTES = 3 * 1024;

/** With less room than this for blocks to be copied to, new memory is begun: each copying has its price. */
const MIN_COPIED_BYTES = PIECE_BYTES / 4;

/** Where a range is made. */
export interface RangePlace {
  /** Where its file goes. */
  readonly sink: TableSink;
  /** For its record IDs; empty. */
  readonly ids: RecordIds;
}

/** One of the record IDs of an older range. */
export interface KnownId {
  readonly range: string;
  readonly ids: Uint8Array;
  readonly index: number;
}

export interface WrittenRange {
  readonly range: RangeInfo;
  readonly table: FinishedTable;
  readonly side: Side;
}

export class RangeWriter {
  readonly #raggedness: number;
  readonly #table: TableWriter;
  readonly #ids: RecordIds;
  readonly #runs = new RunRecorder();
  readonly #blocks = new BlockTableBuilder();
  readonly #hash = new PrefixFnv();
  /** Memory for what stands in front of a value's data. */
  #head: Uint8Array = EMPTY_BYTES;
  #minKey: Uint8Array = EMPTY_BYTES;
  #maxKey: Uint8Array = EMPTY_BYTES;
  #sizeBytes = 0;

  constructor(chunking: Chunking, { sink, ids }: RangePlace) {
    this.#raggedness = chunking.raggedness;
    this.#table = new TableWriter({ type: "ranges", blockBytes: Infinity, sink });
    this.#ids = ids;
  }

  /** The canonical size so far. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get isEmpty(): boolean {
    return this.#table.count === 0 && this.isBetweenBlocks;
  }

  /** Whether no block is under way, so that whole blocks can be added. */
  get isBetweenBlocks(): boolean {
    return this.#blocks.pendingRecords === 0;
  }

  /** Adds a record; its ID is hashed unless it is known. Returns whether its key is one that may end a range. */
  add(record: ValueRecord, { weight, known }: { weight: number; known: KnownId | undefined }): boolean {
    const { key, identity, data } = record;
    const head = this.#head = encodeHead(identity, data.length, this.#head);
    const valueBytes = head.length + data.length;
    if (this.#table.count === 0) this.#minKey = key.slice();
    this.#maxKey = key;
    this.#sizeBytes += weight;
    this.#addId(record, known);
    const shared = this.#table.add(key, head, data);
    const isBreak = this.#hash.mod(key, shared, this.#raggedness) === 0;
    this.#blocks.add({ keyBytes: key.length, valueBytes, weight, isBreak });
    if (this.#endsBlock(key.length + valueBytes)) this.#endBlock();
    return isBreak;
  }

  /** How many bytes of blocks are best added at once: as many as the memory under way has room for. */
  get copiedBytes(): number {
    const { storedRoomLeft } = this.#table;
    return storedRoomLeft < MIN_COPIED_BYTES ? PIECE_BYTES : storedRoomLeft;
  }

  /**
   * Adds blocks of an older range as they are: `from` (inclusive) to `to` (exclusive). Returns false, having added nothing,
   * when what is known of them is about another file's. Fails with `corrupt_file` when one is damaged.
   */
  async addBlocks(old: OpenRange, from: number, to: number): Promise<boolean> {
    const blocks = old.blocks!, { index } = old.table;
    const room = this.#table.storedRoom(index.end(to - 1) - index.offset(from));
    const bytes = await old.table.storedBlocks(from, to, room);
    if (!old.holds(from, to, bytes)) return false;
    const totals = blocks.totals(from, to);
    if (this.#table.count === 0) this.#minKey = old.info.minKey;
    this.#table.addStored({ index, from, to, bytes, ...totals });
    this.#maxKey = index.separator(to - 1);
    this.#hash.forget();
    this.#sizeBytes += totals.weight;
    if (this.#ids.count === 0 && old.hasIdsOfCaller) this.#takeIdsOver(old);
    const first = blocks.firstRecord(from);
    this.#ids.expect(old.info.count - first);
    this.#ids.addKnown(old.recordIds!, first, totals.records);
    this.#runs.addKnown(old.info.id, first, totals.records);
    this.#blocks.expect(blocks.count - from);
    this.#blocks.addRows(blocks.rows(from, to));
    return true;
  }

  /** Returns the range; nothing can be added afterwards. */
  finish(): WrittenRange {
    if (!this.isBetweenBlocks) this.#endBlock();
    this.#ids.sendGuestAway();
    const range: RangeInfo = {
      id: this.#ids.fileId(),
      minKey: this.#minKey,
      maxKey: this.#maxKey.slice(),
      sizeBytes: this.#sizeBytes,
      count: this.#table.count,
    };
    const table = this.#table.end({ ...range, estimatedSizeBytes: range.sizeBytes });
    return {
      range,
      table,
      side: { blocks: this.#blocks.finish(), recordIds: this.#ids.all(), runs: this.#runs.runs() },
    };
  }

  /** Lists the IDs where those of the older range lie. */
  #takeIdsOver(old: OpenRange): void {
    giveBytesBack(this.#ids.takeOver(old));
    old.giveIdsAway();
  }

  #addId({ key, identity }: ValueRecord, known: KnownId | undefined): void {
    if (known) {
      this.#ids.addKnown(known.ids, known.index, 1);
      this.#runs.addKnown(known.range, known.index, 1);
    } else {
      this.#ids.add(key, identity);
      this.#runs.addNew();
    }
  }

  /** Decided by the record alone, heavier ones more likely: so the mean does not depend on how large records are. */
  #endsBlock(recordBytes: number): boolean {
    const { blockBytes } = this.#table;
    if (blockBytes < MIN_BLOCK_BYTES) return false;
    return blockBytes >= MAX_BLOCK_BYTES ||
      this.#ids.lastWord * MEAN_MORE_BYTES < recordBytes * 2 ** 32;
  }

  #endBlock(): void {
    const recordIds = this.#ids.last(this.#blocks.pendingRecords);
    this.#blocks.endBlock({ recordIds, fingerprint: this.#table.endBlock() });
  }
}
