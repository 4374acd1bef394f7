/** Writing metaranges: records go in in key order, canonical ranges and their metarange come out. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { PIECE_BYTES, TableWriter } from "../sstable/mod.ts";
import type { Chunking, RecordWeight } from "./chunking.ts";
import type { TableFiles } from "./files.ts";
import { metarangeId } from "./metarange.ts";
import type { OpenRange } from "./open_range.ts";
import { encodeRange, type RangeInfo } from "./range.ts";
import { type KnownId, type RangeMemory, RangeWriter, type WrittenRange } from "./range_writer.ts";
import { encodeValue, type ValueRecord } from "./record.ts";
import { giveRecordIdsBack, sparePieces, takeRecordIds } from "./spare_memory.ts";

/** How many ranges may be on their way to the disk, each in memory whole. */
const MAX_WRITING = 2;

/** A metarange as written, and what was written for it. Nothing of it is flushed yet. */
export interface WrittenMetarange {
  readonly id: string;
  /** IDs of the ranges that were not taken over by ID; a commit must flush them and the metarange. */
  readonly newRanges: readonly string[];
  readonly reusedRanges: number;
}

/** A range on its way to its file, and with what is kept beside it. */
interface Writing {
  readonly put: Promise<unknown>;
  readonly whole: Promise<void>;
}

export interface MetarangeWriterOptions {
  readonly chunking: Chunking;
  readonly weigh: RecordWeight;
}

export class MetarangeWriter {
  readonly #files: TableFiles;
  readonly #options: MetarangeWriterOptions;
  readonly #ranges: RangeInfo[] = [];
  readonly #newRanges: string[] = [];
  /** Ranges on their way to their files, the oldest first; of one that failed the next call that waits hears. */
  readonly #writing: Writing[] = [];
  #open: RangeWriter | undefined;
  /** What the open range is made in. */
  #memory: RangeMemory | undefined;

  constructor(files: TableFiles, options: MetarangeWriterOptions) {
    this.#files = files;
    this.#options = options;
  }

  /** Whether a range has been begun and not ended: only otherwise may a whole range be taken over. */
  get isInsideRange(): boolean {
    return this.#open !== undefined;
  }

  /** Whether no block has been begun and not ended: only then may whole blocks be taken over. */
  get isBetweenBlocks(): boolean {
    return this.#open?.isBetweenBlocks ?? true;
  }

  /**
   * Adds a record; its ID is hashed unless it is known. When it returns true the range is full, and the caller must await
   * {@link endRange} before going on.
   */
  add(record: ValueRecord, known?: KnownId): boolean {
    const { chunking, weigh } = this.#options;
    const open = this.#open ??= this.#newRange();
    const isBreak = open.add(record, { weight: weigh(record), known });
    if (open.sizeBytes < chunking.minSizeBytes) return false;
    return isBreak || open.sizeBytes >= chunking.maxSizeBytes;
  }

  /**
   * Takes over as many blocks of an older range as they are, from `from` on and before `to`, as are sure to end no range;
   * returns how many, perhaps none.
   */
  async addBlocks(old: OpenRange, from: number, to: number): Promise<number> {
    const blocks = old.blocks!;
    const start = this.#open?.sizeBytes ?? 0;
    let end = from;
    for (let size = start; end < to && blocks.breaks(end) === 0; end++) {
      size += blocks.weight(end);
      if (size >= this.#options.chunking.maxSizeBytes) break;
    }
    if (end === from) return 0;
    const isNew = this.#open === undefined;
    const open = this.#open ??= this.#newRange();
    const { index } = old.table;
    let at = from;
    while (at < end) {
      const first = index.offset(at);
      let next = at + 1;
      while (next < end && index.end(next) - first <= PIECE_BYTES) next++;
      if (!await open.addBlocks(old, at, next)) {
        await old.renewBlocks();
        break;
      }
      at = next;
    }
    if (isNew && at === from) this.#open = undefined;
    this.#files.counts.blocksCopied += at - from;
    return at - from;
  }

  /** Writes the range that is open. */
  async endRange(): Promise<void> {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const written = open.finish();
    this.#ranges.push(written.range);
    this.#newRanges.push(written.range.id);
    await this.#startWriting(written, this.#memory!);
    this.#memory = undefined;
  }

  /** Takes a whole range over by its ID, unread. */
  addRange(range: RangeInfo): void {
    assertInvariant(!this.#open, "a range is taken over while another one is open");
    this.#files.counts.rangesReused++;
    this.#ranges.push(range);
  }

  /** Writes the last range and the metarange. */
  async finish(): Promise<WrittenMetarange> {
    await this.endRange();
    await Promise.all(this.#writing.map(({ put }) => put));
    const id = metarangeId(this.#ranges);
    const writer = new TableWriter({ type: "metaranges" });
    let sizeBytes = 0;
    for (const range of this.#ranges) {
      const record = encodeRange(range);
      const value = encodeValue(record.identity, record.data);
      sizeBytes += record.key.length + value.length;
      writer.add(record.key, value);
    }
    const table = writer.finishInParts({
      id,
      minKey: this.#ranges[0]?.minKey ?? EMPTY_BYTES,
      maxKey: this.#ranges.at(-1)?.maxKey ?? EMPTY_BYTES,
      count: this.#ranges.length,
      estimatedSizeBytes: sizeBytes,
    });
    await this.#files.write(id, table, "metarange");
    await Promise.all(this.#writing.map(({ whole }) => whole));
    return {
      id,
      newRanges: this.#newRanges,
      reusedRanges: this.#ranges.length - this.#newRanges.length,
    };
  }

  /** Waits until no write is under way any more, whatever became of them: on the way out of a failure. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#writing.map(({ whole }) => whole));
  }

  #newRange(): RangeWriter {
    this.#memory = { pool: sparePieces, ids: takeRecordIds() };
    return new RangeWriter(this.#options.chunking, this.#memory);
  }

  /** Starts writing a range and making it durable, so that the disk works while the next one is made. */
  async #startWriting({ range, table, side }: WrittenRange, { pool, ids }: RangeMemory): Promise<void> {
    const put = this.#files.write(range.id, table, "range");
    const whole = put.then(async (isNew) => {
      if (isNew) await this.#files.keepSide(range.id, side, table);
      for (const piece of table.pieces) pool.giveBack(piece);
      giveRecordIdsBack(ids);
    });
    // Who waits hears of a failure; nobody else may, since nobody waits yet.
    whole.catch(() => {});
    this.#writing.push({ put, whole });
    if (this.#writing.length > MAX_WRITING) await this.#writing.shift()!.whole;
  }
}
