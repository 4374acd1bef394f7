/** The part of lmdb-js that the driver uses, some of which the package's own types leave out. */

import { type NativeFolders, prepareNative } from "./native.ts";

export interface LmdbDatabase {
  get(key: Uint8Array): Uint8Array | undefined;
  put(key: Uint8Array, value: Uint8Array): unknown;
  remove(key: Uint8Array): unknown;
  /** Runs `body` in a write transaction; one that returns a promise would only commit when that settles. */
  transactionSync(body: () => void): void;
  resetReadTxn(): void;
  readerCheck(): number;
  getStats(): { readonly mapSize: number };
  close(): Promise<void>;
}

export interface LmdbModule {
  open(path: string, options: Record<string, unknown>): LmdbDatabase;
}

/** Loads the package; in the compiled executable its native part is put on disk first. Fails with `native_unavailable`. */
export async function loadLmdb(folders: NativeFolders | undefined): Promise<LmdbModule> {
  prepareNative(folders);
  return (await import("lmdb")) as unknown as LmdbModule;
}
