/** Reads tables. `docs/format.md` describes the file. */

import { compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import { corrupt } from "../../base/errors.ts";
import { crc32 } from "../../base/platform.ts";
import { Block, BlockCursor } from "./block.ts";
import { BlockCache, CachedBlocks } from "./block_cache.ts";
import { BlockRun } from "./block_run.ts";
import type { ByteSource } from "./byte_source.ts";
import type { BlockMemory } from "./compression.ts";
import { type BlockHandle, decodeHandle } from "./footer.ts";
import { decodeAt } from "./malformed.ts";
import {
  decodeNames,
  decodeProperties,
  PROPERTIES_BLOCK,
  type TableProperties,
  type UserProperties,
} from "./properties.ts";
import { type MakeRecord, RecordDecoder, type TableRecord, tableRecord, type ValuePlace } from "./records.ts";
import { TableScan } from "./scan.ts";
import { type ReadCounts, TableFile } from "./table_file.ts";
import { TableIndex } from "./table_index.ts";

/** A step of a scan is a block, unless that has more records than these. */
const MAX_STEP_RECORDS = 4096;
/** Metaindex names of blocks that delete ranges of keys begin so. */
const RANGE_DELETIONS = "rocksdb.range_del";
/** So many look-ups in an unparsed index cost less than parsing it. */
const FIRST_LOOKS = 4;
/** What an open table takes beside its index and the bytes of a small file, roughly. */
const OPEN_BYTES = 4096;
/** What a table keeps when it shares no cache: about the block of the last look-up. */
const OWN_CACHE_BYTES = 1024 * 1024;

/** What blocks lie in on their way to the cache. */
const passingMemory: BlockMemory = { bytes: EMPTY_BYTES };

/** What {@link TableReader.peek} returns when it would have to read. */
export const NOT_CACHED = Symbol("not cached");

export interface TableReaderOptions {
  /** Keeps blocks that look-ups read. */
  readonly cache?: BlockCache;
  /** Counts what is read. */
  readonly counts?: ReadCounts;
}

/** A key, and how many bytes all keys of the block that may hold it have in common with it. */
interface Sought {
  readonly key: Uint8Array;
  readonly prefix: number;
}

/** Neighbouring blocks, and what is known of all blocks. */
export interface StoredRun {
  readonly from: number;
  readonly to: number;
  readonly known: { fingerprint(i: number): number };
}

interface TableParts {
  readonly file: TableFile;
  /** Of the properties only what is used again and again: all of them would be most of a small table's memory. */
  readonly user: UserProperties;
  readonly recordCount: number | undefined;
  readonly propertiesHandle: BlockHandle | undefined;
  /** Tells apart files with the same records: the stored checksum of the index, which names all blocks. */
  readonly indexChecksum: number;
  /** The blocks beside data and index: properties, filters. */
  readonly metaHandles: readonly BlockHandle[];
}

/**
 * An open table. Its index stays in memory, parsed once it is worth it, and so does the whole of a file of at most 64 KiB.
 *
 * Calls may run side by side. They fail with `corrupt_file` (kind `corrupt`) on damage in what they read, and else only
 * as the source does. A get trusts that keys are in order; a scan checks it.
 */
export class TableReader {
  readonly userProperties: UserProperties;
  readonly #table: TableParts;
  readonly #cache: BlockCache;
  #blocks: CachedBlocks | undefined;
  readonly #loading = new Map<number, Promise<Block | undefined>>();
  #index: TableIndex | undefined;
  /** The index as it was read, as long as it has not been parsed. */
  #unparsed: Block | undefined;
  #looked = 0;

  /** The index comes as it was read, or parsed already when it stands in parts. */
  private constructor(
    table: TableParts,
    { index, cache }: { readonly index: Block | TableIndex; readonly cache: BlockCache },
  ) {
    this.userProperties = table.user;
    if (index instanceof TableIndex) this.#index = index;
    else this.#unparsed = index;
    this.#table = table;
    this.#cache = cache;
  }

  /** Opens a table with one read of its end, and one more when its index does not fit that. */
  static async open(source: ByteSource, options: TableReaderOptions = {}): Promise<TableReader> {
    const file = await TableFile.open(source, options.counts);
    const footer = file.footer();
    const metaindex = await file.loadBlock(footer.metaindex, "plain");
    const handles = new Map<string, BlockHandle>();
    for (const [name, value] of decodeNames(metaindex)) {
      if (name.startsWith(RANGE_DELETIONS)) metaindex.fail("range deletions, which no table here has,");
      handles.set(name, decodeAt(metaindex.place, () => decodeHandle(value)));
    }
    const propertiesHandle = handles.get(PROPERTIES_BLOCK);
    const { user, recordCount, partitionedIndex } = await loadProperties(file, propertiesHandle);
    const stored = await file.readStored(footer.index);
    const top = file.openBlock(footer.index, { keyForm: "separator", stored });
    const index = partitionedIndex ? await loadPartitions(top, file) : top;
    file.releaseTail();
    const indexChecksum = file.storedChecksum(footer.index, stored);
    const metaHandles = [...handles.values()];
    const table = { file, user, recordCount, propertiesHandle, indexChecksum, metaHandles };
    return new TableReader(table, { index, cache: options.cache ?? new BlockCache(OWN_CACHE_BYTES) });
  }

  /** The parsed index. */
  get index(): TableIndex {
    if (this.#index) return this.#index;
    this.#index = TableIndex.of([this.#unparsed!], this.#table.file);
    this.#unparsed = undefined;
    return this.#index;
  }

  /** What stays in memory of it, roughly: of an index that has not been parsed somewhat more than of one that has. */
  get memoryBytes(): number {
    const { file } = this.#table;
    return OPEN_BYTES + file.memoryBytes + (this.#index?.memoryBytes ?? this.#unparsed!.bytes.length);
  }

  /** Returns all that the file says of itself, by name. */
  async properties(): Promise<ReadonlyMap<string, Uint8Array>> {
    const { file, propertiesHandle } = this.#table;
    return (await loadProperties(file, propertiesHandle)).raw;
  }

  get sizeBytes(): number {
    return this.#table.file.sizeBytes;
  }

  get indexChecksum(): number {
    return this.#table.indexChecksum;
  }

  /** Returns the value of a key, in memory of its own. */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const found = this.find(key);
    const place = found instanceof Promise ? await found : found;
    return place && place.valueBytes.slice(place.valueStart, place.valueEnd);
  }

  /**
   * Returns where the value of a key lies, at once if that needs no reading. The place holds until anything else happens:
   * who keeps the value copies it there and then.
   */
  find(key: Uint8Array): ValuePlace | undefined | Promise<ValuePlace | undefined> {
    if (this.#isFirstLook()) return this.#findUnparsed(key);
    const { index } = this;
    const i = index.firstAtOrAfter(key);
    if (i === index.count) return undefined;
    const blocks = this.#blocks;
    const sought = { key, prefix: index.sharedPrefix };
    return blocks?.has(i) ? this.#cache.find(blocks, i, sought) : this.#findIn(i, sought);
  }

  /** Returns what {@link find} does if that needs no reading. */
  peek(key: Uint8Array): ValuePlace | undefined | typeof NOT_CACHED {
    const { index } = this;
    const i = index.firstAtOrAfter(key);
    if (i === index.count) return undefined;
    const blocks = this.#blocks;
    return blocks?.has(i) ? this.#cache.find(blocks, i, { key, prefix: index.sharedPrefix }) : NOT_CACHED;
  }

  /** Returns the first record whose key is `key` or sorts after it. */
  async seek(key: Uint8Array): Promise<TableRecord | undefined> {
    if (this.#isFirstLook()) {
      const block = await this.#blockFor(key);
      const [record] = block ? new RecordDecoder(block, { start: key, make: tableRecord }).next(1) : [];
      if (record || !block) return record;
    }
    // A separator may lie above its block's last key: then the record is the first of a later block.
    for (let i = this.index.firstAtOrAfter(key); i < this.index.count; i++) {
      const decoder = new RecordDecoder(await this.block(i), { start: key, make: tableRecord });
      const [record] = decoder.next(1);
      if (record) return record;
    }
    return undefined;
  }

  /** Returns a data block, from the cache if it is there. One that many ask for is read once. */
  async block(i: number): Promise<Block> {
    return this.cachedBlock(i) ?? await this.#load(i) ?? this.cachedBlock(i) ?? await this.readBlock(i);
  }

  /** Reads a data block past the cache: for walks, whose blocks no look-up may want. */
  async readBlock(i: number): Promise<Block> {
    return await this.#table.file.loadBlock(this.index.handle(i), "record");
  }

  /** Returns a data block, in memory of its own, if it is in the cache. */
  cachedBlock(i: number): Block | undefined {
    const blocks = this.#blocks;
    if (!blocks?.has(i)) return undefined;
    return this.#cache.copy(blocks, i, { file: this.#table.file.name, offset: this.index.offset(i) });
  }

  /** Returns the records of data block `i`, checked against the index. They are views of its memory. */
  recordsOf<T extends { readonly key: Uint8Array }>(block: Block, i: number, make: MakeRecord<T>): T[] {
    const records = new RecordDecoder(block, { make }).next(Infinity);
    this.#checkBounds(block, i, records);
    return records;
  }

  /**
   * Returns blocks as they are stored, from one (inclusive) to another (exclusive), which follow gaplessly. They lie in `into`,
   * if it has room for them. They are not checked: {@link firstOther} and {@link checkStored} do that.
   */
  async storedBlocks(from: number, to: number, into?: Uint8Array): Promise<Uint8Array> {
    const { index } = this, { file } = this.#table;
    const length = index.end(to - 1) - index.offset(from);
    if (file.mayRenew) return await file.readSound(index.handles(from, to), into);
    const out = into && into.length >= length ? into.subarray(0, length) : new Uint8Array(length);
    await file.readInto(out, index.offset(from));
    return out;
  }

  /**
   * Returns the first of some stored blocks, which begin with block `from` and end before block `to`, that has another
   * fingerprint than is known of it, or `to`.
   */
  firstOther(stored: Uint8Array, { from, to, known }: StoredRun): number {
    const { index } = this, start = index.offset(from);
    for (let i = from, at = 0; i < to; i++) {
      const end = index.end(i) - start;
      if (crc32(stored.subarray(at, end)) !== known.fingerprint(i)) return i;
      at = end;
    }
    return to;
  }

  /** Fails with `corrupt_file` unless the checksum of a block among stored ones holds. */
  checkStored(i: number, { from, stored }: { from: number; stored: Uint8Array }): void {
    const handle = this.index.handle(i);
    this.#table.file.checkSum(handle, stored.subarray(handle.offset - this.index.offset(from)));
  }

  /**
   * Yields the records from the first key that is `start` or sorts after it, in order: a data block a step, or a part of
   * one that holds very many. Reads ahead, up to 1 MiB at once, past the cache. A value is a view of its block's memory, so
   * who keeps a few of many copies them.
   */
  blocks(start?: Uint8Array): AsyncGenerator<readonly TableRecord[], void, undefined> {
    return this.blocksOf(tableRecord, start);
  }

  /** Yields what {@link blocks} does, each record as `make` makes it. */
  async *blocksOf<T extends { readonly key: Uint8Array }>(
    make: MakeRecord<T>,
    start?: Uint8Array,
  ): AsyncGenerator<readonly T[], void, undefined> {
    const first = start ? this.index.firstAtOrAfter(start) : 0;
    for (let i = first, run = new BlockRun(this.#table.file, this.index); i < this.index.count; i++) {
      const block = run.block(i) ?? await run.load(i);
      const decoder = new RecordDecoder(block, { start: i === first ? start : undefined, make });
      for (
        let step = decoder.next(MAX_STEP_RECORDS);
        step.length > 0;
        step = decoder.next(MAX_STEP_RECORDS)
      ) {
        this.#checkBounds(block, i, step);
        yield step;
      }
    }
  }

  /** Starts walking the records from the first key that is `start` or sorts after it, without an object a record. */
  scan(start?: Uint8Array): TableScan {
    return new TableScan(this.index, this.readAhead(), start);
  }

  /** Starts reading blocks one after the other, ahead and past the cache: at first about so many bytes, then more and more. */
  readAhead(firstReadBytes?: number): BlockRun {
    return new BlockRun(this.#table.file, this.index, firstReadBytes);
  }

  /** Reads the whole file; fails unless all checksums, the order of keys and the number of records are right. */
  async verify(): Promise<void> {
    const { file, recordCount, metaHandles } = this.#table;
    let metaBytes = 0;
    for (const handle of metaHandles) {
      file.checkSum(handle, await file.readStored(handle));
      metaBytes += handle.length;
      if (metaBytes > file.sizeBytes) corrupt(file.name, handle.offset, "blocks that overlap");
    }
    let count = 0;
    for await (const records of this.blocks()) count += records.length;
    if (count !== (recordCount ?? count)) {
      corrupt(file.name, 0, `${count} records where the properties say ${recordCount}`);
    }
  }

  /** Whether a look-up is one of the first: a short command that makes no more of them does not parse the whole index. */
  #isFirstLook(): boolean {
    return !this.#index && this.#looked++ < FIRST_LOOKS;
  }

  /** Looks into the only data block that may hold `key`, found by the restart points of the index. */
  async #findUnparsed(key: Uint8Array): Promise<ValuePlace | undefined> {
    const block = await this.#blockFor(key);
    return block && findInBlock(block, { key, prefix: 0 });
  }

  async #findIn(i: number, sought: Sought): Promise<ValuePlace | undefined> {
    const block = await this.#load(i);
    if (block) return findInBlock(block, sought);
    // Other reads may have had it make way meanwhile.
    if (!this.#blocks!.has(i)) return findInBlock(await this.readBlock(i), sought);
    const place = this.#cache.find(this.#blocks!, i, sought);
    // Before whoever waits for it is told, the cache may be used again.
    return place && placeOfCopy(place);
  }

  /** Reads the only data block that may hold `key`, found by the restart points of the index. */
  async #blockFor(key: Uint8Array): Promise<Block | undefined> {
    const { file } = this.#table;
    const cursor = new BlockCursor(this.#unparsed!);
    if (cursor.seek(key) < 0) return undefined;
    const handle = decodeAt(cursor.block.place, () => decodeHandle(cursor.value()));
    return await file.loadBlock(handle, "record");
  }

  /** Reads a data block into the cache; returns it only if it is not kept there. One that many ask for is read once. */
  #load(i: number): Promise<Block | undefined> {
    let loading = this.#loading.get(i);
    if (!loading) {
      loading = this.#read(i).finally(() => this.#loading.delete(i));
      this.#loading.set(i, loading);
    }
    return loading;
  }

  async #read(i: number): Promise<Block | undefined> {
    const { index } = this, cache = this.#cache;
    if (!cache.keepsAny) return await this.readBlock(i);
    const blocks = this.#blocks ??= new CachedBlocks(index.count);
    return await this.#table.file.withBlock(index.handle(i), "record", {
      // The cache has a copy of it, so the memory serves the next one.
      memory: passingMemory,
      use: (block) => cache.add(blocks, i, block) ? undefined : copyOf(block),
    });
  }

  /** Fails unless records of a block lie between the separators around it. */
  #checkBounds(block: Block, i: number, records: readonly { readonly key: Uint8Array }[]): void {
    if (records.length === 0) return;
    if (i > 0 && compareBytes(records[0]!.key, this.index.separator(i - 1)) <= 0) {
      block.fail("keys that belong to an earlier block");
    }
    if (compareBytes(records[records.length - 1]!.key, this.index.separator(i)) > 0) {
      block.fail("keys that belong to a later block");
    }
  }
}

function copyOf({ bytes, keyForm, place }: Block): Block {
  return new Block(bytes.slice(), { keyForm, place });
}

function placeOfCopy({ valueBytes, valueStart, valueEnd }: ValuePlace): ValuePlace {
  return {
    valueBytes: valueBytes.slice(valueStart, valueEnd),
    valueStart: 0,
    valueEnd: valueEnd - valueStart,
  };
}

function findInBlock(block: Block, { key, prefix }: Sought): ValuePlace | undefined {
  const cursor = new BlockCursor(block);
  if (cursor.seek(key, prefix) !== 0) return undefined;
  cursor.checkIsRecord();
  return cursor;
}

async function loadProperties(file: TableFile, handle: BlockHandle | undefined): Promise<TableProperties> {
  return decodeProperties(handle && await file.loadBlock(handle, "plain"));
}

/** Returns the index that stands in parts. */
async function loadPartitions(block: Block, file: TableFile): Promise<TableIndex> {
  const top = TableIndex.of([block], file);
  const blocks: Block[] = [];
  for (let i = 0; i < top.count; i++) blocks.push(await file.loadBlock(top.handle(i), "separator"));
  return TableIndex.of(blocks, file);
}
