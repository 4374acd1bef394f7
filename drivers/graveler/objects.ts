/** The objects that locations name, as entries, and as files of a folder that is fetched. */

import { isCoded } from "../../base/errors.ts";
import type { Download, FolderFile } from "../../cache/mod.ts";
import type { CallOptions, Entry } from "../catalog_store.ts";
import type { ListItem, ObjectStats, Store } from "../store.ts";
import { keyOf, type RefLocation } from "./location.ts";
import type { Version } from "./refs.ts";

export class StoredObjects {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the object of a location, unless the URI says that it means a folder. */
  async find(location: RefLocation, { ref }: Version): Promise<ObjectStats | undefined> {
    if (location.parts.length === 0 || location.isFolder) return undefined;
    try {
      return await this.#store.stat(location.repository, ref, keyOf(location));
    } catch (error) {
      if (isCoded(error, "object_not_found", "invalid_path")) return undefined;
      throw error;
    }
  }

  /** Returns whether there are objects below a location; a branch without any is a folder all the same. */
  async isFolder(location: RefLocation, version: Version): Promise<boolean> {
    if (location.parts.length === 0) return true;
    for await (const page of this.#list(location, version, { amount: 1 })) if (page.length > 0) return true;
    return false;
  }

  /** Yields what lies directly in a folder. An object that has its name with a slash marks it, and is nothing in it. */
  async *entries(location: RefLocation, version: Version): AsyncGenerator<readonly Entry[]> {
    const start = prefixOf(location).length;
    for await (const page of this.#list(location, version, { delimiter: "/" })) {
      const entries = page.map((item): Entry =>
        item.kind === "object"
          ? fileEntry(item.stats.path.slice(start), item.stats)
          : { name: item.path.slice(start, -1), kind: "folder" }
      );
      yield entries.filter(({ name, kind }) => name !== "" || kind === "folder");
    }
  }

  /** Yields all files below a folder, without the empty objects that only mark folders. */
  async *files(location: RefLocation, version: Version): AsyncGenerator<readonly FolderFile[]> {
    const start = prefixOf(location).length;
    for await (const page of this.#list(location, version)) {
      const files: FolderFile[] = [];
      for (const item of page) {
        if (item.kind !== "object" || isMarker(item.stats)) continue;
        files.push({ path: item.stats.path.slice(start), ...versionOf(item.stats) });
      }
      yield files;
    }
  }

  /** Opens an object, by its path below a location. */
  async download(
    location: RefLocation,
    { ref }: Version,
    { below, signal }: CallOptions & { readonly below?: string },
  ): Promise<Download> {
    const path = below === undefined ? keyOf(location) : prefixOf(location) + below;
    const { stats, body } = await this.#store.read(location.repository, ref, path, { signal });
    return { body, ...versionOf(stats) };
  }

  #list(
    location: RefLocation,
    { ref }: Version,
    options: { delimiter?: string; amount?: number } = {},
  ): AsyncIterable<readonly ListItem[]> {
    return this.#store.list(location.repository, ref, { ...options, prefix: prefixOf(location) });
  }
}

function prefixOf(location: RefLocation): string {
  return location.parts.length === 0 ? "" : `${keyOf(location)}/`;
}

function isMarker({ path, sizeBytes }: ObjectStats): boolean {
  return sizeBytes === 0 && path.endsWith("/");
}

/** Returns what tells an object's content from another one's. */
export function versionOf({ checksum, sizeBytes, sha256 }: ObjectStats): {
  version: string;
  sizeBytes: number;
  sha256?: string;
} {
  return { version: checksum, sizeBytes, ...(sha256 === undefined ? {} : { sha256 }) };
}

export function fileEntry(name: string, stats: ObjectStats): Entry {
  return { name, kind: "file", ...versionOf(stats), modifiedMs: stats.mtimeMs };
}
