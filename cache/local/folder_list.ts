/**
 * The list of the files of a cached folder, in byte order of their paths.
 *
 * ```
 * list    = frame*
 * frame   = length of the rest (32 bits, little-endian), CRC-32 of the rest (32 bits), rest
 * rest    = MessagePack of an array of items
 * item    = [path, version, size, mtime seconds, mtime nanoseconds, inode, SHA-256]     a file that is in the cache
 *         | [path, version, size | nil, SHA-256 | nil]                                  one that is to be downloaded
 *         | [path]                                                                      one that is to be deleted
 * ```
 *
 * A list is read to the first frame that does not hold: so one that is being written, or was when its writer was killed, is
 * worth what is in it. Memory is one frame. Whoever knows where each frame begins reads only the one that a path is in.
 */

import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { asBuffer, fromHex, hex } from "../../base/bytes.ts";
import { compareKeys } from "../../base/key_order.ts";
import { crc32 } from "../../base/platform.ts";
import type { FolderFile } from "../cache.ts";
import { errnoOf } from "./failures.ts";
import { type ListedFile, packFile, unpackFile } from "./file_records.ts";
import { type MessagePack, messagePack } from "./records.ts";

export type ListItem =
  | { readonly kind: "cached"; readonly file: ListedFile }
  | { readonly kind: "wanted"; readonly file: FolderFile }
  | { readonly kind: "gone"; readonly path: string };

/** Where a frame is: its first path, its offset and its length with the head. */
export type FrameIndex = readonly [firstPath: string, offset: number, length: number];

const ITEMS_A_FRAME = 512;
const HEAD_BYTES = 8;
/** A frame of so many items of the longest paths has less. */
const MOST_FRAME_BYTES = 16 * 1024 * 1024;

export class ListWriter {
  readonly #pack: MessagePack;
  readonly #fd: number;
  readonly #frames: FrameIndex[] = [];
  #items: unknown[] = [];
  #firstPath = "";
  #offset = 0;
  #isClosed = false;

  private constructor(pack: MessagePack, fd: number) {
    this.#pack = pack;
    this.#fd = fd;
  }

  /** Begins a list in a file, which is emptied if it is there. */
  static async create(path: string): Promise<ListWriter> {
    return new ListWriter(await messagePack(), openSync(path, "w"));
  }

  add(item: ListItem): void {
    if (this.#items.length === 0) this.#firstPath = pathOf(item);
    this.#items.push(packItem(item));
    if (this.#items.length === ITEMS_A_FRAME) this.flush();
  }

  /** Writes what was added since the last frame. */
  flush(): void {
    if (this.#items.length === 0) return;
    const rest = this.#pack.encode(this.#items);
    const frame = new Uint8Array(HEAD_BYTES + rest.length);
    const head = asBuffer(frame);
    head.writeUInt32LE(rest.length, 0);
    head.writeUInt32LE(crc32(rest), 4);
    frame.set(rest, HEAD_BYTES);
    writeAll(this.#fd, frame);
    this.#frames.push([this.#firstPath, this.#offset, frame.length]);
    this.#offset += frame.length;
    this.#items = [];
  }

  /** Ends the list and returns where its frames are. */
  close(): readonly FrameIndex[] {
    if (this.#isClosed) return this.#frames;
    this.#isClosed = true;
    try {
      this.flush();
    } finally {
      closeSync(this.#fd);
    }
    return this.#frames;
  }

  /** Ends a list that nobody waits for: on a full disk it stays shorter. */
  closeQuietly(): void {
    try {
      this.close();
    } catch {
      // The first error is the one worth telling.
    }
  }
}

/** Yields the items of a list, frame by frame, to its end or the first frame that does not hold; of none, nothing. */
export async function* readList(path: string): AsyncGenerator<readonly ListItem[]> {
  const fd = openList(path);
  if (fd === undefined) return;
  const pack = await messagePack();
  try {
    for (let offset = 0;;) {
      const frame = readFrame(pack, fd, offset);
      if (!frame) return;
      yield frame.items;
      offset += frame.length;
    }
  } finally {
    closeSync(fd);
  }
}

/** Yields the frames of a list that may hold a path or what begins with it; stops at damage, which `isWhole` tells of. */
export async function* readListAt(
  path: string,
  frames: readonly FrameIndex[],
  { from, to }: { readonly from: string; readonly to: string },
): AsyncGenerator<readonly ListItem[] | undefined> {
  const fd = openList(path);
  if (fd === undefined) return yield undefined;
  const pack = await messagePack();
  try {
    for (let i = frameOf(frames, from); i < frames.length; i++) {
      const [firstPath, offset] = frames[i]!;
      if (compareKeys(firstPath, to) > 0) return;
      const frame = readFrame(pack, fd, offset);
      yield frame?.items;
      if (!frame) return;
    }
  } finally {
    closeSync(fd);
  }
}

/** Returns the last frame that begins at or before a path, or the first. */
function frameOf(frames: readonly FrameIndex[], path: string): number {
  let low = 0, high = frames.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (compareKeys(frames[middle]![0], path) <= 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

function openList(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

interface Frame {
  readonly items: readonly ListItem[];
  readonly length: number;
}

function readFrame(pack: MessagePack, fd: number, offset: number): Frame | undefined {
  const head = readAt(fd, offset, HEAD_BYTES);
  if (!head) return undefined;
  const length = asBuffer(head).readUInt32LE(0);
  const rest = length <= MOST_FRAME_BYTES ? readAt(fd, offset + HEAD_BYTES, length) : undefined;
  if (!rest || crc32(rest) !== asBuffer(head).readUInt32LE(4)) return undefined;
  const items: ListItem[] = [];
  try {
    for (const value of pack.decode(rest) as unknown[]) {
      const item = unpackItem(value);
      if (!item) return undefined;
      items.push(item);
    }
  } catch {
    return undefined;
  }
  return { items, length: HEAD_BYTES + length };
}

/** Returns exactly so many bytes, or `undefined` where the file ends before. */
function readAt(fd: number, offset: number, length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = readSync(fd, bytes, at, length - at, offset + at);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at);
}

export function pathOf(item: ListItem): string {
  return item.kind === "gone" ? item.path : item.file.path;
}

function packItem(item: ListItem): unknown {
  if (item.kind === "cached") return [item.file.path, ...packFile(item.file)];
  if (item.kind === "gone") return [item.path];
  const { path, version, sizeBytes, sha256 } = item.file;
  return [path, version, sizeBytes ?? null, sha256 === undefined ? null : fromHex(sha256)];
}

function unpackItem(value: unknown): ListItem | undefined {
  if (!Array.isArray(value) || typeof value[0] !== "string") return undefined;
  const [path, ...rest] = value as [string, ...unknown[]];
  if (rest.length === 0) return { kind: "gone", path };
  if (rest.length === 3) {
    const [version, sizeBytes, sha256] = rest as [string, number | null, Uint8Array | null];
    return {
      kind: "wanted",
      file: {
        path,
        version,
        ...(sizeBytes === null ? {} : { sizeBytes }),
        ...(sha256 === null ? {} : { sha256: hex(sha256) }),
      },
    };
  }
  const file = unpackFile(rest);
  return file && { kind: "cached", file: { path, ...file } };
}
