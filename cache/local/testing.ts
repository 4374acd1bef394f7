/** What the tests of the cache share. */

import * as fs from "node:fs";
import { join } from "node:path";
import { hex, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { compareKeys } from "../../base/key_order.ts";
import { type Ending, temporaryFolder } from "../../tests/support/temporary.ts";
import type { CacheKey, Download, FolderDownload, FolderFile } from "../cache.ts";
import type { Flush } from "./flushing.ts";
import { type LocalCache, type LocalCacheOptions, openLocalCache } from "./local_cache.ts";

export const KEY: CacheKey = { store: "s", parts: ["repo", "main", "data.csv"] };
export const FOLDER: CacheKey = { store: "s", parts: ["repo", "main", "t"] };

/** Tests lose no power, and flushing takes most of the time. */
const noFlush: Flush = { files: async () => {}, disk: async () => true };

/** Opens a cache in a folder of the test's own, or in one that is given. */
export async function openTestCache(
  t: Ending,
  options: Partial<LocalCacheOptions> = {},
): Promise<LocalCache> {
  const root = options.root ?? join(temporaryFolder(t), "cache");
  const cache = await openLocalCache({ flush: noFlush, ...options, root });
  t.after(() => cache.close());
  return cache;
}

export function download(text: string, version: string): Download {
  return { version, body: bodyOf(text) };
}

export async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = utf8(text);
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

export function sha256Hex(text: string): string {
  return hex(sha256(utf8(text)));
}

/** What a store holds, by path; the version of a file is the hash of its text. */
export type Files = Readonly<Record<string, string>>;

export async function* listingOf(files: Files, pageSize = 3): AsyncGenerator<readonly FolderFile[]> {
  const paths = Object.keys(files).sort(compareKeys);
  for (let at = 0; at < paths.length; at += pageSize) {
    yield paths.slice(at, at + pageSize).map((path) => ({
      path,
      version: sha256Hex(files[path]!),
      sizeBytes: utf8(files[path]!).length,
    }));
  }
}

/** A source of files that remembers what was asked for. */
export class Source {
  readonly asked: string[] = [];
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
  }

  get download(): FolderDownload {
    return {
      each: async ({ path }) => {
        this.asked.push(path);
        const text = this.#files[path]!;
        return download(text, sha256Hex(text));
      },
    };
  }
}

/** Fetches a folder; returns which of its files were downloaded, sorted. */
export async function fetchAll(cache: LocalCache, files: Files, key: CacheKey = FOLDER): Promise<string[]> {
  const source = new Source(files);
  await cache.folder(key, listingOf(files), source.download);
  return source.asked.sort(compareKeys);
}

/** Reads all files below a folder, by path. */
export function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  if (!fs.existsSync(folder)) return found;
  for (const path of fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort(compareKeys)) {
    const full = join(folder, path);
    if (fs.statSync(full).isFile()) found[path] = fs.readFileSync(full, "utf8");
  }
  return found;
}

/** Returns what lies in the cache's own folders that should be empty when nothing runs. */
export function leftovers(cache: LocalCache): string[] {
  const { layout } = cache.parts;
  return [layout.temporary, layout.locks].flatMap((folder) =>
    fs.existsSync(folder) ? fs.readdirSync(folder) : []
  );
}
