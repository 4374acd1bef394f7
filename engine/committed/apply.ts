/**
 * Applying changes to a metarange.
 *
 * Ranges that no change touches are taken over by ID, unread. A touched range is re-chunked from its start until a new
 * boundary meets an old one:
 *
 *     old      [a……f] [g……m] [n……s] [t……z]
 *     change             h, -m
 *     new      [a……f] [g……………s]      [t……z]      the deletion of m, where a range ended, drew [n……s] in
 *
 * The end of the last range is a boundary only if its last key breaks, so an append re-opens it. So the result is a
 * function of the records alone, whatever led there.
 */

import { compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import { type Chunking, endsRange, type RecordWeight } from "./chunking.ts";
import { BlockCursor } from "./cursor.ts";
import type { TableFiles } from "./files.ts";
import { RECORD_ID_BYTES, SPARE_IDS } from "./ids.ts";
import type { Metarange } from "./metarange.ts";
import type { OpenRange } from "./open_range.ts";
import { RangeCursor } from "./range_cursor.ts";
import type { ValueRecord } from "./record.ts";
import { giveBytesBack, takeBytes } from "./spare_memory.ts";
import { TheirRanges } from "./their_ranges.ts";
import { MetarangeWriter, type WrittenMetarange } from "./writer.ts";

/** What a key becomes: a record, or nothing when it is deleted. */
export interface Change {
  readonly key: Uint8Array;
  readonly record: ValueRecord | undefined;
  /** Of a merge: whether the key is new to the side that it comes from. */
  readonly isAddition?: boolean;
}

/** Returns whether two records of one key are the same content, though their identities may differ. */
export type SameContent = (a: ValueRecord, b: ValueRecord) => boolean;

export interface ApplyOptions {
  readonly chunking: Chunking;
  readonly weigh: RecordWeight;
  readonly same: SameContent;
  /** Of a merge: what the changes come from, as long as only that side changed something. Lets ranges be taken over by ID. */
  readonly theirs?: { readonly base: Metarange; readonly source: Metarange };
}

export interface Applied extends WrittenMetarange {
  /** Changes that made a difference, by kind. */
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** Writes the metarange that `base` becomes when `changes`, in key order with unique keys, are applied to it. */
export async function applyChanges(
  files: TableFiles,
  base: Metarange,
  changes: AsyncIterable<readonly Change[]>,
  options: ApplyOptions,
): Promise<Applied> {
  const application = new Application({
    old: await RangeCursor.open(base),
    changes: new BlockCursor(changes),
    writer: new MetarangeWriter(files, options),
    // Ranges made elsewhere end elsewhere: they are read and written anew.
    mayReuse: await base.isOurs(),
    theirs: options.theirs && await TheirRanges.open(options.theirs, options.chunking),
    options,
  });
  try {
    return await application.run();
  } finally {
    await application.settle();
  }
}

interface ApplicationParts {
  readonly old: RangeCursor;
  readonly changes: BlockCursor<Change>;
  readonly writer: MetarangeWriter;
  readonly mayReuse: boolean;
  readonly theirs: TheirRanges | undefined;
  readonly options: ApplyOptions;
}

class Application {
  readonly #parts: ApplicationParts;
  #ids: Uint8Array = EMPTY_BYTES;
  #added = 0;
  #changed = 0;
  #removed = 0;

  constructor(parts: ApplicationParts) {
    this.#parts = parts;
  }

  async run(): Promise<Applied> {
    const { old, changes, writer } = this.#parts;
    while (true) {
      const change = changes.peek() ?? await changes.load();
      if (this.#mayTakeRange(change)) {
        writer.addRange(old.range!);
        old.skipRange();
        continue;
      }
      if (await this.#takeTheirs()) continue;
      if (await this.#takeBlocks(change)) continue;
      const key = old.nextKey ?? await old.loadKey();
      if (!change && !key) break;
      const order = !change ? 1 : !key ? -1 : compareBytes(change.key, key);
      if (order < 0) await this.#insert(change!);
      else if (order === 0) await this.#replace(change!);
      else await this.#keep(change);
    }
    const written = await writer.finish();
    return { ...written, added: this.#added, changed: this.#changed, removed: this.#removed };
  }

  /** Waits until nothing is being written any more, and gives back what was used. */
  async settle(): Promise<void> {
    await this.#parts.writer.settle();
    giveBytesBack(this.#ids);
    this.#ids = EMPTY_BYTES;
  }

  /** Whether the range that the old side stands before can be taken over whole, given the next change. */
  #mayTakeRange(change: Change | undefined): boolean {
    const { old, writer, mayReuse, options } = this.#parts;
    const range = old.wholeRange;
    if (!mayReuse || !range || writer.isInsideRange) return false;
    if (!change) return true;
    if (compareBytes(change.key, range.maxKey) <= 0) return false;
    return !old.isInLastRange || endsRange(range.maxKey, range.sizeBytes, options.chunking);
  }

  /** Takes over the source's ranges in place of one that only the source changed; returns whether it could. */
  async #takeTheirs(): Promise<boolean> {
    const { old, changes, writer, mayReuse, theirs } = this.#parts;
    const range = old.wholeRange;
    if (!theirs || !mayReuse || !range || writer.isInsideRange) return false;
    const ranges = theirs.standIns({ range, before: old.lastKeyBefore, isLast: old.isInLastRange });
    if (!ranges) return false;
    for (const standIn of ranges) writer.addRange(standIn);
    const isLast = old.isInLastRange;
    old.skipRange();
    let change = changes.peek() ?? await changes.load();
    while (change && (isLast || compareBytes(change.key, range.maxKey) <= 0)) {
      this.#countTheirs(change);
      changes.advance();
      change = changes.peek() ?? await changes.load();
    }
    return true;
  }

  #countTheirs({ record, isAddition }: Change): void {
    if (!record) this.#removed++;
    else if (isAddition) this.#added++;
    else this.#changed++;
  }

  /**
   * Copies blocks up to the one that the next change falls into; returns whether there were any. A range's last block is
   * never copied: it ends because the range does, which need not be so in the new one.
   */
  async #takeBlocks(change: Change | undefined): Promise<boolean> {
    const { old, writer, mayReuse } = this.#parts;
    if (!mayReuse || !old.isAtStart || !writer.isBetweenBlocks || old.isAtEnd) return false;
    if (change && compareBytes(change.key, old.range!.minKey) <= 0) return false;
    await old.openRange();
    const open = old.opened!;
    if (!open.blocks) return false;
    if (!open.recordIds) await open.loadRecordIds(this.#idsMemory(open));
    if (!open.recordIds) return false;
    const behind = change ? open.table.index.firstAtOrAfter(change.key) : open.blockCount;
    const isOurs = open.hasIdsOfCaller;
    const taken = await writer.addBlocks(open, old.block, Math.min(behind, open.blockCount - 1));
    // The new range's are made in that memory.
    if (isOurs && !open.hasIdsOfCaller) this.#ids = EMPTY_BYTES;
    if (taken > 0) old.skipBlocks(taken);
    return taken > 0;
  }

  /** Returns memory for the record IDs of an old range, and some more: one is open at a time, so it may be used again. */
  #idsMemory({ info }: OpenRange): Uint8Array {
    const bytes = (info.count + SPARE_IDS) * RECORD_ID_BYTES;
    if (this.#ids.length < bytes) {
      giveBytesBack(this.#ids);
      this.#ids = takeBytes(bytes);
    }
    return this.#ids;
  }

  async #insert(change: Change): Promise<void> {
    const { changes, writer } = this.#parts;
    changes.advance();
    if (!change.record) return;
    this.#added++;
    if (writer.add(change.record)) await writer.proceed();
  }

  async #replace(change: Change): Promise<void> {
    const { old, changes, writer, options } = this.#parts;
    const before = (old.peek() ?? await old.load())!;
    const known = old.knownId;
    changes.advance();
    old.advance();
    if (!change.record) {
      this.#removed++;
      return;
    }
    const isSame = options.same(before, change.record);
    if (!isSame) this.#changed++;
    if (isSame ? writer.add(before, known) : writer.add(change.record)) await writer.proceed();
  }

  /** Copies old records up to the next change, a block's end or a range's end: without waiting in between. */
  async #keep(change: Change | undefined): Promise<void> {
    const { old, writer } = this.#parts;
    let record = old.peek() ?? await old.load();
    while (record && (!change || compareBytes(record.key, change.key) < 0)) {
      const isFull = writer.add(record, old.knownId);
      old.advance();
      if (isFull) return await writer.proceed();
      record = old.peek();
    }
  }
}
