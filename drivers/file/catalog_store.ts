/**
 * Files of this machine in the catalog. They have one version, and are used where they are: nothing of them is cached.
 *
 * A write goes to a temporary file in the same folder, which a rename puts in its place: readers see the old file or the new
 * one whole. It keeps the mode of the file that it replaces.
 */

import * as fs from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CodedError, throwIfAborted } from "../../base/errors.ts";
import { OwnFolders, ownStorage } from "../../base/own_folders.ts";
import { compareKeys } from "../../base/key_order.ts";
import { formatUri, type Uri } from "../../base/uri.ts";
import type { Cache } from "../../cache/mod.ts";
import { CatalogStoreBase, noFolderAt, nothingAt, unusableUri } from "../catalog_base.ts";
import type { CallOptions, CatalogStore, Entry, PutSource } from "../catalog_store.ts";
import { attempt, attemptNow } from "./catalog_failures.ts";
import { LocalPlaces, outside, type RealPlace } from "./catalog_places.ts";
import { makeFolders, writeFile } from "./catalog_writing.ts";
import { errnoOf } from "./failures.ts";
import { systemSync } from "./syncing.ts";

export interface FileCatalogOptions {
  readonly name: string;
  /** Confines reads and writes. */
  readonly root?: string;
  /** Tells where nothing is written or removed, beside homes and caches. */
  readonly ownFolders?: () => Promise<OwnFolders>;
}

const PAGE_ENTRIES = 1000;
/** As of `get`: what walks a folder leaves these out. */
const UNFINISHED = /^\.tarn-[0-9a-f]{16}\.tmp$/;

export function openFileCatalogStore(options: FileCatalogOptions): CatalogStore {
  return new FileCatalogStore(options);
}

class FileCatalogStore extends CatalogStoreBase {
  readonly #places: LocalPlaces;
  readonly #ownFolders: () => Promise<OwnFolders>;
  #own: Promise<OwnFolders> | undefined;

  constructor({ name, root, ownFolders = async () => new OwnFolders() }: FileCatalogOptions) {
    super(name, "file");
    this.#places = new LocalPlaces(root);
    this.#ownFolders = ownFolders;
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
    const own = await this.#folders();
    return await attempt(uri, "put", async () => {
      const target = this.#places.target(place);
      if (own.holds(dirname(target))) throw ownStorage(`Cannot put "${formatUri(uri)}"`);
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
    const own = await this.#folders();
    await attempt(uri, "delete", async () => {
      const target = this.#places.target(place);
      if (own.holds(dirname(target))) throw ownStorage(`Cannot delete "${formatUri(uri)}"`);
      const found = fs.lstatSync(target, { throwIfNoEntry: false });
      if (!found) throw nothingAt(uri);
      if (place.isFolder || found.isDirectory()) throw unusableUri(uri, "it is a folder; name a file in it");
      await unlink(target);
      await systemSync.folder(dirname(target));
    });
  }

  #folders(): Promise<OwnFolders> {
    this.#own ??= this.#ownFolders();
    return this.#own;
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
