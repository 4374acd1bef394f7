/**
 * The marker of a folder that was fetched whole, and finding things in its list. The marker is removed before anything of the
 * folder changes and written when all of it is there again: as long as it stands, the list says what the folder holds.
 */

import { statSync, utimesSync } from "node:fs";
import { compareKeys } from "../../base/key_order.ts";
import type { CacheKey } from "../cache.ts";
import { errnoOf } from "./failures.ts";
import { type ListedFile, packKey, unpackKey } from "./file_records.ts";
import { type FrameIndex, type ListItem, readListAt } from "./folder_list.ts";
import { foldersAround, keyHash, type Layout } from "./layout.ts";
import { readRecord } from "./records.ts";

export interface DoneFolder {
  readonly key: CacheKey;
  /** Of the folder as a whole, where its store has one. */
  readonly version?: string;
  readonly count: number;
  readonly sizeBytes: number;
  readonly frames: readonly FrameIndex[];
}

export function packDone({ key, version, count, sizeBytes, frames }: DoneFolder): unknown {
  return { key: packKey(key), version: version ?? null, count, sizeBytes, frames };
}

export function unpackDone(value: unknown): DoneFolder | undefined {
  const { key: packed, version, count, sizeBytes, frames } = (value ?? {}) as Record<string, unknown>;
  const key = unpackKey(packed);
  if (!key || typeof count !== "number" || typeof sizeBytes !== "number" || !Array.isArray(frames)) {
    return undefined;
  }
  if (!frames.every(isFrameIndex)) return undefined;
  return { key, ...(typeof version === "string" ? { version } : {}), count, sizeBytes, frames };
}

function isFrameIndex(value: unknown): value is FrameIndex {
  return Array.isArray(value) && value.length === 3 && typeof value[0] === "string" &&
    typeof value[1] === "number" && typeof value[2] === "number";
}

/** Returns the marker of a folder that was fetched whole, if its list is there in its length. */
export async function doneFolder(layout: Layout, key: CacheKey): Promise<DoneFolder | undefined> {
  const done = unpackDone(await readRecord(layout.doneOf(key)));
  if (!done) return undefined;
  const last = done.frames.at(-1);
  const length = last === undefined ? 0 : last[1] + last[2];
  return sizeOf(layout.listOf(key, "list")) === length ? done : undefined;
}

/** A folder that was fetched whole and holds what was asked for, by its path below the folder; empty for the folder itself. */
export interface Around {
  readonly done: DoneFolder;
  readonly path: string;
}

/** Yields the folders that were fetched whole and that a key lies in, the innermost first. */
export async function* doneFoldersAround(layout: Layout, key: CacheKey): AsyncGenerator<Around> {
  for (const { folder, path } of foldersAround(key)) {
    const done = await doneFolder(layout, folder);
    if (done) yield { done, path };
  }
}

/**
 * Tells which folders around a key the cache holds, whole or not; each record is read once. So it is right for as long as the
 * caller keeps fetches off them (`item_locks.ts`), and no longer: what was looked up before that, others may have fetched since.
 */
export class HeldFolders {
  readonly #layout: Layout;
  readonly #known = new Map<string, boolean>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Returns whether a key lies in a folder that is held, another one than `except`. */
  async include(key: CacheKey, except?: CacheKey): Promise<boolean> {
    const own = except && keyHash(except);
    for (const { folder } of foldersAround(key)) {
      const hash = keyHash(folder);
      if (hash !== own && await this.#isHeld(folder, hash)) return true;
    }
    return false;
  }

  async #isHeld(folder: CacheKey, hash: string): Promise<boolean> {
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const layout = this.#layout;
    const isHeld = unpackDone(await readRecord(layout.doneOf(folder))) !== undefined ||
      unpackKey(await readRecord(layout.listOf(folder, "unfinished"))) !== undefined;
    this.#known.set(hash, isHeld);
    return isHeld;
  }
}

/** Returns the file of a list that has a path. */
export async function listedFile(layout: Layout, { done, path }: Around): Promise<ListedFile | undefined> {
  const list = layout.listOf(done.key, "list");
  for await (const items of readListAt(list, done.frames, { from: path, to: path })) {
    for (const item of items ?? []) if (item.kind === "cached" && item.file.path === path) return item.file;
  }
  return undefined;
}

/**
 * Yields the files of a list at and below a folder, in byte order; everything for an empty path. Yields `undefined` at last
 * when the list is damaged.
 */
export async function* listedBelow(
  layout: Layout,
  { done, path }: Around,
): AsyncGenerator<readonly ListedFile[] | undefined> {
  const list = layout.listOf(done.key, "list");
  const prefix = path === "" ? "" : `${path}/`;
  // "0" follows "/" in byte order.
  const range = { from: prefix, to: path === "" ? "\u{10ffff}" : `${path}0` };
  for await (const items of readListAt(list, done.frames, range)) {
    if (!items) return yield undefined;
    const files: ListedFile[] = [];
    for (const item of items) {
      if (item.kind === "cached" && item.file.path.startsWith(prefix)) files.push(item.file);
    }
    if (files.length > 0) yield files;
    const last = items.at(-1);
    if (path !== "" && last?.kind === "cached" && compareKeys(last.file.path, range.to) >= 0) return;
  }
}

/** Yields what a list has below a folder as a list of that folder. Of a damaged one, what comes before the damage. */
export async function* listedPart(layout: Layout, around: Around): AsyncGenerator<readonly ListItem[]> {
  const start = around.path === "" ? 0 : around.path.length + 1;
  for await (const files of listedBelow(layout, around)) {
    yield (files ?? []).map((file) => ({ kind: "cached", file: { ...file, path: file.path.slice(start) } }));
  }
}

const HOUR_MS = 60 * 60 * 1000;

/** Notes on a record that what it tells of was used, to the hour. */
export function touch(path: string, nowMs: number): void {
  try {
    if (Math.abs(nowMs - statSync(path).mtimeMs) < HOUR_MS) return;
    utimesSync(path, nowMs / 1000, nowMs / 1000);
  } catch (error) {
    // A cache that may only be read is still worth reading.
    if (errnoOf(error) === undefined) throw error;
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return 0;
  }
}
