/** What the cache answers in place of the store. */

import { formatUri, type Uri } from "../../base/uri.ts";
import { type Cache, type CacheKey, notCached } from "../../cache/mod.ts";
import type { Entry } from "../catalog_store.ts";
import { cacheParts, isRef, locationOf, type RefLocation } from "./location.ts";
import type { Refs } from "./refs.ts";

export class OfflineAnswers {
  readonly #name: string;
  readonly #refs: Refs;

  constructor(name: string, refs: Refs) {
    this.#name = name;
    this.#refs = refs;
  }

  async fetch(uri: Uri, location: RefLocation, cache: Cache): Promise<string> {
    for (const key of await this.#keys(location, cache)) {
      const file = mayBeFile(location) ? await cache.cachedFile(key) : undefined;
      const path = file?.path ?? await cache.cachedFolder(key);
      if (path !== undefined) return path;
    }
    throw notCached("fetch", formatUri(uri));
  }

  async stat(uri: Uri, location: RefLocation, cache: Cache): Promise<Entry> {
    for (const key of await this.#keys(location, cache)) {
      const name = location.parts.at(-1) ?? key.parts[1]!;
      const file = mayBeFile(location) ? await cache.cachedFile(key) : undefined;
      if (file) {
        const { sizeBytes, version, sha256 } = file;
        return { name, kind: "file", sizeBytes, version, sha256 };
      }
      if (await cache.cachedList(key)) return { name, kind: "folder" };
    }
    throw notCached("stat", formatUri(uri));
  }

  async list(uri: Uri, cache: Cache): Promise<readonly Entry[]> {
    const location = locationOf(uri);
    for (const key of isRef(location) ? await this.#keys(location, cache) : []) {
      const entries = await cache.cachedList(key);
      if (entries) return entries;
    }
    throw notCached("list", formatUri(uri));
  }

  /** Returns where a location may be in the cache: under the name of its branch, or under the commit that was pinned last. */
  async #keys(location: RefLocation, cache: Cache): Promise<readonly CacheKey[]> {
    const name = location.at ? location.at.kind === "branch" ? location.at.value : undefined : location.ref;
    const refs = [name, await this.#refs.findPinned(location, cache)].filter((ref) => ref !== undefined);
    return refs.map((ref) => ({ store: this.#name, parts: cacheParts(location, ref) }));
  }
}

function mayBeFile({ parts, isFolder }: RefLocation): boolean {
  return parts.length > 0 && !isFolder;
}
