import { unlinkSync } from "node:fs";
import { setImmediate } from "node:timers";
import { CodedError, isCoded } from "../../base/errors.ts";
import { encodePath } from "../../base/uri.ts";
import type {
  ByteRange,
  ByteStream,
  ListOptions,
  LocalFile,
  NewObject,
  ObjectInfo,
  ObjectPage,
  ObjectStore,
  PutOptions,
  UnnamedObject,
} from "../object_store.ts";
import { type Attempt, attempt, attemptAsync, errnoOf, notFound, ofStorage, translated } from "./failures.ts";
import { fileAt, lstatIfThere } from "./file_calls.ts";
import { Folders } from "./folders.ts";
import { KeptFiles } from "./kept_files.ts";
import { listPages } from "./listing.ts";
import { letPagesGo } from "./pages.ts";
import { type Place, Placement } from "./placement.ts";
import { openObject, readObject, SMALL_BYTES } from "./reading.ts";
import { OnDisk } from "./on_disk.ts";
import { makeReady } from "./ready_files.ts";
import { type FileSync, flushData, type Flushing, flushPlaces, systemSync } from "./syncing.ts";
import { UnnamedFile } from "./unnamed.ts";
import { writeFreshObjects } from "./writing_many.ts";
import { writeAt } from "./writing_at.ts";
import { writeObject, type WriterOptions } from "./writing.ts";

/** How many calls may follow each other before timers, signals and other work get their turn. */
const CALLS_BETWEEN_BREAKS = 64;

export interface FileObjectStoreOptions {
  /** The absolute folder that holds the objects; made, mode 0700, by the first put. It may itself be a symlink. */
  readonly root: string;
  /** The URI prefix that `locate` puts before keys, such as `local://name`. */
  readonly address: string;
  /** Whether the root was made before, by `prepare`: one that is not there is `storage_missing`, and is not made anew. */
  readonly rootMustBeThere?: boolean;
  /** A folder above the root, which must be there: nothing is made where it is not. */
  readonly rootWithin?: string;
  /** How things are made durable: a seam for tests. */
  readonly sync?: FileSync;
}

/**
 * Opens a store of files; touches nothing yet.
 *
 * A key is kept as the same relative path. Keys that no path can hold, that lie behind a symlink, or that would be a file
 * and a folder at once, are `unplaceable_key`. Fails with `invalid_root` unless the root is absolute.
 */
export function openFileObjectStore(options: FileObjectStoreOptions): ObjectStore {
  return new FileObjectStore(options);
}

class FileObjectStore implements ObjectStore {
  readonly #address: string;
  readonly #placement: Placement;
  readonly #folders: Folders;
  readonly #sync: FileSync;
  readonly #kept = new KeptFiles();
  /**
   * Keys whose flush has failed. The system tells of a failed write-back once and then takes the data for written, so a
   * second flush would succeed and lie; only another put makes such a key good again.
   */
  readonly #unflushable = new Set<string>();
  readonly #onDisk = new OnDisk();
  #calls = 0;

  constructor(options: FileObjectStoreOptions) {
    const { root, address, rootMustBeThere = false, rootWithin, sync = systemSync } = options;
    this.#address = address;
    this.#sync = sync;
    this.#placement = new Placement(root);
    this.#folders = new Folders(this.#placement, {
      ...(rootMustBeThere ? { mustBeThere: address } : {}),
      ...(rootWithin === undefined ? {} : { within: rootWithin }),
    });
  }

  async prepare(): Promise<void> {
    const what = { action: "prepare", key: this.#address } as const;
    attempt(what, () => {
      this.#folders.requireWithin();
      this.#folders.makeRoot();
    });
    await attemptAsync(what, () => this.#folders.syncRoot(this.#sync.folder));
  }

  locate(key: string): string {
    return `${this.#address}/${encodePath(this.#placement.place(key).key)}`;
  }

  async head(key: string): Promise<ObjectInfo | undefined> {
    const place = this.#reach(key);
    if (!place) return undefined;
    const found = attempt({ action: "read", key }, () => lstatIfThere(place.path));
    return found?.isFile() ? { key, sizeBytes: found.size, modifiedMs: found.mtimeMs } : undefined;
  }

  async localFile(key: string): Promise<LocalFile | undefined> {
    const place = this.#reach(key);
    return place && attempt({ action: "read", key }, () => fileAt(place.path));
  }

  pages(options: ListOptions = {}): AsyncIterable<ObjectPage> {
    return listPages({ placement: this.#placement, folders: this.#folders }, options);
  }

  async get(
    key: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<{ info: ObjectInfo; body: ByteStream }> {
    if (this.#isBreakDue()) await new Promise(setImmediate);
    return await this.#calling("read", () => openObject(this.#find(key), options));
  }

  async read(key: string, offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    if (this.#isBreakDue()) await new Promise(setImmediate);
    const kept = this.#kept.read(key, { offset, length, into });
    if (kept) return kept;
    return await this.#calling("read", () => {
      const place = this.#find(key);
      if (length > SMALL_BYTES) return readObject(place, { offset, length, into });
      return this.#kept.openAndRead(place, { offset, length, into });
    });
  }

  async put(
    key: string,
    body: Uint8Array | readonly Uint8Array[] | ByteStream,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    if (this.#isBreakDue()) await new Promise(setImmediate);
    const place = this.#placement.place(key);
    this.#kept.forget(key);
    const info = await this.#calling(
      "put",
      () => writeObject(place, body, { ...options, ...this.#writerOptions() }),
    );
    this.#unflushable.delete(key);
    return info;
  }

  makeReady(key: string): boolean {
    try {
      const { folder, path } = this.#placement.place(key);
      if (!this.#folders.isKnown(folder)) return false;
      makeReady(path);
      return true;
    } catch {
      return false; // Who puts it will be told why.
    }
  }

  begin(folder: string): UnnamedObject {
    const named = (key: string) => {
      this.#kept.forget(key);
      this.#unflushable.delete(key);
    };
    return new UnnamedFile(folder, { ...this.#writerOptions(), named, storage: this.#address });
  }

  async putAt(key: string, offset: number, body: Uint8Array | ByteStream): Promise<void> {
    this.#kept.forget(key);
    await this.#calling("put", () => writeAt(this.#find(key), offset, body));
  }

  async putMany(objects: readonly NewObject[]): Promise<void> {
    const placed = objects.map(({ key, body }) => ({ place: this.#placement.place(key), body }));
    await this.#calling("put", () => writeFreshObjects(placed, this.#writerOptions()));
    if (this.#unflushable.size > 0) { for (const { key } of objects) this.#unflushable.delete(key); }
  }

  async flush(keys: readonly string[]): Promise<void> {
    await this.#calling("flush", () =>
      this.#flush(keys, async (places, flushing) => {
        await flushPlaces(places, flushing);
        await attemptAsync(
          { action: "flush", key: places[0]!.key },
          () => this.#folders.syncRoot(this.#sync.folder),
        );
      }));
  }

  async flushData(keys: readonly string[]): Promise<void> {
    await this.#calling("flush", () => this.#flush(keys, flushData));
  }

  letGo(keys: readonly string[]): void {
    for (const key of keys) {
      this.#kept.forget(key);
      letPagesGo(() => this.#placement.place(key));
    }
  }

  async #flush(
    keys: readonly string[],
    flush: (places: readonly Place[], flushing: Flushing) => Promise<void>,
  ): Promise<void> {
    const places = [...new Set(keys)].map((key) => this.#find(key));
    if (places.length === 0) return;
    for (const { key } of places) if (this.#unflushable.has(key)) throw neverFlushed(key);
    try {
      const flushing = { placement: this.#placement, sync: this.#sync, onDisk: this.#onDisk };
      await flush(places, flushing);
    } catch (error) {
      if (mayHaveLostWrites(error)) { for (const { key } of places) this.#unflushable.add(key); }
      throw error;
    }
  }

  async delete(key: string): Promise<boolean> {
    if (this.#isBreakDue()) await new Promise(setImmediate);
    this.#kept.forget(key);
    const place = this.#reach(key);
    if (!place) return false;
    try {
      if (!lstatIfThere(place.path)?.isFile()) return false;
      unlinkSync(place.path);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return false; // Somebody else was faster.
      throw ofStorage(translated(error, { action: "delete", key }), "delete", this.#address);
    }
    this.#folders.prune(place.folder);
    this.#unflushable.delete(key);
    return true;
  }

  /** Names this store in what fails for all objects; one may be missing because all are: their folder has vanished. */
  async #calling<T>(action: Attempt["action"], call: () => T | Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (isCoded(error, "object_not_found")) this.#folders.requireRoot();
      throw ofStorage(error, action, this.#address);
    }
  }

  #writerOptions(): WriterOptions {
    return { placement: this.#placement, folders: this.#folders, sync: this.#sync };
  }

  /** Small objects move by synchronous calls, so that a caller who awaits one after the other would never yield. */
  #isBreakDue(): boolean {
    return ++this.#calls % CALLS_BETWEEN_BREAKS === 0;
  }

  /** Returns where a key lies, or `undefined` when its folder is not there. */
  #reach(key: string): Place | undefined {
    const place = this.#placement.place(key);
    const isThere = attempt({ action: "read", key }, () => this.#folders.find(place.folder, key));
    return isThere ? place : undefined;
  }

  #find(key: string): Place {
    const place = this.#reach(key);
    if (!place) throw notFound(key);
    return place;
  }
}

function mayHaveLostWrites(error: unknown): boolean {
  const { errno } = error instanceof CodedError ? error.details : {};
  return errno === "EIO" || errno === "ENOSPC" || errno === "EDQUOT";
}

function neverFlushed(key: string): CodedError {
  return new CodedError(
    "unavailable",
    "storage_unavailable",
    `Cannot flush "${key}": an earlier flush of it failed, so it must be put again`,
    { details: { key } },
  );
}
