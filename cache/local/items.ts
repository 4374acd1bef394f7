/** What a cache holds: single files and folders, each with its size and when it was last used. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CacheKey } from "../cache.ts";
import { isMissing } from "./failures.ts";
import { unpackKey } from "./file_records.ts";
import { unpackMeta } from "./files.ts";
import { readList } from "./folder_list.ts";
import { unpackDone } from "./folder_records.ts";
import { isAtOrBelow, keyHash, type Layout } from "./layout.ts";
import { readRecord } from "./records.ts";

export interface CacheItem {
  readonly kind: "file" | "folder";
  readonly key: CacheKey;
  /** Of a folder: whether all of it is there. */
  readonly isWhole: boolean;
  readonly count: number;
  readonly sizeBytes: number;
  readonly version?: string;
  readonly lastUsedMs: number;
}

/** Yields what is recorded, in no order. A record that does not hold tells of nothing. */
export async function* cacheItems(layout: Layout): AsyncGenerator<CacheItem> {
  for (const name of namesIn(layout.folderOf("done"))) {
    const path = join(layout.folderOf("done"), name);
    const done = unpackDone(await readRecord(path));
    if (!done || keyHash(done.key) !== name) continue;
    const { key, version, count, sizeBytes } = done;
    yield { kind: "folder", key, isWhole: true, count, sizeBytes, version, lastUsedMs: timeOf(path) };
  }
  for (const name of namesIn(layout.folderOf("meta"))) {
    const path = join(layout.folderOf("meta"), name);
    const item = name.endsWith(".unfinished")
      ? await unfinishedFolder(layout, path)
      : name.includes(".")
      ? undefined
      : await singleFile(path);
    if (item && keyHash(item.key) === name.split(".")[0]) yield item;
  }
}

/** Returns the files of items on the disk and their bytes, those of what lies in another whole folder counted once. */
export function totalOf(items: readonly CacheItem[]): { readonly count: number; readonly sizeBytes: number } {
  const folders = items.filter(({ kind, isWhole }) => kind === "folder" && isWhole);
  const outer = items.filter((item) =>
    !folders.some((folder) => folder !== item && isAtOrBelow(item.key, folder.key))
  );
  const sum = (of: (item: CacheItem) => number) => outer.reduce((total, item) => total + of(item), 0);
  return { count: sum(({ count }) => count), sizeBytes: sum(({ sizeBytes }) => sizeBytes) };
}

async function singleFile(path: string): Promise<CacheItem | undefined> {
  const record = unpackMeta(await readRecord(path));
  if (!record) return undefined;
  const { key, file: { size, version } } = record;
  return { kind: "file", key, isWhole: true, count: 1, sizeBytes: size, version, lastUsedMs: timeOf(path) };
}

async function unfinishedFolder(layout: Layout, path: string): Promise<CacheItem | undefined> {
  const key = unpackKey(await readRecord(path));
  // One that was finished just before a kill is whole.
  if (!key || timeOf(layout.doneOf(key)) > 0) return undefined;
  let count = 0, sizeBytes = 0;
  for (const suffix of ["partial", "plan", "list"] as const) {
    let found = 0, bytes = 0;
    for await (const items of readList(layout.listOf(key, suffix))) {
      for (const item of items) {
        if (item.kind !== "cached") continue;
        found++;
        bytes += item.file.size;
      }
    }
    [count, sizeBytes] = [Math.max(count, found), Math.max(sizeBytes, bytes)];
  }
  return { kind: "folder", key, isWhole: false, count, sizeBytes, lastUsedMs: timeOf(path) };
}

/** Returns the names in a folder, none when it is not there. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Returns when a file was last written, in milliseconds; 0 when it is not there. */
export function timeOf(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
