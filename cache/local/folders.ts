/** Folders that were fetched whole: looking at them without their store. */

import type { CachedEntry, CachedFile, CacheKey } from "../cache.ts";
import { isSameFile } from "./content.ts";
import type { ListedFile } from "./file_records.ts";
import type { Files, Parts } from "./files.ts";
import { type Around, doneFolder, doneFoldersAround, listedBelow, touch } from "./folder_records.ts";
import { keyBelow } from "./layout.ts";

export class Folders {
  readonly #parts: Parts;
  readonly #files: Files;

  constructor(parts: Parts, files: Files) {
    this.#parts = parts;
    this.#files = files;
  }

  /** Returns the path of a folder of which every file is what its list says: looked at, and hashed where its state is another. */
  async find(key: CacheKey, nowMs: number): Promise<string | undefined> {
    const { layout } = this.#parts;
    for await (const around of this.#around(key)) {
      if (!await this.#holds(around, nowMs)) continue;
      touch(layout.doneOf(around.done.key), nowMs);
      return layout.contentOf(key);
    }
    return undefined;
  }

  /** Returns what lies directly in a folder that was fetched whole. */
  async list(key: CacheKey): Promise<readonly CachedEntry[] | undefined> {
    for await (const around of this.#around(key)) {
      const entries = await this.#entries(around);
      if (entries) return entries;
    }
    return undefined;
  }

  /** Yields the files of a folder as its list has them; `undefined` instead of the page that is damaged. */
  async *files(
    key: CacheKey,
  ): AsyncGenerator<readonly (CachedFile & { readonly name: string })[] | undefined> {
    const { layout } = this.#parts;
    for await (const around of this.#around(key)) {
      for await (const page of listedBelow(layout, around)) {
        yield page?.map(({ path, version, size, sha256 }) => ({
          name: around.path === "" ? path : path.slice(around.path.length + 1),
          path: layout.contentOf(keyBelow(around.done.key, path)),
          version,
          sizeBytes: size,
          sha256,
        }));
      }
      return;
    }
  }

  /** Yields the whole folders that a folder lies in, itself first. */
  async *#around(key: CacheKey): AsyncGenerator<Around> {
    const { layout } = this.#parts;
    const done = await doneFolder(layout, key);
    if (done) yield { done, path: "" };
    yield* doneFoldersAround(layout, key);
  }

  async #holds(around: Around, nowMs: number): Promise<boolean> {
    let count = 0;
    for await (const page of listedBelow(this.#parts.layout, around)) {
      if (!page) return false;
      for (const file of page) if (!await this.#fileHolds(around.done.key, file, nowMs)) return false;
      count += page.length;
    }
    if (around.path !== "") return count > 0;
    if (count === 0) this.#parts.content.makeFolder(around.done.key);
    return count === around.done.count;
  }

  async #fileHolds(folder: CacheKey, file: ListedFile, nowMs: number): Promise<boolean> {
    const { layout, content } = this.#parts;
    const key = keyBelow(folder, file.path);
    const state = content.look(layout.contentOf(key));
    if (!state) return false;
    return isSameFile(file, state) || await this.#files.find(key, nowMs) !== undefined;
  }

  async #entries(around: Around): Promise<readonly CachedEntry[] | undefined> {
    const entries: CachedEntry[] = [];
    const start = around.path === "" ? 0 : around.path.length + 1;
    for await (const page of listedBelow(this.#parts.layout, around)) {
      if (!page) return undefined;
      for (const { path, size, version } of page) {
        const slash = path.indexOf("/", start);
        if (slash < 0) entries.push({ name: path.slice(start), kind: "file", sizeBytes: size, version });
        else {
          const name = path.slice(start, slash);
          const last = entries.at(-1);
          if (last?.name !== name || last.kind !== "folder") entries.push({ name, kind: "folder" });
        }
      }
    }
    return around.path === "" || entries.length > 0 ? entries : undefined;
  }
}
