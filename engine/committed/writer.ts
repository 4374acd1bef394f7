/** Writing metaranges: records go in in key order, canonical ranges and their metarange come out. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { TableWriter } from "../sstable/mod.ts";
import { type Chunking, endsRange, type RecordWeight } from "./chunking.ts";
import type { TableFiles } from "./files.ts";
import { FileIdHasher } from "./ids.ts";
import { metarangeId } from "./metarange.ts";
import { encodeRange, type RangeInfo } from "./range.ts";
import { encodeValue, type ValueRecord } from "./record.ts";

/** A metarange as written, and what was written for it. Nothing of it is flushed yet. */
export interface WrittenMetarange {
  readonly id: string;
  /** IDs of the ranges that were not taken over by ID; a commit must flush them and the metarange. */
  readonly newRanges: readonly string[];
  readonly reusedRanges: number;
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
  #open: OpenRange | undefined;

  constructor(files: TableFiles, options: MetarangeWriterOptions) {
    this.#files = files;
    this.#options = options;
  }

  /** Whether a range has been begun and not ended: only otherwise may a whole range be taken over. */
  get isInsideRange(): boolean {
    return this.#open !== undefined;
  }

  /** Adds a record. When it returns true the range is full, and the caller must await {@link endRange} before going on. */
  add(record: ValueRecord): boolean {
    const open = this.#open ??= new OpenRange();
    open.add(record, this.#options.weigh(record));
    return endsRange(record.key, open.sizeBytes, this.#options.chunking);
  }

  /** Writes the range that is open. */
  async endRange(): Promise<void> {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const { range, bytes } = open.finish();
    await this.#files.write(range.id, bytes);
    this.#ranges.push(range);
    this.#newRanges.push(range.id);
  }

  /** Takes a whole range over by its ID, unread. */
  addRange(range: RangeInfo): void {
    assertInvariant(!this.#open, "a range is taken over while another one is open");
    this.#ranges.push(range);
  }

  /** Writes the last range and the metarange. */
  async finish(): Promise<WrittenMetarange> {
    await this.endRange();
    const id = metarangeId(this.#ranges);
    const table = new TableWriter({ type: "metaranges" });
    let sizeBytes = 0;
    for (const range of this.#ranges) {
      const record = encodeRange(range);
      const value = encodeValue(record.identity, record.data);
      sizeBytes += record.key.length + value.length;
      table.add(record.key, value);
    }
    const bytes = table.finish({
      minKey: this.#ranges[0]?.minKey ?? EMPTY_BYTES,
      maxKey: this.#ranges.at(-1)?.maxKey ?? EMPTY_BYTES,
      count: this.#ranges.length,
      estimatedSizeBytes: sizeBytes,
    });
    await this.#files.write(id, bytes);
    return {
      id,
      newRanges: this.#newRanges,
      reusedRanges: this.#ranges.length - this.#newRanges.length,
    };
  }
}

/** The range that records go into now. */
class OpenRange {
  readonly #table = new TableWriter({ type: "ranges" });
  readonly #hasher = new FileIdHasher();
  #minKey: Uint8Array = EMPTY_BYTES;
  #maxKey: Uint8Array = EMPTY_BYTES;
  sizeBytes = 0;

  add(record: ValueRecord, weight: number): void {
    if (this.#table.count === 0) this.#minKey = record.key.slice();
    this.#maxKey = record.key;
    this.sizeBytes += weight;
    this.#hasher.add(record.key, record.identity);
    this.#table.add(record.key, encodeValue(record.identity, record.data));
  }

  finish(): { range: RangeInfo; bytes: Uint8Array } {
    const range: RangeInfo = {
      id: this.#hasher.finish(),
      minKey: this.#minKey,
      maxKey: this.#maxKey.slice(),
      sizeBytes: this.sizeBytes,
      count: this.#table.count,
    };
    const bytes = this.#table.finish({ ...range, estimatedSizeBytes: range.sizeBytes });
    return { range, bytes };
  }
}
