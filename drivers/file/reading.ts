/**
 * Reads. An object's size is what the file has when it is opened; a file that then gives less is `short_object` (kind
 * `corrupt`), never an early end. Files are opened without following a symlink and without waiting for a writer on a
 * pipe; what is no regular file is no object.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { CodedError, throwIfAborted } from "../../base/errors.ts";
import { checkExtent, resolveRange } from "../byte_streams.ts";
import type { ByteRange, ByteStream, ObjectInfo } from "../object_store.ts";
import { attempt, attemptAsync, notFound } from "./failures.ts";
import { readSome } from "./file_calls.ts";
import type { Place } from "./placement.ts";

/** Up to this many bytes are read at once, by synchronous calls, when the object is opened. */
export const SMALL_BYTES = 128 * 1024;
const PIECE_BYTES = 512 * 1024;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface ReadOptions {
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
}

/**
 * Opens an object for streaming.
 *
 * A small one is read at once. A larger one keeps its file open until the stream ends, fails or is returned early; a
 * stream that is never read is closed when it is collected, so callers who may not need the bytes ask `head` first.
 */
export async function openObject(
  place: Place,
  { range, signal }: ReadOptions,
): Promise<{ info: ObjectInfo; body: ByteStream }> {
  throwIfAborted(signal);
  const file = new OpenFile(place);
  try {
    const { start, length } = resolveRange(file.info, range);
    if (length > SMALL_BYTES) return { info: file.info, body: streamOf(file, { start, length, signal }) };
    const piece = new Uint8Array(length);
    file.fillSync(piece, start);
    file.close();
    return { info: file.info, body: single(piece, signal) };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Part of an object, and perhaps where to put it. */
export interface Part {
  readonly offset: number;
  readonly length: number;
  readonly into?: Uint8Array | undefined;
}

/** Returns an array for as much of a part as the object has. */
export function roomFor({ offset, length, into }: Part, sizeBytes: number): Uint8Array {
  const count = Math.max(0, Math.min(length, sizeBytes - offset));
  return into && into.length >= count ? into.subarray(0, count) : new Uint8Array(count);
}

/** Reads part of an object, into an array of the caller's own or into `into`, if it has room. */
export async function readObject(
  place: Place,
  part: Part,
): Promise<Uint8Array> {
  const { offset } = part;
  checkExtent(place.key, offset, part.length);
  const file = new OpenFile(place);
  try {
    const out = roomFor(part, file.info.sizeBytes);
    if (out.length <= SMALL_BYTES) file.fillSync(out, offset);
    else await file.fill(out, offset);
    return out;
  } finally {
    file.close();
  }
}

/** A regular file open for reading. */
class OpenFile {
  readonly info: ObjectInfo;
  readonly #fd: number;
  #closed = false;
  #reading = false;

  /** Fails with `object_not_found`. */
  constructor(place: Place) {
    const { fd, stats } = openRegularFile(place);
    this.#fd = fd;
    this.info = { key: place.key, sizeBytes: stats.size, modifiedMs: stats.mtimeMs };
  }

  fillSync(out: Uint8Array, position: number): void {
    for (let at = 0; at < out.length;) {
      at += this.#progress(
        attempt({ action: "read", key: this.info.key }, () => {
          return readSync(this.#fd, out, at, out.length - at, position + at);
        }),
        position + at,
      );
    }
  }

  async fill(out: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < out.length;) at += await this.#read(out.subarray(at), position + at);
  }

  /** Closes the file, as soon as no read is running: its descriptor may be another file's right after. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#reading) closeSync(this.#fd);
  }

  async #read(into: Uint8Array, position: number): Promise<number> {
    this.#reading = true;
    try {
      const what = { action: "read", key: this.info.key } as const;
      return this.#progress(await attemptAsync(what, () => readSome(this.#fd, into, position)), position);
    } finally {
      this.#reading = false;
      if (this.#closed) closeSync(this.#fd);
    }
  }

  #progress(count: number, position: number): number {
    if (count > 0) return count;
    const { key, sizeBytes } = this.info;
    throw shortObject({ key, sizeBytes, offset: position });
  }
}

/** Opens a file for reading. Fails with `object_not_found`, also for what is no regular file. */
export function openRegularFile({ key, path }: Pick<Place, "key" | "path">): { fd: number; stats: Stats } {
  const what = { action: "read", key } as const;
  const fd = attempt(what, () => openSync(path, READ_FLAGS));
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, stats };
  closeSync(fd);
  throw notFound(key);
}

/** Returns the error for a file that gives less than it had when it was opened. */
export function shortObject(
  { key, offset, sizeBytes }: { readonly key: string; readonly offset: number; readonly sizeBytes: number },
): CodedError {
  const why = `it ends at byte ${offset} of ${sizeBytes}`;
  return new CodedError("corrupt", "short_object", `Cannot read "${key}": ${why}`, {
    details: { key, offset, sizeBytes },
  });
}

interface Extent {
  readonly start: number;
  readonly length: number;
  readonly signal?: AbortSignal;
}

const unread = new FinalizationRegistry<OpenFile>((file) => file.close());

function streamOf(file: OpenFile, extent: Extent): ByteStream {
  const pieces = piecesOf(file, extent);
  const stream: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => stream,
    next: () => pieces.next(),
    async return() {
      const result = await pieces.return(undefined);
      file.close(); // A generator that was never started runs no `finally`.
      return result;
    },
  };
  unread.register(stream, file);
  return stream;
}

async function* piecesOf(file: OpenFile, { start, length, signal }: Extent): AsyncGenerator<Uint8Array> {
  // No consumer keeps a piece: with memory of its own for each, many streams at once leave more behind than is collected.
  const memory = new Uint8Array(Math.min(PIECE_BYTES, length));
  try {
    for (let at = 0; at < length; at += PIECE_BYTES) {
      throwIfAborted(signal);
      const piece = memory.subarray(0, Math.min(PIECE_BYTES, length - at));
      await file.fill(piece, start + at);
      yield piece;
    }
  } finally {
    file.close();
  }
}

async function* single(piece: Uint8Array, signal: AbortSignal | undefined): ByteStream {
  throwIfAborted(signal);
  if (piece.length > 0) yield piece;
}
