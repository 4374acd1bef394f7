/**
 * Puts.
 *
 * A small `fresh` body is written under the final name (O_CREAT|O_EXCL): nobody reads it yet, and a rename is saved. All else
 * is written under a temporary name in the same folder and published whole by one call: `rename` for `replace`, `link`
 * (which fails when the name is taken) for the others. What fails is removed; what a kill leaves behind is a small fresh
 * object that nobody was told of, or a temporary file that no listing shows and whose name says what it is.
 *
 * Small bodies are written by synchronous calls: handing four calls to the thread pool costs several times what they do.
 */

import { Buffer } from "node:buffer";
import { closeSync, fstatSync, openSync } from "node:fs";
import { throwIfAborted } from "../../base/errors.ts";
import { abortable, isParts } from "../byte_streams.ts";
import type { ByteStream, ObjectInfo, PutOptions } from "../object_store.ts";
import { EarlySync } from "./early_sync.ts";
import { type Attempt, attempt, attemptAsync, errnoOf, translated } from "./failures.ts";
import {
  closeQuietly,
  lstatIfThere,
  syncData,
  unlinkQuietly,
  writeAll,
  writeAllParts,
  writeAllSync,
} from "./file_calls.ts";
import type { Folders } from "./folders.ts";
import { type Place, type Placement, temporaryIn } from "./placement.ts";
import { CREATE_FLAGS, publish, publishIfAbsent, refuseTaken } from "./publishing.ts";
import { dropReady, takeReady } from "./ready_files.ts";
import type { FileSync } from "./syncing.ts";
import { WriteBehind } from "./write_behind.ts";

/** Up to this a body is held in memory and written at once. */
const SMALL_BYTES = 128 * 1024;
const SLICE_BYTES = 4 * 1024 * 1024;
/** How often a folder may vanish under a put before it gives up. */
export const MAX_TRIES = 10;

export interface WriterOptions {
  readonly placement: Placement;
  readonly folders: Folders;
  readonly sync: FileSync;
}

/** Stores one object. Errors of `body` pass through as they are. */
export async function writeObject(
  place: Place,
  body: Uint8Array | readonly Uint8Array[] | ByteStream,
  options: WriterOptions & PutOptions,
): Promise<ObjectInfo> {
  const { signal } = options;
  throwIfAborted(signal);
  const upload = new Upload(place, options);
  try {
    if (body instanceof Uint8Array) await upload.addWhole(body, signal);
    else if (isParts(body)) await upload.addParts(body, signal);
    else for await (const piece of abortable(body, signal)) await upload.add(piece);
    return await upload.finish();
  } catch (error) {
    await upload.abandon();
    throw error;
  }
}

/** One object on its way to its name. The file is made only when the body is known to be large, or whole. */
class Upload {
  readonly #place: Place;
  readonly #options: WriterOptions & PutOptions;
  readonly #what: Attempt;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Where the file that was made lies, and its descriptor while it is open. */
  #path: string | undefined;
  #fd: number | undefined;
  #wasReady = false;
  #behind: WriteBehind | undefined;
  #early: EarlySync | undefined;

  constructor(place: Place, options: WriterOptions & PutOptions) {
    this.#place = place;
    this.#options = options;
    this.#what = { action: "put", key: place.key };
  }

  async add(piece: Uint8Array): Promise<void> {
    if (!this.#behind) {
      if (this.#heldBytes + piece.length <= SMALL_BYTES) {
        // A copy, since the source may use the piece's memory again. (`slice` of a Buffer would share it.)
        this.#held.push(new Uint8Array(piece));
        this.#heldBytes += piece.length;
        return;
      }
      const fd = this.#create();
      const early = this.#early = new EarlySync(() => syncData(fd));
      this.#behind = new WriteBehind(async (bytes) => {
        await writeAll(fd, bytes);
        early.wrote(bytes.length);
      });
      for (const held of this.#held.splice(0)) await this.#write(held);
    }
    await this.#write(piece);
  }

  async addWhole(body: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    if (body.length <= SMALL_BYTES) {
      this.#held.push(body);
      return;
    }
    const fd = this.#create();
    for (let at = 0; at < body.length; at += SLICE_BYTES) {
      throwIfAborted(signal);
      await attemptAsync(this.#what, () => writeAll(fd, body.subarray(at, at + SLICE_BYTES)));
    }
  }

  async addParts(parts: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<void> {
    parts = parts.filter((part) => part.length > 0);
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (bytes <= SMALL_BYTES) {
      this.#held.push(...parts);
      return;
    }
    const fd = this.#create();
    for (let from = 0; from < parts.length;) {
      throwIfAborted(signal);
      let to = from, slice = 0;
      while (to < parts.length && slice < SLICE_BYTES) slice += parts[to++]!.length;
      await attemptAsync(this.#what, () => writeAllParts(fd, parts.slice(from, to)));
      from = to;
    }
  }

  async finish(): Promise<ObjectInfo> {
    const fd = this.#fd ?? this.#create({ isSmall: true });
    await attemptAsync(this.#what, async () => {
      await this.#behind?.finish();
      await this.#behind?.settle();
      await this.#early?.finish();
    });
    const info = attempt(this.#what, () => this.#close(fd));
    const { mode = "replace", sync } = this.#options;
    const temporary = this.#path!;
    if (temporary === this.#place.path) return info;
    if (mode === "replace") await attemptAsync(this.#what, () => publish(this.#place, temporary, sync));
    else attempt(this.#what, () => publishIfAbsent(this.#place, temporary));
    return info;
  }

  /** Writes what is held, and closes the file. */
  #close(fd: number): ObjectInfo {
    if (this.#held.length > 0) {
      writeAllSync(fd, this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held));
    }
    const { size, mtimeMs, ino } = fstatSync(fd);
    this.#fd = undefined;
    closeSync(fd);
    // A file that was made ahead may have been deleted since, or moved away with its folder.
    if (this.#wasReady && lstatIfThere(this.#place.path)?.ino !== ino) {
      return this.#close(this.#create({ isSmall: true }));
    }
    return { key: this.#place.key, sizeBytes: size, modifiedMs: mtimeMs };
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    // At once, where the system takes away what is open: who interrupts a put does not wait for the disk.
    if (this.#path !== undefined) unlinkQuietly(this.#path);
    await this.#behind?.settle();
    await this.#early?.settle();
    if (this.#fd !== undefined) closeQuietly(this.#fd);
    if (this.#path !== undefined) unlinkQuietly(this.#path);
  }

  #write(piece: Uint8Array): Promise<void> {
    return attemptAsync(this.#what, () => this.#behind!.add(piece));
  }

  /** Makes the file to write to, and folders as needed. */
  #create({ isSmall = false } = {}): number {
    const { mode = "replace" } = this.#options;
    const { path: finalPath, folder } = this.#place;
    const isFinal = mode === "fresh" && isSmall;
    const path = isFinal ? finalPath : this.#options.placement.pathOf(temporaryIn(folder));
    if (!isFinal) dropReady(finalPath);
    for (let tries = 1; this.#fd === undefined; tries++) {
      try {
        this.#open(path);
      } catch (error) {
        if (tries === MAX_TRIES || !this.#mayRetry(error, path)) throw translated(error, this.#what);
      }
    }
    // Now that the folder is verified: fail before a large body is written, not after.
    if (path !== finalPath && mode !== "replace") attempt(this.#what, () => refuseTaken(this.#place));
    return this.#fd;
  }

  #open(path: string): void {
    const { folder, key } = this.#place;
    const { folders } = this.#options;
    if (!folders.isKnown(folder)) folders.make(folder, key);
    const ready = takeReady(path);
    this.#wasReady = ready !== undefined;
    this.#fd = ready ?? openSync(path, CREATE_FLAGS, 0o600);
    this.#path = path;
  }

  #mayRetry(error: unknown, path: string): boolean {
    if (errnoOf(error) === "EEXIST" && path === this.#place.path) {
      attempt(this.#what, () => refuseTaken(this.#place));
      return true;
    }
    if (!isFolderGone(error)) return false;
    this.#options.folders.forget();
    return true;
  }
}

/** Whether a file cannot be made because its folder has vanished. */
export function isFolderGone(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOENT" || errno === "ENOTDIR";
}
