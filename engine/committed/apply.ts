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

import { compareBytes } from "../../base/bytes.ts";
import { type Chunking, endsRange, type RecordWeight } from "./chunking.ts";
import { BlockCursor } from "./cursor.ts";
import type { TableFiles } from "./files.ts";
import type { Metarange } from "./metarange.ts";
import { RangeCursor } from "./range_cursor.ts";
import type { ValueRecord } from "./record.ts";
import { MetarangeWriter, type WrittenMetarange } from "./writer.ts";

/** What a key becomes: a record, or nothing when it is deleted. */
export interface Change {
  readonly key: Uint8Array;
  readonly record: ValueRecord | undefined;
}

/** Returns whether two records of one key are the same content, though their identities may differ. */
export type SameContent = (a: ValueRecord, b: ValueRecord) => boolean;

export interface ApplyOptions {
  readonly chunking: Chunking;
  readonly weigh: RecordWeight;
  readonly same: SameContent;
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
    options,
  });
  return await application.run();
}

interface ApplicationParts {
  readonly old: RangeCursor;
  readonly changes: BlockCursor<Change>;
  readonly writer: MetarangeWriter;
  readonly mayReuse: boolean;
  readonly options: ApplyOptions;
}

class Application {
  readonly #parts: ApplicationParts;
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
      const key = old.nextKey;
      if (!change && !key) break;
      if (this.#mayTakeRange(change)) {
        writer.addRange(old.range!);
        await old.skipRange();
        continue;
      }
      const order = !change ? 1 : !key ? -1 : compareBytes(change.key, key);
      if (order < 0) await this.#insert(change!);
      else if (order === 0) await this.#replace(change!);
      else await this.#keep(change);
    }
    const written = await writer.finish();
    return { ...written, added: this.#added, changed: this.#changed, removed: this.#removed };
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

  async #insert(change: Change): Promise<void> {
    const { changes, writer } = this.#parts;
    changes.advance();
    if (!change.record) return;
    this.#added++;
    if (writer.add(change.record)) await writer.endRange();
  }

  async #replace(change: Change): Promise<void> {
    const { old, changes, writer, options } = this.#parts;
    const before = (await old.record())!;
    changes.advance();
    if (!change.record) this.#removed++;
    else {
      const isSame = options.same(before, change.record);
      if (!isSame) this.#changed++;
      if (writer.add(isSame ? before : change.record)) await writer.endRange();
    }
    if (!old.advance()) await old.settle();
  }

  /** Copies old records up to the next change, or until a range ends: without waiting inside a block. */
  async #keep(change: Change | undefined): Promise<void> {
    const { old, writer } = this.#parts;
    let record = await old.record();
    while (record && (!change || compareBytes(record.key, change.key) < 0)) {
      const isFull = writer.add(record);
      const isLoaded = old.advance();
      if (isFull) await writer.endRange();
      if (!isLoaded) await old.settle();
      if (isFull || old.isBeforeRange) return;
      record = old.peek();
    }
  }
}
