/**
 * What is kept in memory of tables: their indexes, decoded blocks, and sides. One bound for all repositories of a process, since
 * a server may serve any number of them.
 */

import { BlockCache, type TableReader } from "../sstable/mod.ts";
import type { BlockTable } from "./block_table.ts";
import type { DerivedIds } from "./id_runs.ts";
import { ByteLru } from "../../base/byte_lru.ts";

const DEFAULT_BLOCK_BYTES = 64 * 1024 * 1024;
/**
 * Room for the indexes of more than 300 ranges, as they are read, which is more than they then take: both versions of the ranges
 * in which two commits over ten million keys differ, when they differ in most.
 */
const INDEX_BYTES = 72 * 1024 * 1024;
const SIDE_BYTES = 32 * 1024 * 1024;
/** Of a server that makes small commits all day nearly all tables are of old ones, which nobody asks for again. */
const MOST_TABLES = 1024;

/** A block table, and what the record IDs of its range are known by. */
export interface KnownTable {
  readonly blocks: BlockTable;
  readonly idsChecksum: number;
  /** How they are kept, if not whole. */
  readonly ids?: DerivedIds;
}

/** A part of a cache, for the tables of one repository. */
export interface Kept<T> {
  get(id: string): T | undefined;
  set(id: string, value: T, bytes: number): void;
  delete(id: string): void;
}

/** The caches as one repository has them. */
export interface TableCaches {
  readonly blocks: BlockCache;
  readonly open: Kept<TableReader>;
  readonly sides: Kept<KnownTable>;
  readonly recordIds: Kept<Uint8Array>;
}

export class SharedTableCaches {
  readonly #blocks: BlockCache;
  readonly #open = new ByteLru<TableReader>(INDEX_BYTES, MOST_TABLES);
  readonly #sides = new ByteLru<KnownTable>(SIDE_BYTES, MOST_TABLES);
  readonly #recordIds = new ByteLru<Uint8Array>(SIDE_BYTES, MOST_TABLES);

  /** `blockBytes` is what decoded blocks may take. */
  constructor(blockBytes = DEFAULT_BLOCK_BYTES) {
    this.#blocks = new BlockCache(blockBytes);
  }

  /** Returns the caches for a repository, whose name no other one may have: files of one ID may differ between them. */
  of(repository: string): TableCaches {
    return {
      blocks: this.#blocks,
      open: partOf(this.#open, repository),
      sides: partOf(this.#sides, repository),
      recordIds: partOf(this.#recordIds, repository),
    };
  }
}

function partOf<T>(cache: ByteLru<T>, name: string): Kept<T> {
  return {
    get: (id) => cache.get(name + id),
    set: (id, value, bytes) => cache.set(name + id, value, bytes),
    delete: (id) => cache.delete(name + id),
  };
}
