/** The part of lmdb-js that the driver uses, some of which the package's own types leave out. */

import { type NativeFolders, prepareNative } from "./native.ts";

/** A read transaction; while it is reset, the next read through it begins a new snapshot. */
export interface LmdbReadTransaction {
  readonly address: number;
}

export interface LmdbRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly limit: number;
  /** Without it the range is read in the open write transaction. */
  readonly transaction?: LmdbReadTransaction;
}

export interface LmdbDatabase {
  get(key: Uint8Array, options?: { transaction: LmdbReadTransaction } | undefined): Uint8Array | undefined;
  /** The keys come without their partition (`codec.ts`). */
  getRange(options: LmdbRange): Iterable<{ key: Uint8Array; value: Uint8Array }>;
  put(key: Uint8Array, value: Uint8Array): unknown;
  remove(key: Uint8Array): unknown;
  /** Runs `body` in a write transaction; one that returns a promise would only commit when that settles. */
  transactionSync(body: () => void): void;
  useReadTransaction(): LmdbReadTransaction;
  resetReadTxn(): void;
  readerCheck(): number;
  /** A heading, and a line a reader. */
  readerList(): string;
  getStats(): {
    pageSize: number;
    lastPageNumber: number;
    mapSize: number;
    maxReaders: number;
    lastTxnId: number;
  };
  close(): Promise<void>;
}

export interface LmdbModule {
  open(path: string, options: Record<string, unknown>): LmdbDatabase;
  readonly nativeAddon: { resetTxn(address: number): void };
}

/** Loads the package; in the compiled executable its native part is put on disk first. Fails with `native_unavailable`. */
export async function loadLmdb(folders: NativeFolders | undefined): Promise<LmdbModule> {
  prepareNative(folders);
  return (await import("lmdb")) as unknown as LmdbModule;
}
