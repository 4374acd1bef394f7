/** Listing all that a ref shows under a prefix, by the thousands: one walk, and no more of each record than is shown. */

import { afterKey, afterPrefix, compareBytes, lossyText, utf8 } from "../../base/bytes.ts";
import type { ListItem } from "../../drivers/store.ts";
import { BlockCursor, type RecordScan } from "../committed/mod.ts";
import { EntryReader } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { type StagedRecord, stagedRecords } from "../staging/mod.ts";
import { listedStats, statsOfRecord } from "./stats.ts";
import { TokenWatch, type View } from "./view.ts";

/** Whoever asks for fewer is served sooner by look-ups, which read no more than they need. */
export const MANY_ITEMS = 1000;
const PAGE_ITEMS = 256;

export interface ListAllOptions {
  readonly prefix?: string;
  readonly after?: string;
  readonly amount?: number;
}

/** Yields what `listView` yields without a delimiter, as the store shows it. */
export async function* listAll(
  repository: Repository,
  view: View,
  options: ListAllOptions,
): AsyncGenerator<readonly ListItem[]> {
  const prefix = utf8(options.prefix ?? ""), end = afterPrefix(prefix);
  const start = startKey(prefix, options.after);
  const watch = new TokenWatch(repository, view);
  const records = await ShownRecords.open(repository, view, start);
  let page: ListItem[] = [];
  for (let left = options.amount ?? Infinity; left > 0; left--) {
    const shown = records.next() || await records.load();
    if (!shown || (end && records.compareTo(end) >= 0)) break;
    page.push({ kind: "object", stats: records.stats() });
    if (page.length < PAGE_ITEMS) continue;
    await watch.check();
    yield page;
    page = [];
  }
  await watch.check();
  yield page;
  await records.close();
}

function startKey(prefix: Uint8Array, after: string | undefined): Uint8Array {
  const mark = after === undefined ? prefix : utf8(after);
  return after === undefined || compareBytes(mark, prefix) < 0 ? prefix : afterKey(mark);
}

/** Walks committed records with the staged ones laid over them. */
class ShownRecords {
  readonly #repository: Repository;
  readonly #committed: RecordScan;
  readonly #staged: BlockCursor<StagedRecord> | undefined;
  readonly #entry = new EntryReader({ sharesTexts: false });
  /** Whether the scan stands on a record that has not been stepped over. */
  #hasCommitted = false;
  #isCommittedAtEnd = false;
  /** The staged record that comes next; `undefined` once there is none. */
  #change: StagedRecord | undefined;
  /** Whether the current record is the staged one. */
  #isStaged = false;

  private constructor(
    repository: Repository,
    committed: RecordScan,
    staged: BlockCursor<StagedRecord> | undefined,
  ) {
    this.#repository = repository;
    this.#committed = committed;
    this.#staged = staged;
  }

  static async open(
    repository: Repository,
    { metarange, tokens }: View,
    start: Uint8Array,
  ): Promise<ShownRecords> {
    const staged = tokens.length > 0
      ? new BlockCursor(stagedRecords(repository.kv, tokens, start))
      : undefined;
    const records = new ShownRecords(repository, await metarange.scan(start), staged);
    records.#change = await staged?.load();
    return records;
  }

  /** Moves to the next record if that needs no waiting; `false` means "call {@link load}". */
  next(): boolean {
    if (this.#change || this.#isStaged || this.#isCommittedAtEnd) return false;
    return this.#hasCommitted = this.#committed.next();
  }

  /** Moves to the next record, waiting for what has to be read; returns `false` at the end. */
  async load(): Promise<boolean> {
    if (this.#isStaged) await this.#stepStaged();
    else this.#hasCommitted = false;
    while (true) {
      if (!this.#hasCommitted && !this.#isCommittedAtEnd) {
        this.#hasCommitted = this.#committed.next() || await this.#committed.load();
        this.#isCommittedAtEnd = !this.#hasCommitted;
      }
      const change = this.#change;
      if (!change) return this.#hasCommitted;
      const order = this.#hasCommitted ? compareKey(this.#committed, change.key) : 1;
      if (order < 0) return true;
      // What is committed under the key is not shown, whatever is staged over it.
      if (order === 0) this.#hasCommitted = false;
      if (change.record) return this.#isStaged = true;
      await this.#stepStaged();
    }
  }

  compareTo(key: Uint8Array): number {
    return this.#isStaged ? compareBytes(this.#change!.key, key) : compareKey(this.#committed, key);
  }

  stats(): ReturnType<typeof statsOfRecord> {
    if (this.#isStaged) return statsOfRecord(this.#repository, this.#change!.record!);
    const scan = this.#committed;
    const path = lossyText(scan.keyBytes.subarray(scan.keyStart, scan.keyEnd));
    return listedStats(this.#repository, path, this.#entry.readAt(scan, scan.rangeId));
  }

  async close(): Promise<void> {
    await this.#staged?.close();
  }

  async #stepStaged(): Promise<void> {
    this.#isStaged = false;
    this.#staged!.advance();
    this.#change = this.#staged!.peek() ?? await this.#staged!.load();
  }
}

function compareKey({ keyBytes, keyStart, keyEnd }: RecordScan, key: Uint8Array): number {
  const length = keyEnd - keyStart;
  const common = length < key.length ? length : key.length;
  for (let i = 0; i < common; i++) {
    const difference = keyBytes[keyStart + i]! - key[i]!;
    if (difference !== 0) return difference;
  }
  return length - key.length;
}
