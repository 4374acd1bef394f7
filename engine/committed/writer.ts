/** Writing metaranges: records go in in key order, canonical ranges and their metarange come out. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { TableWriter } from "../sstable/mod.ts";
import type { Chunking, RecordWeight } from "./chunking.ts";
import type { TableFiles } from "./files.ts";
import type { RecordIds } from "./ids.ts";
import { metarangeId } from "./metarange.ts";
import type { OpenRange } from "./open_range.ts";
import { encodeRange, type RangeInfo } from "./range.ts";
import { type KnownId, RangeWriter } from "./range_writer.ts";
import { encodeValue, type ValueRecord } from "./record.ts";
import { giveRecordIdsBack, takeRecordIds } from "./spare_memory.ts";
import type { TableBody } from "./table_body.ts";

/** How many ranges that are made may be on their way to the disk. */
const MAX_WRITING = 2;

/** A metarange as written, and what was written for it. Nothing of it is flushed yet. */
export interface WrittenMetarange {
  readonly id: string;
  /** IDs of the ranges that were not taken over by ID; a commit must flush them and the metarange. */
  readonly newRanges: readonly string[];
  readonly reusedRanges: number;
}

/** A range that is being made. */
interface OpenedRange {
  readonly writer: RangeWriter;
  readonly body: TableBody;
  readonly ids: RecordIds;
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
  #open: OpenedRange | undefined;
  /** Whether the open range ends with the record that was added last. */
  #isFull = false;

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
    return this.#open?.writer.isBetweenBlocks ?? true;
  }

  /**
   * Adds a record; its ID is hashed unless it is known. When it returns true the range is full, or too much is on its way,
   * and the caller must await {@link proceed} before going on.
   */
  add(record: ValueRecord, known?: KnownId): boolean {
    const { chunking, weigh } = this.#options;
    const { writer, body } = this.#open ??= this.#newRange();
    const isBreak = writer.add(record, { weight: weigh(record), known });
    const { sizeBytes } = writer;
    this.#isFull = sizeBytes >= chunking.minSizeBytes && (isBreak || sizeBytes >= chunking.maxSizeBytes);
    return this.#isFull || body.isFull;
  }

  /** Ends the range if it is full, and waits for what is on its way if that is too much. */
  async proceed(): Promise<void> {
    if (this.#isFull) await this.#endRange();
    else await this.#open?.body.room();
  }

  /**
   * Takes over as many blocks of an older range as they are, from `from` on and before `to`, as are sure to end no range;
   * returns how many, perhaps none.
   */
  async addBlocks(old: OpenRange, from: number, to: number): Promise<number> {
    const blocks = old.blocks!;
    const room = this.#options.chunking.maxSizeBytes - (this.#open?.writer.sizeBytes ?? 0);
    const end = blocks.endOfQuiet(from, to, room);
    if (end === from) return 0;
    const { writer, body } = this.#open ??= this.#newRange();
    const { index } = old.table;
    let at = from;
    while (at < end) {
      const most = index.offset(at) + writer.copiedBytes;
      const next = index.firstBeyond(most, { from: at, to: end });
      if (!await writer.addBlocks(old, at, next)) {
        await old.renewBlocks();
        break;
      }
      at = next;
      if (body.isFull) await body.room();
    }
    if (writer.isEmpty) await this.#dropRange();
    this.#files.counts.blocksCopied += at - from;
    if (at > from) this.#files.noteCopied(old.info.id);
    return at - from;
  }

  /** Takes a whole range over by its ID, unread. */
  addRange(range: RangeInfo): void {
    assertInvariant(!this.#open, "a range is taken over while another one is open");
    this.#files.counts.rangesReused++;
    this.#ranges.push(range);
  }

  /** Writes the last range and the metarange. */
  async finish(): Promise<WrittenMetarange> {
    await this.#endRange();
    await Promise.all(this.#writing.map(({ put }) => put));
    const id = metarangeId(this.#ranges);
    const body = this.#files.newBody();
    const writer = new TableWriter({ type: "metaranges", sink: body });
    let sizeBytes = 0;
    for (const range of this.#ranges) {
      const record = encodeRange(range);
      const value = encodeValue(record.identity, record.data);
      sizeBytes += record.key.length + value.length;
      writer.add(record.key, value);
    }
    writer.end({
      id,
      minKey: this.#ranges[0]?.minKey ?? EMPTY_BYTES,
      maxKey: this.#ranges.at(-1)?.maxKey ?? EMPTY_BYTES,
      count: this.#ranges.length,
      estimatedSizeBytes: sizeBytes,
    });
    await this.#files.write(id, body, "metarange");
    await Promise.all(this.#writing.map(({ whole }) => whole));
    return {
      id,
      newRanges: this.#newRanges,
      reusedRanges: this.#ranges.length - this.#newRanges.length,
    };
  }

  /** Waits until no write is under way any more, whatever became of them, and forgets a range that was not ended. */
  async settle(): Promise<void> {
    await this.#dropRange();
    await Promise.allSettled(this.#writing.map(({ whole }) => whole));
  }

  #newRange(): OpenedRange {
    const body = this.#files.newBody(), ids = takeRecordIds();
    return { writer: new RangeWriter(this.#options.chunking, { sink: body, ids }), body, ids };
  }

  async #dropRange(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    giveRecordIdsBack(open.ids);
    await open.body.dispose();
  }

  /** Ends the range that is open, and has it written and made durable while the next one is made. */
  async #endRange(): Promise<void> {
    const open = this.#open;
    this.#isFull = false;
    if (!open) return;
    this.#open = undefined;
    const { range, table, side } = open.writer.finish();
    this.#ranges.push(range);
    this.#newRanges.push(range.id);
    const put = this.#files.write(range.id, open.body, "range");
    const whole = put.then(async (isNew) => {
      if (isNew) await this.#files.keepSide(range.id, side, table);
      giveRecordIdsBack(open.ids);
    });
    // Who waits hears of a failure; nobody else may, since nobody waits yet.
    whole.catch(() => {});
    this.#writing.push({ put, whole });
    if (this.#writing.length > MAX_WRITING) await this.#writing.shift()!.whole;
  }
}
