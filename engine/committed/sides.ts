/**
 * Side files: what is known of a range beside its own file, kept on this machine only.
 *
 *     <id>.blocks   magic (8 bytes), range ID (32), what binds it to the range's file: size (uint64), index checksum (uint32),
 *                   raggedness (uint32); CRC-32 of the record IDs (uint32), the rows of the block table; SHA-256 of all before
 *     <id>.ids      the record IDs, 32 bytes each; their SHA-256 is the range's ID
 *
 * A block table is written of record IDs that were hashed and gave the range's ID. So later on their CRC-32 is enough to know
 * them again: it takes a tenth of the time.
 *
 * Without them nothing is lost but time: they are made again from the range's file. A range whose record IDs do not give
 * its ID, or whose index is not one of ours, has none and is read record by record. Numbers are in the machine's own order.
 */

import { EMPTY_BYTES, equalBytes, fromHex } from "../../base/bytes.ts";
import { fnv1a64Mod, sha256 } from "../../base/hashes.ts";
import { crc32 } from "../../base/platform.ts";
import type { DiskCache } from "../../cache/mod.ts";
import { type TableReader, tableRecord } from "../sstable/mod.ts";
import { BLOCK_ROW_BYTES, BlockTable, BlockTableBuilder } from "./block_table.ts";
import type { Chunking, RecordWeight } from "./chunking.ts";
import { fileIdOf, RecordIds } from "./ids.ts";
import { decodeRecord } from "./record.ts";
import type { Kept, KnownTable, TableCaches } from "./table_caches.ts";

export interface Side {
  readonly blocks: BlockTable;
  readonly recordIds: Uint8Array;
}

export interface SideOptions {
  readonly chunking: Chunking;
  readonly weigh: RecordWeight;
  /** Keeps side files; without it they are kept in memory, while there is room. */
  readonly disk?: DiskCache;
}

const MAGIC = 0x3264_6973;
const HEAD_BYTES = 56;
/** The head, and behind it the checksum of the record IDs. */
const ROWS_START = HEAD_BYTES + 4;
const SUM_BYTES = 32;
/** Up to this record IDs are also kept in memory: those of a range of 16,000 records. */
const SMALL_BYTES = 512 * 1024;
/** How many sides may be on their way to their files. */
const MOST_KEEPING = 4;

/** What the last block table was encoded in. */
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
    const known = this.#tables.get(id);
    if (known) return known.blocks;
    const kept = await this.#options.disk?.read(`${id}.blocks`);
    const table = kept && decodeTable(kept, this.#head(id, reader));
    if (table) {
      this.#tables.set(id, table, table.blocks.bytes.length);
      return table.blocks;
    }
    return (await this.#make(id, reader))?.blocks;
  }

  /** Returns a range's record IDs, perhaps in `into`, or `undefined` when it can have none. */
  async recordIds(id: string, reader: TableReader, into?: Uint8Array): Promise<Uint8Array | undefined> {
    const known = this.#ids.get(id);
    if (known) return known;
    const kept = await this.#options.disk?.read(`${id}.ids`, into);
    if (kept && this.#areThose(id, kept)) return kept;
    return (await this.#make(id, reader))?.recordIds;
  }

  /**
   * Keeps the side of a range whose file has been written. A small one is known at once, and its files are written while other
   * work goes on.
   */
  async keep(
    id: string,
    side: Side,
    file: { readonly sizeBytes: number; readonly indexChecksum: number },
  ): Promise<void> {
    const { disk } = this.#options;
    const table = { blocks: side.blocks, idsChecksum: crc32(side.recordIds) };
    this.#tables.set(id, table, side.blocks.bytes.length);
    const blocks = (memory?: Uint8Array) => encodeTable(table, this.#head(id, file), memory);
    if (disk && side.recordIds.length > SMALL_BYTES) {
      return await keepFiles(disk, id, { ids: side.recordIds, blocks });
    }
    // A copy: the writer uses its memory again.
    const ids = side.recordIds.slice();
    this.#ids.set(id, ids, ids.length);
    if (!disk) return;
    const keeping = keepFiles(disk, id, { ids, blocks }).finally(() => this.#keeping.delete(keeping));
    this.#keeping.add(keeping);
    if (this.#keeping.size > MOST_KEEPING) await keeping;
  }

  /** Waits until all that is known of ranges is kept. */
  async settled(): Promise<void> {
    await Promise.all(this.#keeping);
  }

  /** Whether a file was found to hold other records than the ID that it is named by says. */
  isMisnamed(id: string): boolean {
    return this.#misnamed.has(id);
  }

  /** Forgets a range: its file was replaced. */
  async forget(id: string): Promise<void> {
    this.#tables.delete(id);
    this.#ids.delete(id);
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

  #head(id: string, file: { readonly sizeBytes: number; readonly indexChecksum: number }): Uint8Array {
    const head = new Uint8Array(HEAD_BYTES);
    const view = new DataView(head.buffer);
    view.setUint32(0, MAGIC, true);
    view.setUint32(4, BLOCK_ROW_BYTES, true);
    head.set(fromHex(id)!, 8);
    view.setFloat64(40, file.sizeBytes, true);
    view.setUint32(48, file.indexChecksum, true);
    view.setUint32(52, this.#options.chunking.raggedness, true);
    return head;
  }
}

async function keepFiles(
  disk: DiskCache,
  id: string,
  { ids, blocks }: {
    readonly ids: Uint8Array;
    /** Returns the block table as it is kept, in memory if that has room. */
    readonly blocks: (memory: Uint8Array | undefined) => Uint8Array;
  },
): Promise<void> {
  await disk.write(`${id}.ids`, ids);
  const spare = spareBytes;
  spareBytes = undefined;
  const encoded = blocks(spare);
  await disk.write(`${id}.blocks`, encoded);
  spareBytes = new Uint8Array(encoded.buffer);
}

/** Returns a table as it is kept, in `memory` if that has room, else in memory with some more. */
function encodeTable(
  { blocks, idsChecksum }: KnownTable,
  head: Uint8Array,
  memory: Uint8Array = EMPTY_BYTES,
): Uint8Array {
  const rows = blocks.bytes;
  const length = ROWS_START + rows.length + SUM_BYTES;
  const out = (memory.length < length ? new Uint8Array(Math.ceil(length * 1.25)) : memory).subarray(
    0,
    length,
  );
  out.set(head);
  new DataView(out.buffer).setUint32(HEAD_BYTES, idsChecksum, true);
  out.set(rows, ROWS_START);
  const end = ROWS_START + rows.length;
  out.set(sha256(out.subarray(0, end)), end);
  return out;
}

/** Returns the table in a file with this head, or `undefined` when it is another one's or damaged. */
function decodeTable(bytes: Uint8Array, head: Uint8Array): KnownTable | undefined {
  const end = bytes.length - SUM_BYTES;
  if (end < ROWS_START || (end - ROWS_START) % BLOCK_ROW_BYTES !== 0) return undefined;
  if (!equalBytes(bytes.subarray(0, HEAD_BYTES), head)) return undefined;
  if (!equalBytes(sha256(bytes.subarray(0, end)), bytes.subarray(end))) return undefined;
  const idsChecksum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(HEAD_BYTES, true);
  return { blocks: new BlockTable(wordsOf(bytes.subarray(ROWS_START, end))), idsChecksum };
}

/** Returns bytes as words, uncopied where they lie as words do. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(buffer, byteOffset, length / 4);
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
