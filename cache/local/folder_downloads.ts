/** Downloading what the plan of a folder wants, and writing the folder's list in the plan's order, whatever ends first. */

import { CodedError, throwIfAborted } from "../../base/errors.ts";
import type { CacheKey, Download, FolderFile } from "../cache.ts";
import type { ListedFile } from "./file_records.ts";
import type { FolderFetch, FolderParts } from "./folder_fetch.ts";
import { type ListItem, ListWriter, readList } from "./folder_list.ts";
import { keyBelow, shownKey } from "./layout.ts";

/** How many files are downloaded at a time, and how many that are done may wait for one before them. */
const MOST_AT_ONCE = 8;
const MOST_WAITING = 64;
/** After so much the list is written as far as it goes, so that a kill loses little. */
const FILES_BETWEEN_FLUSHES = 16;
const BYTES_BETWEEN_FLUSHES = 4 * 1024 * 1024;
/** Of more downloads than this the paths are not kept. */
const MOST_PATHS = 1000;

export interface WrittenList {
  readonly count: number;
  readonly sizeBytes: number;
}

/** A file that is there or on its way; those behind it wait for it. */
interface Waiting {
  readonly file: Promise<ListedFile>;
  isDone: boolean;
}

export class FolderDownloads {
  readonly #parts: FolderParts;
  readonly #fetch: FolderFetch;
  /** Of what was downloaded, up to a bound. */
  readonly downloadedPaths: string[] = [];
  #downloadedBytes = 0;

  constructor(parts: FolderParts, fetch: FolderFetch) {
    this.#parts = parts;
    this.#fetch = fetch;
  }

  get key(): CacheKey {
    return this.#fetch.key;
  }

  get downloadedBytes(): number {
    return this.#downloadedBytes;
  }

  /** Downloads what is wanted and writes the list; all that is in it is in its place. */
  async writeList(path: string): Promise<WrittenList> {
    const { download } = this.#fetch;
    const writer = await ListWriter.create(path);
    let count = 0, sizeBytes = 0, isWritten = false;
    let flushedFiles = 0, flushedBytes = 0;
    try {
      const files = "each" in download ? this.#each(download.each) : this.#streamed(download.stream);
      for await (const file of files) {
        writer.add({ kind: "cached", file });
        count++;
        sizeBytes += file.size;
        if (this.downloadedPaths.length === 0) continue;
        if (
          count - flushedFiles < FILES_BETWEEN_FLUSHES && sizeBytes - flushedBytes < BYTES_BETWEEN_FLUSHES
        ) continue;
        writer.flush();
        [flushedFiles, flushedBytes] = [count, sizeBytes];
      }
      writer.close();
      isWritten = true;
      return { count, sizeBytes };
    } finally {
      // What is listed so far stays right.
      if (!isWritten) writer.closeQuietly();
    }
  }

  /** Yields the files of the plan in its order, downloading several at a time. */
  async *#each(download: (file: FolderFile) => Promise<Download>): AsyncGenerator<ListedFile> {
    const waiting: Waiting[] = [];
    const running = new Set<Promise<unknown>>();
    try {
      for await (const item of this.#plan()) {
        if (item.kind === "gone") continue;
        if (item.kind === "cached") waiting.push({ file: Promise.resolve(item.file), isDone: true });
        else {
          if (running.size >= MOST_AT_ONCE) await Promise.race(running);
          throwIfAborted(this.#fetch.signal);
          const next: Waiting = { file: this.#write(item.file, () => download(item.file)), isDone: false };
          const settled: Promise<unknown> = next.file.catch(() => {}).finally(() => {
            next.isDone = true;
            running.delete(settled);
          });
          running.add(settled);
          waiting.push(next);
        }
        while (waiting[0]?.isDone || waiting.length > MOST_WAITING) yield await waiting.shift()!.file;
      }
      while (waiting.length > 0) yield await waiting.shift()!.file;
    } finally {
      // No file is written after the fetch has ended, and what came behind one that failed is not lost.
      await Promise.all(running);
      for (const ended of await Promise.allSettled(waiting.map(({ file }) => file))) {
        if (ended.status === "fulfilled") await this.#record(ended.value).catch(() => {});
      }
    }
  }

  /** Yields the files of the plan in its order; what is wanted has come in one stream before. */
  async *#streamed(
    stream: (
      files: readonly FolderFile[],
    ) => AsyncIterable<{ readonly path: string; readonly download: Download }>,
  ): AsyncGenerator<ListedFile> {
    const wanted = new Map<string, FolderFile>();
    for await (const item of this.#plan()) if (item.kind === "wanted") wanted.set(item.file.path, item.file);
    const came = new Map<string, ListedFile>();
    for await (const { path, download } of wanted.size === 0 ? [] : stream([...wanted.values()])) {
      throwIfAborted(this.#fetch.signal);
      const file = wanted.get(path);
      if (!file || came.has(path)) continue;
      came.set(path, await this.#write(file, async () => download));
    }
    for await (const item of this.#plan()) {
      if (item.kind === "cached") yield item.file;
      else if (item.kind === "wanted") yield came.get(item.file.path) ?? this.#missing(item.file);
    }
  }

  async *#plan(): AsyncGenerator<ListItem> {
    for await (const items of readList(this.#parts.layout.listOf(this.key, "plan"))) yield* items;
  }

  async #write(file: FolderFile, download: () => Promise<Download>): Promise<ListedFile> {
    const { files, layout } = this.#parts;
    const { signal } = this.#fetch;
    const key = keyBelow(this.key, file.path);
    const { sizeBytes, sha256 } = file;
    const came = await download();
    // What is listed of another version does not bind the one that came.
    const expected = came.version === file.version ? { sizeBytes, sha256 } : {};
    const options = { isFlushed: false, isRecorded: false, signal };
    const record = await files.write(key, { ...expected, ...came }, options);
    this.#downloadedBytes += record.size;
    if (this.downloadedPaths.length < MOST_PATHS) this.downloadedPaths.push(layout.contentOf(key));
    return { path: file.path, ...record };
  }

  async #record({ path, ...record }: ListedFile): Promise<void> {
    await this.#parts.files.record(keyBelow(this.key, path), record);
  }

  #missing(file: FolderFile): never {
    throw new CodedError(
      "unavailable",
      "download_incomplete",
      `Cannot fetch the folder "${shownKey(this.key)}": "${file.path}" did not come`,
      { details: { uri: shownKey(this.key), path: file.path } },
    );
  }
}
