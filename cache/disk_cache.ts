/**
 * Immutable files kept on local disk, so that what was fetched once need not be fetched again.
 *
 * Many processes may use one folder at a time, without a lock: a file comes under its name whole, by a rename, and one
 * that vanishes under a reader is a miss. The bound on the folder's bytes and the order of eviction are approximate:
 *
 *     <folder>/<key>             0600; its mtime says when it was last used, to the hour
 *     <folder>/.tmp-<random>     being written; left behind by a killed process, it goes after an hour
 *
 * Contents are not checked here: nothing is flushed, so after a power loss a file may hold anything. Callers check the
 * checksums that their formats carry, and delete what does not hold.
 */

import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  write,
  writeSync,
} from "node:fs";
import { readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { EMPTY_BYTES, hex, plainBytes } from "../base/bytes.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { assertInvariant, CodedError } from "../base/errors.ts";
import { makeFolderWithin } from "../base/folders.ts";
import { type Randomness, systemRandomness } from "../base/randomness.ts";
import { evict, type FileKind } from "./eviction.ts";

export interface DiskCache {
  /** Returns a whole file, in `into` if that has room, or `undefined` when it is not there or cannot be read. */
  read(key: string, into?: Uint8Array): Promise<Uint8Array | undefined>;
  /** Returns bytes of a file, fewer than `length` only at its end, or `undefined` when they cannot be had. */
  readAt(key: string, offset: number, length: number): Promise<Uint8Array | undefined>;
  /** Reads parts of a file; returns whether all of them could be had whole. */
  readParts(
    key: string,
    parts: readonly { readonly offset: number; readonly into: Uint8Array }[],
  ): Promise<boolean>;
  /** Returns how long a file is, or `undefined` when it is not there. */
  size(key: string): Promise<number | undefined>;
  /** Keeps a file if it can; what stands in the way (a full disk, a read-only folder) is no failure of the caller's. */
  write(key: string, bytes: Uint8Array | readonly Uint8Array[]): Promise<void>;
  /** Forgets a file. */
  delete(key: string): Promise<void>;
}

export interface DiskCacheOptions {
  /** Made, with those above it, by the first write. */
  readonly folder: string;
  /** A folder above, which must be there: nothing is made where it is not. */
  readonly within?: string;
  readonly maxBytes: number;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Creates a file of the parts; for tests of what fails. */
  readonly createFile?: typeof createFile;
}

/** Returns a cache in a folder, which is not looked at before something is asked for. */
export function openDiskCache(options: DiskCacheOptions): DiskCache {
  return new FolderCache(options);
}

const KEY = /^[0-9a-zA-Z_-]+(\.[a-z]+)?$/;
const TEMPORARY = /^\.tmp-[0-9a-f]+$/;
const HOUR_MS = 60 * 60 * 1000;
/** After a failed write the next ones are not even tried for so long: there may be thousands. */
const PAUSE_MS = 60 * 1000;
/** Eviction goes on down to this part of the bound, so that not each write evicts. */
const KEPT_PART = 0.9;
/** The folder is looked at again when this part of the bound was written: other processes write too. */
const SCAN_PART = 0.05;
/** Reading or writing so much by way of the page cache takes less than handing it to another thread. */
const SMALL_BYTES = 256 * 1024;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

class FolderCache implements DiskCache {
  readonly #folder: string;
  readonly #within: string | undefined;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #createFile: typeof createFile;
  #pausedUntil = 0;
  /**
   * Bytes that may be written before the folder is looked at. At first by chance: of many short processes, each of which writes
   * little, one looks when together they have written about as much as a long one does.
   */
  #bytesToScan: number;
  #isScanning = false;

  constructor(options: DiskCacheOptions) {
    const { folder, maxBytes, clock = systemClock, randomness = systemRandomness } = options;
    const { createFile: create = createFile } = options;
    this.#bytesToScan = randomness.fraction() * maxBytes * SCAN_PART;
    this.#folder = folder;
    this.#within = options.within;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
    this.#createFile = create;
  }

  async read(key: string, into: Uint8Array = EMPTY_BYTES): Promise<Uint8Array | undefined> {
    const path = this.#pathOf(key);
    // Into memory that is there already it takes little, however large the file is.
    const small = this.#use(path, (fd, { size }) => {
      if (size <= into.length) return readPart(fd, { offset: 0, out: into.subarray(0, size) });
      return size <= SMALL_BYTES ? readPart(fd, { offset: 0, out: new Uint8Array(size) }) : "large";
    });
    if (small !== "large") return small;
    const bytes = await readFile(path).catch(() => undefined);
    return bytes && plainBytes(bytes);
  }

  async readAt(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.#use(this.#pathOf(key), (fd, { size }) => {
      return readPart(fd, { offset, out: new Uint8Array(Math.max(0, Math.min(length, size - offset))) });
    });
  }

  async readParts(
    key: string,
    parts: readonly { readonly offset: number; readonly into: Uint8Array }[],
  ): Promise<boolean> {
    const wasRead = this.#use(this.#pathOf(key), (fd) => {
      return parts.every(({ offset, into }) => readPart(fd, { offset, out: into }).length === into.length);
    });
    return wasRead ?? false;
  }

  async size(key: string): Promise<number | undefined> {
    const path = this.#pathOf(key);
    try {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isFile() ? found.size : undefined;
    } catch (error) {
      if (!isOfSystem(error)) throw error;
      return undefined;
    }
  }

  async write(key: string, bytes: Uint8Array | readonly Uint8Array[]): Promise<void> {
    const path = this.#pathOf(key);
    const parts = bytes instanceof Uint8Array ? [bytes] : bytes;
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    if (size > this.#maxBytes * KEPT_PART || this.#clock.now() < this.#pausedUntil) return;
    try {
      await this.#place(path, parts);
      this.#bytesToScan -= size;
      // Other writes do not wait for it.
      if (this.#bytesToScan < 0 && !this.#isScanning) await this.#scan();
    } catch (error) {
      if (!isOfSystem(error)) throw error;
      this.#pausedUntil = this.#clock.now() + PAUSE_MS;
    }
  }

  async delete(key: string): Promise<void> {
    await unlink(this.#pathOf(key)).catch(() => {});
  }

  #pathOf(key: string): string {
    assertInvariant(KEY.test(key), `"${key}" is no key of a disk cache`);
    return join(this.#folder, key);
  }

  /** Opens a file for one use and notes that it was used; what the system refuses is a miss. */
  #use<T>(path: string, use: (fd: number, found: Stats) => T): T | undefined {
    let fd: number | undefined;
    try {
      fd = openSync(path, READ_FLAGS);
      const found = fstatSync(fd);
      if (!found.isFile()) return undefined;
      this.#touch(fd, found);
      return use(fd, found);
    } catch (error) {
      if (!isOfSystem(error)) throw error;
      return undefined;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  #touch(fd: number, { mtimeMs }: Stats): void {
    const now = this.#clock.now();
    if (Math.abs(now - mtimeMs) < HOUR_MS) return;
    try {
      futimesSync(fd, now / 1000, now / 1000);
    } catch (error) {
      // A folder that may only be read is still worth reading.
      if (!isOfSystem(error)) throw error;
    }
  }

  async #place(path: string, parts: readonly Uint8Array[]): Promise<void> {
    const temporary = join(this.#folder, `.tmp-${hex(systemRandomness.bytes(12))}`);
    const modifiedMs = this.#clock.now();
    try {
      try {
        await this.#createFile(temporary, { parts, modifiedMs });
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
        this.#makeFolder();
        await this.#createFile(temporary, { parts, modifiedMs });
      }
      renameSync(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  }

  #makeFolder(): void {
    if (this.#within === undefined) mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    else makeFolderWithin({ folder: this.#folder, within: this.#within });
  }

  async #scan(): Promise<void> {
    this.#isScanning = true;
    try {
      const maxBytes = this.#maxBytes;
      const limits = { maxBytes, keptBytes: maxBytes * KEPT_PART, now: this.#clock.now(), kindOf };
      const total = await evict(this.#folder, limits);
      this.#bytesToScan = Math.min(maxBytes - total, maxBytes * SCAN_PART);
    } finally {
      this.#isScanning = false;
    }
  }
}

function kindOf(name: string): FileKind {
  if (TEMPORARY.test(name)) return "temporary";
  return KEY.test(name) ? "cached" : undefined;
}

/** Fills `out` from an offset on; returns less of it where the file ends. */
function readPart(fd: number, { offset, out }: { offset: number; out: Uint8Array }): Uint8Array {
  let at = 0;
  while (at < out.length) {
    const count = readSync(fd, out, at, out.length - at, offset + at);
    if (count === 0) break;
    at += count;
  }
  return out.subarray(0, at);
}

/**
 * Creates a file, which must be new, of the parts one after the other. Only what takes long goes to another thread: there are
 * few of them, and what waits for its turn may wait for a flush.
 */
async function createFile(
  path: string,
  { parts, modifiedMs }: { parts: readonly Uint8Array[]; modifiedMs: number },
): Promise<void> {
  const fd = openSync(path, "wx", 0o600);
  try {
    for (const part of parts) {
      for (let at = 0; at < part.length;) at += await writeSome(fd, part, at);
    }
    futimesSync(fd, modifiedMs / 1000, modifiedMs / 1000);
  } finally {
    closeSync(fd);
  }
}

/** Writes what is left of `bytes` from `at` on, or a part of it; returns how much. */
function writeSome(fd: number, bytes: Uint8Array, at: number): number | Promise<number> {
  const length = bytes.length - at;
  if (length <= SMALL_BYTES) return writeSync(fd, bytes, at, length);
  return new Promise((resolve, reject) => {
    write(fd, bytes, at, length, null, (error, written) => error ? reject(error) : resolve(written));
  });
}

function isOfSystem(error: unknown): boolean {
  return !(error instanceof CodedError) && codeOf(error) !== undefined;
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
