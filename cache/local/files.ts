/**
 * Single files of a cache: finding one whose record holds, and writing one.
 *
 * A record says in which state a file was left. A file in that state is taken for what the record says; in another one of the
 * same size it is hashed, as after a copy of the cache, and counts if the hash is right. Writes of one file take turns, so
 * its record describes the last one. A record that changes while its file is hashed gives no file.
 */

import { equalBytes } from "../../base/bytes.ts";
import type { FileState } from "../../base/file_state.ts";
import type { CacheKey, Download } from "../cache.ts";
import { type Content, isSameFile } from "./content.ts";
import { writeDownload } from "./downloads.ts";
import { type FileRecord, packFile, packKey, unpackFile, unpackKey } from "./file_records.ts";
import { doneFoldersAround, listedFile, touch } from "./folder_records.ts";
import { type Layout, shownKey } from "./layout.ts";
import type { Locks } from "./locks.ts";
import { bytesAt, messagePack, placeRecord, removeIfThere, sealed, unsealed } from "./records.ts";
import type { TemporaryFiles } from "./temporary.ts";
import type { WriteLock } from "./write_lock.ts";

/** What the parts of a cache work with. */
export interface Parts {
  readonly layout: Layout;
  readonly locks: Locks;
  readonly writing: WriteLock;
  readonly temporary: TemporaryFiles;
  readonly content: Content;
}

/** A record of a single file, as it lies on the disk. */
export interface StoredRecord {
  readonly key: CacheKey;
  readonly file: FileRecord;
}

export function packMeta(key: CacheKey, file: FileRecord): unknown {
  return { key: packKey(key), file: packFile(file) };
}

export function unpackMeta(value: unknown): StoredRecord | undefined {
  const { key: packedKey, file: packedFile } = (value ?? {}) as Record<string, unknown>;
  const key = unpackKey(packedKey), file = unpackFile(packedFile);
  return key && file && { key, file };
}

export interface WriteOptions {
  /** Whether the bytes survive power loss when the call has returned. */
  readonly isFlushed: boolean;
  readonly isRecorded: boolean;
  readonly signal?: AbortSignal;
}

export class Files {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns a file that is in the cache and whose record holds; its use is noted. */
  async find(key: CacheKey, nowMs: number): Promise<FileRecord | undefined> {
    const { layout, content } = this.#parts;
    const path = layout.contentOf(key);
    const state = content.look(path);
    if (!state) return undefined;
    const own = await this.#ownRecord(key);
    if (own && isSameFile(own.file, state)) {
      touch(layout.metaOf(key), nowMs);
      return own.file;
    }
    for await (const around of doneFoldersAround(layout, key)) {
      const listed = await listedFile(layout, around);
      if (!listed) continue;
      touch(layout.doneOf(around.done.key), nowMs);
      if (isSameFile(listed, state)) return listed;
      const checked = await this.recheck(key, listed);
      if (checked) return checked;
    }
    return own && await this.recheck(key, own.file, own.bytes);
  }

  /**
   * Hashes a file that is not in the state of its record, and keeps it if the hash is right: its record has the new state then.
   * `bytes` are those of its own record, which may not have changed meanwhile.
   */
  async recheck(key: CacheKey, record: FileRecord, bytes?: Uint8Array): Promise<FileRecord | undefined> {
    const { layout, content } = this.#parts;
    const path = layout.contentOf(key);
    if (content.look(path)?.size !== record.size) return undefined;
    const found = await content.hash(path);
    if (found?.sha256 !== record.sha256) return undefined;
    const after = bytesAt(layout.metaOf(key));
    if (bytes && !(after && equalBytes(after, bytes))) return undefined;
    const kept = { ...recordState(found.state), version: record.version, sha256: record.sha256 };
    // A cache that may only be read is hashed again each time.
    await this.record(key, kept).catch(() => {});
    return kept;
  }

  /** Downloads a file and puts it in its place, with a record of its own if it is to have one. */
  async write(key: CacheKey, download: Download, options: WriteOptions): Promise<FileRecord> {
    const { content, temporary, layout, writing } = this.#parts;
    const { isFlushed, isRecorded, signal } = options;
    const [path, recordPath] = [await temporary.path(), await temporary.path()];
    const { version, sha256 } = await writeDownload(download, path, {
      what: shownKey(key),
      isFlushed,
      signal,
    });
    const pack = await messagePack();
    try {
      return await writing.run(() => {
        // The old record may not speak of the new file.
        removeIfThere(layout.metaOf(key));
        const record = { ...recordState(content.place(path, key)), version, sha256 };
        if (isRecorded) placeRecord(layout.metaOf(key), sealed(pack, packMeta(key, record)), recordPath);
        return record;
      });
    } catch (error) {
      removeIfThere(path);
      throw error;
    }
  }

  /** Puts a copy of another file of the cache in place, if that is as its record says and stays so meanwhile. */
  async copy(
    key: CacheKey,
    { path: from, record }: { readonly path: string; readonly record: FileRecord },
    { isRecorded = false }: { readonly isRecorded?: boolean } = {},
  ): Promise<FileRecord | undefined> {
    const { content, temporary, layout, writing } = this.#parts;
    const [path, recordPath] = [await temporary.path(), await temporary.path()];
    if (!await content.clone(from, path, record)) return undefined;
    const pack = await messagePack();
    try {
      return await writing.run(() => {
        removeIfThere(layout.metaOf(key));
        const placed = { ...record, ...recordState(content.place(path, key)) };
        if (isRecorded) placeRecord(layout.metaOf(key), sealed(pack, packMeta(key, placed)), recordPath);
        return placed;
      });
    } catch (error) {
      removeIfThere(path);
      throw error;
    }
  }

  /** Writes a record for a file, if that is still in the state that the record has. */
  async record(key: CacheKey, record: FileRecord): Promise<void> {
    const { content, temporary, layout, writing } = this.#parts;
    const path = await temporary.path();
    const bytes = sealed(await messagePack(), packMeta(key, record));
    await writing.run(() => {
      const now = content.look(layout.contentOf(key));
      if (now && isSameFile(now, record)) placeRecord(layout.metaOf(key), bytes, path);
    });
  }

  async #ownRecord(key: CacheKey): Promise<{ file: FileRecord; bytes: Uint8Array } | undefined> {
    const bytes = bytesAt(this.#parts.layout.metaOf(key));
    const record = bytes && unpackMeta(unsealed(await messagePack(), bytes));
    return record && { file: record.file, bytes };
  }
}

export function recordState({ size, mtimeSeconds, mtimeNanos, inode }: FileState): Omit<
  FileRecord,
  "version" | "sha256"
> {
  return { size, mtimeSeconds, mtimeNanos, inode };
}
