/**
 * Range and metarange files in the storage namespace: `_lakefs/<id>`, immutable, named by content.
 *
 * One reader a file in flight; open readers are kept while their indexes have room, the least recently used dropped.
 */

import { CodedError, corrupt, isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import {
  type ByteSource,
  type FinishedTable,
  type ReadCounts,
  TableReader,
  type TableReaderOptions,
} from "../sstable/mod.ts";
import type { DiskCache } from "../../cache/mod.ts";
import { isFileId } from "./ids.ts";
import { keptSource } from "./kept_source.ts";
import { OpenRange } from "./open_range.ts";
import type { RangeInfo } from "./range.ts";
import { type Side, type SideOptions, Sides } from "./sides.ts";
import { sparePieces } from "./spare_memory.ts";
import { SupersededRanges } from "./superseded.ts";
import { TableBody } from "./table_body.ts";
import { SharedTableCaches, type TableCaches } from "./table_caches.ts";

/** What was read and written, counted up: what a commit, diff or merge costs, whatever machine it runs on. */
export interface FileCounts extends ReadCounts {
  tablesWritten: number;
  bytesWritten: number;
  /** Taken over from an older range as they are. */
  blocksCopied: number;
  /** Taken over by ID. */
  rangesReused: number;
}

const FOLDER = "_lakefs";

/**
 * The disk is to begin with so much, while more is made. With less it waits: while a file system writes its own journal, who
 * makes the next file waits for it.
 */
const EARLY_BYTES = 4 * 1024 * 1024;

/** A commit of more tables is a large one, and not soon followed by another. */
const MOST_AHEAD = 4;

export interface TableFilesOptions {
  /** With it ranges have sides: equal blocks are skipped and unchanged ones copied without being decoded. */
  readonly sides?: SideOptions;
  /** Keeps copies of tables whose namespace is far away. */
  readonly tables?: DiskCache;
  /** Makes durable what the records of a range name; returns false when a part of it is not there, or damaged. */
  readonly vouch?: (range: TableReader) => Promise<boolean>;
  /** What may be kept in memory; without it there are caches of these files' own. */
  readonly caches?: TableCaches;
  /** What decoded blocks may take in memory in caches of their own. */
  readonly cacheBytes?: number;
}

export class TableFiles {
  readonly counts: FileCounts = {
    tablesOpened: 0,
    blocksRead: 0,
    bytesRead: 0,
    tablesWritten: 0,
    bytesWritten: 0,
    blocksCopied: 0,
    rangesReused: 0,
  };
  readonly #objects: ObjectStore;
  readonly #caches: TableCaches;
  readonly #tables: DiskCache | undefined;
  readonly #vouch: TableFilesOptions["vouch"];
  readonly #sides: Sides | undefined;
  readonly #flushing = new Set<Promise<void>>();
  /** Keys of tables that no flush was started of. */
  readonly #written: string[] = [];
  #writtenBytes = 0;
  readonly #superseded = new SupersededRanges();
  readonly #opening = new Map<string, Promise<TableReader>>();

  constructor(
    objects: ObjectStore,
    { sides, tables, vouch, cacheBytes, caches = new SharedTableCaches(cacheBytes).of("") }:
      TableFilesOptions = {},
  ) {
    this.#tables = tables;
    this.#vouch = vouch;
    this.#objects = objects;
    this.#caches = caches;
    this.#sides = sides && new Sides({ ...sides, caches });
  }

  /** Returns a table if it is open. */
  opened(id: string): TableReader | undefined {
    return this.#caches.open.get(id);
  }

  /** Opens a table. Fails with `corrupt_file` when it is missing or damaged. */
  async open(id: string): Promise<TableReader> {
    const known = this.#caches.open.get(id);
    if (known) return known;
    let opening = this.#opening.get(id);
    if (!opening) {
      opening = this.#openFile(id).finally(() => this.#opening.delete(id));
      this.#opening.set(id, opening);
    }
    const reader = await opening;
    if (!this.#caches.open.get(id)) this.#caches.open.set(id, reader, reader.memoryBytes);
    return reader;
  }

  /**
   * Opens a range with its side, if it can have one. `isOurs` says that it is named by our formula: then other records than
   * its ID says are damage, and nothing may be built on them.
   */
  async openRange(
    info: RangeInfo,
    { table, isOurs }: { readonly table: TableReader; readonly isOurs: boolean },
  ): Promise<OpenRange> {
    const sides = this.#sides;
    const loadBlocks = async () => {
      const blocks = await sides?.blockTable(info.id, table);
      if (isOurs && sides?.isMisnamed(info.id)) {
        corrupt(fileKey(info.id), 0, "other records than its name says");
      }
      return blocks;
    };
    return new OpenRange(info, {
      table,
      blocks: await loadBlocks(),
      renewBlocks: async () => {
        await sides?.forget(info.id);
        return await loadBlocks();
      },
      loadIds: async (into) => await sides?.recordIds(info.id, table, into),
    });
  }

  /**
   * Stores a table under its ID unless a sound one is there already. An existing file that does not verify is written
   * again: it may be what a crash left of somebody's write. So is a sound range of other bytes than ours that names what is
   * not there; what it names is made durable otherwise, since who wrote it may never have come to that. Returns whether it
   * was written. It may be on its way to the disk then; whether it has come there is for {@link flush} to tell.
   */
  async write(id: string, table: TableBody, kind: "range" | "metarange"): Promise<boolean> {
    try {
      const isNew = await this.#put(id, table, kind);
      this.#written.push(fileKey(id));
      if (kind === "range" && isNew) this.#superseded.noteWritten(id);
      this.#writtenBytes += table.sizeBytes;
      if (this.#writtenBytes >= EARLY_BYTES) this.#startFlush();
      return isNew;
    } finally {
      await table.dispose();
    }
  }

  /** Returns where a table may be written that then is stored by {@link write}, or else disposed of. */
  newBody(): TableBody {
    return new TableBody({ objects: this.#objects, folder: FOLDER, pool: sparePieces });
  }

  /** Keeps the side of a range that was written. */
  async keepSide(id: string, side: Side, table: FinishedTable): Promise<void> {
    await this.#sides?.keep(id, side, table);
  }

  async #put(id: string, table: TableBody, kind: "range" | "metarange"): Promise<boolean> {
    try {
      await table.put(fileKey(id), "if_absent");
    } catch (error) {
      if (!isCoded(error, "object_exists")) throw error;
      // What is known of our bytes need not hold of those that are there: their blocks may end elsewhere.
      if (await this.#isSame(id, table) || await this.#isSound(id, kind === "range")) return false;
      this.#caches.open.delete(id);
      await table.put(fileKey(id), "replace");
      await this.#sides?.forget(id);
    }
    this.counts.tablesWritten++;
    this.counts.bytesWritten += table.sizeBytes;
    return true;
  }

  #startFlush(): void {
    const keys = this.#written.splice(0);
    this.#writtenBytes = 0;
    const flushing = (this.#objects.flushData?.(keys) ?? this.#objects.flush(keys)).catch(() => {});
    this.#flushing.add(flushing);
    flushing.finally(() => this.#flushing.delete(flushing));
  }

  /** Waits until nothing is written any more that only saves time later. */
  async settled(): Promise<void> {
    await this.#sides?.settled();
  }

  /** Makes tables survive power loss, whoever wrote them. */
  async flush(ids: readonly string[]): Promise<void> {
    this.#written.length = this.#writtenBytes = 0;
    await Promise.all(this.#flushing);
    const flushing = ids.length > 0 ? this.#objects.flush(ids.map(fileKey)) : undefined;
    // While the disk is at work.
    const superseded = this.#superseded.take();
    this.#letGo(superseded);
    // Who has replaced a range of his own will soon replace this one.
    if (superseded.length > 0 && ids.length <= MOST_AHEAD) { for (const id of ids) this.#openAhead(id); }
    await flushing;
  }

  #openAhead(id: string): void {
    // Who opens it in earnest hears of a failure.
    this.open(id).then(({ index }) => index).catch(() => {});
  }

  #letGo(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) {
      this.#caches.open.delete(id);
      this.#sides?.letGo(id);
    }
    this.#objects.letGo?.(ids.map(fileKey));
  }

  /** Is told that a range took over what is in another one. */
  noteCopied(id: string): void {
    this.#superseded.noteCopied(id);
  }

  /** Returns whether the table is there, byte for byte: then it names what ours names. */
  async #isSame(id: string, table: TableBody): Promise<boolean> {
    try {
      return await table.equals(fileKey(id));
    } catch (error) {
      if (isCoded(error) && (error.kind === "corrupt" || error.kind === "not_found")) return false;
      throw error;
    }
  }

  /** Returns whether the table exists, every checksum in it holds, and if it is a range, whether what it names is there. */
  async #isSound(id: string, isRange: boolean): Promise<boolean> {
    try {
      const reader = await this.#openFile(id);
      await reader.verify();
      return !isRange || (await this.#vouch?.(reader)) !== false;
    } catch (error) {
      if (isCoded(error) && error.kind === "corrupt") return false;
      throw error;
    }
  }

  async #openFile(id: string): Promise<TableReader> {
    if (!isFileId(id)) {
      throw new CodedError("corrupt", "corrupt_file", `Cannot open table "${id}": it is no valid ID`);
    }
    const key = fileKey(id);
    const info = await this.#objects.head(key);
    if (!info) {
      throw new CodedError("corrupt", "missing_file", `Cannot open table "${key}": the file is missing`, {
        details: { file: key },
      });
    }
    const origin = objectSource(this.#objects, key, info.sizeBytes);
    const options = { cache: this.#caches.blocks, counts: this.counts };
    const disk = this.#tables;
    if (!disk) return await openNamed(id, origin, options);
    const source = await keptSource({ id, origin, disk });
    try {
      return await openNamed(id, source, options);
    } catch (error) {
      // The copy may be at fault.
      if (!isCoded(error) || error.kind !== "corrupt" || !await source.forget?.()) throw error;
      return await openNamed(id, source, options);
    }
  }
}

/** Opens a table. Fails with `corrupt_file` also when it says itself that it is another one; lakeFS's files say nothing. */
async function openNamed(id: string, source: ByteSource, options: TableReaderOptions): Promise<TableReader> {
  const table = await TableReader.open(source, options);
  const own = table.userProperties.id;
  if (own === undefined || own === id) return table;
  throw new CodedError(
    "corrupt",
    "corrupt_file",
    `Cannot read "${source.name}": the file is another one under this name, "${own}"`,
    { details: { file: source.name } },
  );
}

function fileKey(id: string): string {
  return `${FOLDER}/${id}`;
}

function objectSource(objects: ObjectStore, key: string, sizeBytes: number): ByteSource {
  return { name: key, sizeBytes, read: (offset, length, into) => objects.read(key, offset, length, into) };
}
