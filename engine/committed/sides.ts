/**
 * Side files: what is known of a range beside its own file, kept on this machine only (`side_file.ts` tells how they look).
 *
 *     <id>.blocks   the block table, a checksum of the record IDs, and how these are kept
 *     <id>.ids      the record IDs whole, 32 bytes each; their SHA-256 is the range's ID
 *
 * Where a range is another version of one whose IDs are kept whole, its own are kept as what differs (`id_runs.ts`), in
 * `<id>.blocks`: they are a quarter of what a commit of a few changes would write.
 *
 * A block table is written of record IDs that were hashed and gave the range's ID. So later on their CRC-32 is enough to know
 * them again: it takes a tenth of the time.
 *
 * Without them nothing is lost but time: they are made again from the range's file. A range whose record IDs do not give
 * its ID, or whose index is not one of ours, has none and is read record by record.
 */

import { setImmediate } from "node:timers/promises";
import { equalBytes } from "../../base/bytes.ts";
import { fnv1a64Mod } from "../../base/hashes.ts";
import { crc32 } from "../../base/platform.ts";
import type { DiskCache } from "../../cache/mod.ts";
import { type TableReader, tableRecord } from "../sstable/mod.ts";
import { type BlockTable, BlockTableBuilder } from "./block_table.ts";
import type { Chunking, RecordWeight } from "./chunking.ts";
import {
  derivedBytes,
  type DerivedIds,
  derivedIds,
  joinedRuns,
  partsOfBase,
  putNews,
  type Runs,
} from "./id_runs.ts";
import { fileIdOf, RECORD_ID_BYTES, RecordIds } from "./ids.ts";
import { decodeRecord } from "./record.ts";
import { decodeSide, encodeSide, type SidedFile, sideHead } from "./side_file.ts";
import type { Kept, KnownTable, TableCaches } from "./table_caches.ts";

export interface Side {
  readonly blocks: BlockTable;
  readonly recordIds: Uint8Array;
  /** Where they come from, if from another range. */
  readonly runs?: Runs | undefined;
}

export interface SideOptions {
  readonly chunking: Chunking;
  readonly weigh: RecordWeight;
  /** Keeps side files; without it they are kept in memory, while there is room. */
  readonly disk?: DiskCache;
}

/**
 * A range of fewer records has no side files: it is read, and its record IDs hashed again, in the time that it takes to open
 * them, and who makes small commits all day would leave them by the hundred thousand.
 */
const FEWEST_RECORDS = 64;
/** Up to this record IDs are also kept in memory: those of a range of 16,000 records. */
const SMALL_BYTES = 512 * 1024;
/** How many sides may be on their way to their files. */
const MOST_KEEPING = 4;

/** What the last side was encoded in. */
let spareBytes: Uint8Array | undefined;

export class Sides {
  readonly #options: SideOptions;
  readonly #tables: Kept<KnownTable>;
  readonly #ids: Kept<Uint8Array>;
  /** Ranges that have none. */
  readonly #none = new Set<string>();
  /** Of these, those whose record IDs do not give their ID: made by lakeFS, or damaged. */
  readonly #misnamed = new Set<string>();
  readonly #making = new Map<string, Promise<Side | undefined>>();
  readonly #keeping = new Set<Promise<void>>();

  constructor({ caches, ...options }: SideOptions & { readonly caches: TableCaches }) {
    this.#options = options;
    this.#tables = caches.sides;
    this.#ids = caches.recordIds;
  }

  /** Returns a range's block table, or `undefined` when it can have none. */
  async blockTable(id: string, reader: TableReader): Promise<BlockTable | undefined> {
    return (await this.#known(id, reader) ?? await this.#make(id, reader))?.blocks;
  }

  /** Returns a range's record IDs, perhaps in `into`, or `undefined` when it can have none. */
  async recordIds(id: string, reader: TableReader, into?: Uint8Array): Promise<Uint8Array | undefined> {
    const inMemory = this.#ids.get(id);
    if (inMemory) return inMemory;
    const derived = (await this.#known(id, reader))?.ids;
    const kept = derived
      ? await this.#readDerived(derived, into)
      : await this.#options.disk?.read(`${id}.ids`, into);
    if (kept && this.#areThose(id, kept)) return kept;
    return (await this.#make(id, reader))?.recordIds;
  }

  /**
   * Keeps the side of a range whose file has been written. Where that needs no memory of the writer's, it is known at once, and
   * its files are written while other work goes on.
   */
  async keep(id: string, { blocks, recordIds, runs }: Side, file: SidedFile): Promise<void> {
    const { disk } = this.#options;
    const ids = await this.#derive(recordIds, runs);
    const table = { blocks, idsChecksum: crc32(recordIds), ...(ids ? { ids } : {}) };
    this.#remember(id, table);
    const isInMemory = !ids && (!disk || recordIds.length <= SMALL_BYTES);
    // A copy: the writer uses its memory again.
    const whole = ids ? undefined : isInMemory ? recordIds.slice() : recordIds;
    if (isInMemory) this.#ids.set(id, whole!, recordIds.length);
    if (!disk || recordIds.length < FEWEST_RECORDS * RECORD_ID_BYTES) return;
    const encode = (memory?: Uint8Array) => encodeSide(table, this.#head(id, file), memory);
    const kept = () => keepFiles(disk, id, { whole, encode });
    // What no other side refers to is written when the flush of the range itself has begun: a commit waits for that.
    const keeping = (ids ? setImmediate().then(kept) : kept()).finally(() => this.#keeping.delete(keeping));
    this.#keeping.add(keeping);
    if (whole === recordIds || this.#keeping.size > MOST_KEEPING) await keeping;
  }

  /** Waits until all that is known of ranges is kept. */
  async settled(): Promise<void> {
    await Promise.all(this.#keeping);
  }

  /** Whether a file was found to hold other records than the ID that it is named by says. */
  isMisnamed(id: string): boolean {
    return this.#misnamed.has(id);
  }

  /** Has what is known of a range in memory make room for others. */
  letGo(id: string): void {
    this.#tables.delete(id);
    this.#ids.delete(id);
  }

  /** Forgets a range: its file was replaced. */
  async forget(id: string): Promise<void> {
    this.letGo(id);
    this.#none.delete(id);
    this.#misnamed.delete(id);
    await this.settled();
    await this.#options.disk?.delete(`${id}.blocks`);
  }

  /** Whether record IDs are a range's own: those that its block table was written of, or else those that give its ID. */
  #areThose(id: string, recordIds: Uint8Array): boolean {
    const known = this.#tables.get(id);
    return known ? crc32(recordIds) === known.idsChecksum : fileIdOf(recordIds) === id;
  }

  #make(id: string, reader: TableReader): Promise<Side | undefined> {
    if (this.#none.has(id)) return Promise.resolve(undefined);
    let making = this.#making.get(id);
    if (!making) {
      making = this.#read(id, reader).finally(() => this.#making.delete(id));
      this.#making.set(id, making);
    }
    return making;
  }

  async #read(id: string, reader: TableReader): Promise<Side | undefined> {
    const side = await sideOf(reader, { ...this.#options, file: id });
    const isMisnamed = side !== undefined && fileIdOf(side.recordIds) !== id;
    if (isMisnamed) this.#misnamed.add(id);
    if (!side || isMisnamed) {
      this.#none.add(id);
      return undefined;
    }
    await this.keep(id, side, reader);
    return side;
  }

  /** Returns what is known of a range in memory or on disk. */
  async #known(id: string, reader: TableReader): Promise<KnownTable | undefined> {
    const known = this.#tables.get(id);
    if (known) return known;
    const isSmall = Number(reader.userProperties.count ?? 0) < FEWEST_RECORDS;
    const kept = isSmall ? undefined : await this.#options.disk?.read(`${id}.blocks`);
    const table = kept && decodeSide(kept, this.#head(id, reader));
    if (table) this.#remember(id, table);
    return table;
  }

  #remember(id: string, table: KnownTable): void {
    const { blocks, ids } = table;
    this.#tables.set(id, table, blocks.bytes.length + (ids ? ids.pairs.byteLength + ids.news.length : 0));
  }

  /** Returns how the IDs of a range are best kept, if not whole. */
  async #derive(recordIds: Uint8Array, runs: Runs | undefined): Promise<DerivedIds | undefined> {
    const { disk } = this.#options;
    const base = disk && runs && this.#tables.get(runs.base);
    if (!base) return undefined;
    const derived = derivedIds(recordIds, base.ids ? joinedRuns(runs, base.ids) : runs);
    // What is not there any more cannot be referred to.
    return derived && await disk.size(`${derived.base}.ids`) !== undefined ? derived : undefined;
  }

  async #readDerived(derived: DerivedIds, into: Uint8Array | undefined): Promise<Uint8Array | undefined> {
    const length = derivedBytes(derived);
    const list = into && into.length >= length ? into.subarray(0, length) : new Uint8Array(length);
    if (!await this.#options.disk?.readParts(`${derived.base}.ids`, partsOfBase(derived, list))) {
      return undefined;
    }
    putNews(derived, list);
    return list;
  }

  #head(id: string, file: SidedFile): Uint8Array {
    return sideHead(id, file, this.#options.chunking.raggedness);
  }
}

async function keepFiles(
  disk: DiskCache,
  id: string,
  { whole, encode }: {
    /** The record IDs, unless they are kept with the block table. */
    readonly whole: Uint8Array | undefined;
    /** Returns the side as it is kept, in memory if that has room. */
    readonly encode: (memory: Uint8Array | undefined) => Uint8Array;
  },
): Promise<void> {
  if (whole) await disk.write(`${id}.ids`, whole);
  const spare = spareBytes;
  spareBytes = undefined;
  const encoded = encode(spare);
  await disk.write(`${id}.blocks`, encoded);
  spareBytes = new Uint8Array(encoded.buffer);
}

/** Reads a range's file whole. Returns `undefined` when its index or its blocks are not as ours are. */
async function sideOf(
  reader: TableReader,
  { chunking, weigh, file }: SideOptions & { readonly file: string },
): Promise<Side | undefined> {
  const { index } = reader;
  const ids = new RecordIds(Number(reader.userProperties.count ?? 0) || undefined);
  const table = new BlockTableBuilder();
  const run = reader.readAhead();
  for (let i = 0; i < index.count; i++) {
    if (i > 0 && index.offset(i) !== index.end(i - 1)) return undefined;
    const records = reader.recordsOf(run.block(i) ?? await run.load(i), i, tableRecord);
    const last = records[records.length - 1];
    if (!last || !equalBytes(last.key, index.separator(i))) return undefined;
    for (const { key, value } of records) {
      const record = decodeRecord(key, value, file);
      ids.add(key, record.identity);
      table.add({
        keyBytes: key.length,
        valueBytes: value.length,
        weight: weigh(record),
        isBreak: fnv1a64Mod(key, chunking.raggedness) === 0,
      });
    }
    table.endBlock({ recordIds: ids.last(records.length), fingerprint: run.fingerprint(i) });
  }
  return { blocks: table.finish(), recordIds: ids.all() };
}
