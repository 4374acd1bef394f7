/**
 * Files of this machine in the catalog. They have one version, and are used where they are: nothing of them is cached.
 *
 * A write goes to a temporary file in the same folder, which a rename puts in its place: readers see the old file or the new
 * one whole. It keeps the mode of the file that it replaces.
 */

import * as fs from "node:fs";
import { mkdir, readdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hex } from "../../base/bytes.ts";
import { CodedError, throwIfAborted } from "../../base/errors.ts";
import { compareKeys } from "../../base/key_order.ts";
import { systemRandomness } from "../../base/randomness.ts";
import { formatUri, type Uri } from "../../base/uri.ts";
import type { Cache } from "../../cache/mod.ts";
import { abortable } from "../byte_streams.ts";
import { CatalogStoreBase, noFolderAt, nothingAt, unusableUri } from "../catalog_base.ts";
import type { CallOptions, CatalogStore, Entry, PutSource } from "../catalog_store.ts";
import { sourceBytes } from "../put_source.ts";
import { LocalPlaces, outside, type RealPlace } from "./catalog_places.ts";
import { errnoOf } from "./failures.ts";
import { unlinkQuietly, writeAll } from "./file_calls.ts";
import { systemSync } from "./syncing.ts";

export interface FileCatalogOptions {
  readonly name: string;
  /** Confines reads and writes. */
  readonly root?: string;
}

const PAGE_ENTRIES = 1000;
/** As of `get`: what walks a folder leaves these out. */
const UNFINISHED = /^\.tarn-[0-9a-f]{16}\.tmp$/;

export function openFileCatalogStore(options: FileCatalogOptions): CatalogStore {
  return new FileCatalogStore(options);
}

class FileCatalogStore extends CatalogStoreBase {
  readonly #places: LocalPlaces;

  constructor({ name, root }: FileCatalogOptions) {
    super(name, "file");
    this.#places = new LocalPlaces(root);
  }

  override async pin(uri: Uri): Promise<Uri> {
    this.#places.place(uri);
    return uri;
  }

  async stat(uri: Uri): Promise<Entry> {
    const place = this.#places.place(uri);
    return entryOf(place.name, this.#find(uri).stat);
  }

  async *list(uri: Uri): AsyncGenerator<readonly Entry[]> {
    const { path, stat } = this.#find(uri);
    if (!stat.isDirectory()) throw noFolderAt(uri);
    const names = await attempt(uri, "list", () => readdir(path));
    names.sort(compareKeys);
    for (let at = 0; at < names.length; at += PAGE_ENTRIES) {
      const entries: Entry[] = [];
      for (const name of names.slice(at, at + PAGE_ENTRIES)) {
        const found = UNFINISHED.test(name) ? undefined : this.#look(join(path, name), uri);
        if (found) entries.push(entryOf(name, found.stat));
      }
      yield entries;
    }
  }

  async fetch(uri: Uri, _cache: Cache, { signal }: CallOptions = {}): Promise<string> {
    const { path, stat } = this.#find(uri);
    if (stat.isDirectory() && this.#places.hasRoot) await this.#checkTree(path, uri, signal);
    return path;
  }

  override async put(
    uri: Uri,
    source: PutSource,
    _cache: Cache,
    { signal }: CallOptions = {},
  ): Promise<Entry> {
    const place = this.#places.place(uri);
    if (place.isFolder || place.path === "/") throw unusableUri(uri, "it names no file");
    return await attempt(uri, "put", async () => {
      const target = this.#places.target(place);
      await makeFolders(uri, dirname(target));
      // What was made or swapped meanwhile may lead elsewhere.
      const folder = fs.realpathSync(dirname(target));
      if (!this.#places.isInside(folder)) throw outside(uri);
      await writeFile(uri, join(folder, place.name), { source, signal });
      return entryOf(place.name, fs.statSync(join(folder, place.name)));
    });
  }

  override async delete(uri: Uri): Promise<void> {
    const place = this.#places.place(uri);
    await attempt(uri, "delete", async () => {
      const target = this.#places.target(place);
      const found = fs.lstatSync(target, { throwIfNoEntry: false });
      if (!found) throw nothingAt(uri);
      if (place.isFolder || found.isDirectory()) throw unusableUri(uri, "it is a folder; name a file in it");
      await unlink(target);
      await systemSync.folder(dirname(target));
    });
  }

  #find(uri: Uri): RealPlace {
    const place = this.#places.place(uri);
    const found = attemptNow(uri, "read", () => this.#places.find(place));
    if (!found || !(found.stat.isFile() || found.stat.isDirectory())) throw nothingAt(uri);
    if (place.isFolder && !found.stat.isDirectory()) throw nothingAt(uri);
    return found;
  }

  /** Returns what lies in a folder under a name; nothing for devices, and for what a symlink leads to out of the root. */
  #look(path: string, uri: Uri): RealPlace | undefined {
    try {
      const found = this.#places.find({ uri, path, name: "", isFolder: false });
      return found && (found.stat.isFile() || found.stat.isDirectory()) ? found : undefined;
    } catch (error) {
      if (errnoOf(error) !== undefined || error instanceof CodedError) return undefined;
      throw error;
    }
  }

  /** Fails with `outside_root` if a symlink in a folder that is handed out leads out of the root. */
  async #checkTree(folder: string, uri: Uri, signal: AbortSignal | undefined): Promise<void> {
    const open = [folder];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const current = at;
      for (const entry of await attempt(uri, "fetch", () => readdir(current, { withFileTypes: true }))) {
        const path = join(current, entry.name);
        if (entry.isDirectory()) open.push(path);
        else if (entry.isSymbolicLink()) this.#checkLink(path, uri);
      }
      throwIfAborted(signal);
    }
  }

  #checkLink(path: string, uri: Uri): void {
    let real: string;
    try {
      real = fs.realpathSync(path);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return; // It leads to nothing.
    }
    if (!this.#places.isInside(real)) throw outside(uri);
  }
}

function entryOf(name: string, stat: fs.Stats): Entry {
  if (stat.isDirectory()) return { name, kind: "folder", modifiedMs: stat.mtimeMs };
  const version = `${Math.round(stat.mtimeMs * 1000).toString(36)}-${stat.size.toString(36)}`;
  return { name, kind: "file", sizeBytes: stat.size, version, modifiedMs: stat.mtimeMs };
}

/** Makes folders, and those entries durable that lead to them. */
async function makeFolders(uri: Uri, folder: string): Promise<void> {
  let first: string | undefined;
  try {
    first = await mkdir(folder, { recursive: true });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== "EEXIST" && errno !== "ENOTDIR") throw error;
    throw inTheWay(uri, "file_in_the_way", "a file is where it needs a folder", error);
  }
  if (first === undefined) return;
  for (let at = dirname(folder); at.length >= dirname(first).length; at = dirname(at)) {
    await systemSync.folder(at);
    if (at === dirname(at)) return;
  }
}

async function writeFile(
  uri: Uri,
  path: string,
  { source, signal }: { source: PutSource; signal?: AbortSignal },
): Promise<void> {
  const before = fs.lstatSync(path, { throwIfNoEntry: false });
  if (before?.isDirectory()) throw inTheWay(uri, "folder_in_the_way", "a folder has its name");
  const temporary = join(dirname(path), `.tarn-${hex(systemRandomness.bytes(8))}.tmp`);
  let fd: number | undefined = fs.openSync(temporary, "wx");
  try {
    for await (const piece of abortable(sourceBytes(source), signal)) await writeAll(fd, piece);
    if (before?.isFile()) fs.fchmodSync(fd, before.mode & 0o7777);
    fs.closeSync(fd);
    fd = undefined;
    await systemSync.file(temporary);
    fs.renameSync(temporary, path);
  } catch (error) {
    if (fd !== undefined) fs.closeSync(fd);
    unlinkQuietly(temporary);
    throw error;
  }
  await systemSync.folder(dirname(path));
}

function inTheWay(
  uri: Uri,
  code: "file_in_the_way" | "folder_in_the_way",
  why: string,
  cause?: unknown,
): CodedError {
  const text = formatUri(uri);
  return new CodedError("invalid", code, `Cannot put "${text}": ${why}`, { details: { uri: text }, cause });
}

type Action = "read" | "list" | "fetch" | "put" | "delete";

async function attempt<T>(uri: Uri, action: Action, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw translated(error, { uri, action });
  }
}

function attemptNow<T>(uri: Uri, action: Action, calls: () => T): T {
  try {
    return calls();
  } catch (error) {
    throw translated(error, { uri, action });
  }
}

function translated(error: unknown, { uri, action }: { uri: Uri; action: Action }): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const text = formatUri(uri);
  const options = { details: { uri: text, errno }, cause: error };
  const message = (why: string) => `Cannot ${action} "${text}": ${why}`;
  switch (errno) {
    case "ENOENT":
    case "ENOTDIR":
      if (action === "put") {
        return inTheWay(uri, "file_in_the_way", "no folder can be where it needs one", error);
      }
      return nothingAt(uri, error);
    case "EACCES":
    case "EPERM":
      return new CodedError("forbidden", "file_forbidden", message("permission denied"), options);
    case "EROFS":
      return new CodedError("forbidden", "file_forbidden", message("the disk is read-only"), options);
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new CodedError("unavailable", "disk_full", message("the disk is full"), options);
    default:
      return new CodedError(
        "unavailable",
        "file_unavailable",
        message(`the system answered ${errno}`),
        options,
      );
  }
}
