/**
 * The files that were fetched, under a cache's folder. No folder on the way to one is a symlink: that is looked at once for
 * each folder and process.
 */

import {
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { dirname } from "node:path";
import { hex } from "../../base/bytes.ts";
import { type FileState, type LookAtFile, lookByRuntime } from "../../base/file_state.ts";
import { runningHash, sha256 } from "../../base/hashes.ts";
import { cacheClash } from "../errors.ts";
import type { CacheKey } from "../cache.ts";
import { errnoOf, isMissing } from "./failures.ts";
import { type Layout, makeFolderIn, shownKey } from "./layout.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Up to this a file is copied by a read and a write: to share blocks, and to read the copy, costs more. */
const SMALL_BYTES = 64 * 1024;
const MOST_REMEMBERED = 65_536;
/** How often folders may vanish while something is put into them. */
const MOST_TRIES = 10;
/** What a rename says when a folder has the name. */
const TAKEN = new Set(["EISDIR", "EEXIST", "ENOTEMPTY", "EPERM"]);

/** Reads a whole file; its state before and after tells whether it was written meanwhile. A seam for tests. */
export type HashFile = (path: string) => Promise<string>;

export interface ContentOptions {
  readonly look?: LookAtFile;
  readonly hashFile?: HashFile;
}

export class Content {
  readonly #layout: Layout;
  readonly #real = new Set<string>();
  readonly #look: LookAtFile;
  readonly #hashFile: HashFile;

  constructor(layout: Layout, { look = lookByRuntime, hashFile = sha256OfFile }: ContentOptions = {}) {
    this.#layout = layout;
    this.#look = look;
    this.#hashFile = hashFile;
  }

  /** Returns the state of a file, or `undefined` for anything else, behind a symlink too. */
  look(path: string): FileState | undefined {
    const state = this.#look(path);
    return state && this.#isReal(dirname(path)) ? state : undefined;
  }

  /** Returns the SHA-256 of a file and the state that it was read in, or `undefined` when it was written meanwhile. */
  async hash(path: string): Promise<{ sha256: string; state: FileState } | undefined> {
    const state = this.#look(path);
    if (!state) return undefined;
    try {
      const sha256 = await this.#hashFile(path);
      const after = this.#look(path);
      return after && isSameFile(state, after) ? { sha256, state } : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Copies a file to a new path, sharing its blocks where the disk can do that, if it is in the state of its record and the copy
   * has the hash of it; returns whether it could.
   */
  async clone(
    from: string,
    to: string,
    record: FileRecordState & { readonly sha256: string },
  ): Promise<boolean> {
    const state = this.look(from);
    if (!state || !isSameFile(state, record)) return false;
    try {
      if (record.size <= SMALL_BYTES) return copySmall(from, to, record.sha256);
      await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      if (await this.#hashFile(to) === record.sha256) return true;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    rmSync(to, { force: true });
    return false;
  }

  /**
   * Puts a temporary file under a key's path, whatever file is there. Fails with `cache_clash` when a folder is there, or a
   * file where a folder is needed.
   */
  place(temporary: string, key: CacheKey): FileState {
    const path = this.#layout.contentOf(key);
    this.#trying(() => {
      this.#makeFolder(dirname(path), key);
      try {
        renameSync(temporary, path);
      } catch (error) {
        if (!TAKEN.has(errnoOf(error) ?? "")) throw error;
        removeEmptyFolder(path, key, error);
        renameSync(temporary, path);
      }
    });
    const state = this.#look(path);
    if (!state) throw Object.assign(new Error("a placed file is not there"), { code: "ENOENT" });
    return state;
  }

  /** Removes a file, if it is in the state that is given or none is, and the folders that become empty. */
  remove(key: CacheKey, state?: FileRecordState): boolean {
    const path = this.#layout.contentOf(key);
    if (!this.#isReal(dirname(path))) return false;
    if (state) {
      const now = this.#look(path);
      if (!now || !isSameFile(now, state)) return false;
    }
    try {
      unlinkSync(path);
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    this.pruneFolders(dirname(path));
    return true;
  }

  /** Removes a folder and those around it, below the cache's own, as far as they are empty. */
  pruneFolders(folder: string): void {
    for (let at = folder; at.length > this.#layout.root.length; at = dirname(at)) {
      try {
        rmdirSync(at);
      } catch {
        return;
      }
      this.#real.delete(at);
    }
  }

  /** Makes the folder of a key, for one that has nothing in it. Fails with `cache_clash` when a file is in the way. */
  makeFolder(key: CacheKey): void {
    const path = this.#layout.contentOf(key);
    this.#real.delete(path);
    this.#trying(() => this.#makeFolder(path, key));
  }

  /** Runs what makes folders, again where another process has removed one that was seen before: it became empty. */
  #trying(work: () => void): void {
    for (let triesLeft = MOST_TRIES;; triesLeft--) {
      try {
        return work();
      } catch (error) {
        if (!isMissing(error) || triesLeft === 1) throw error;
        this.#real.clear();
      }
    }
  }

  /** Returns whether a folder is one, with all folders around it inside the cache. */
  #isReal(folder: string): boolean {
    if (folder.length <= this.#layout.root.length || this.#real.has(folder)) return true;
    if (!this.#isReal(dirname(folder))) return false;
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (!found?.isDirectory()) return false;
    this.#remember(folder);
    return true;
  }

  #makeFolder(folder: string, key: CacheKey): void {
    if (this.#real.has(folder)) return;
    if (folder.length <= this.#layout.root.length) return makeFolderIn(this.#layout)(folder);
    this.#makeFolder(dirname(folder), key);
    try {
      mkdirSync(folder);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      const found = lstatSync(folder, { throwIfNoEntry: false });
      if (!found) {
        throw Object.assign(new Error("a folder has vanished", { cause: error }), { code: "ENOENT" });
      }
      if (!found.isDirectory()) throw inTheWay(folder, this.#layout, { key, error });
    }
    this.#remember(folder);
  }

  #remember(folder: string): void {
    if (this.#real.size >= MOST_REMEMBERED) this.#real.clear();
    this.#real.add(folder);
  }
}

/** Whether both are one file that was not written between: what the record of a file keeps. */
export function isSameFile(a: FileRecordState, b: FileRecordState): boolean {
  return a.size === b.size && a.mtimeSeconds === b.mtimeSeconds && a.mtimeNanos === b.mtimeNanos &&
    a.inode === b.inode;
}

/** What a record keeps of a file's state: a copy and a new mode change `ctime`, so that is left out. */
export type FileRecordState = Pick<FileState, "size" | "mtimeSeconds" | "mtimeNanos" | "inode">;

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function sha256OfFile(path: string): Promise<string> {
  const file = await open(path, READ_FLAGS);
  try {
    const hash = runningHash("sha256");
    const { size } = await file.stat();
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, size + 1));
    while (true) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return hex(hash.digest());
      hash.update(chunk.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** Copies a file that is read at once, if its bytes have a hash. */
function copySmall(from: string, to: string, hash: string): boolean {
  const bytes = readFileSync(from);
  if (hex(sha256(bytes)) !== hash) return false;
  writeFileSync(to, bytes, { flag: "wx" });
  return true;
}

/** An empty folder is what a killed fetch leaves; any other holds what is below the key. */
function removeEmptyFolder(path: string, key: CacheKey, cause: unknown): void {
  try {
    rmdirSync(path);
  } catch {
    throw cacheClash(
      shownKey(key),
      "the cache holds a folder of that name, for objects below it",
      cause,
    );
  }
}

function inTheWay(
  folder: string,
  layout: Layout,
  { key, error }: { key: CacheKey; error: unknown },
): Error {
  const other = layout.keyAt(folder);
  const name = other ? `"${shownKey(other)}"` : "a folder";
  return cacheClash(shownKey(key), `the cache holds a file where it needs the folder ${name}`, error);
}
