/**
 * Keeping a cache within its bytes: what was not used for longest goes first, and never what a fetch, an open file or a
 * snapshot uses, in whichever process.
 *
 * About how much there is stands in one record, which writers add to; only when that is over the limit are all records looked
 * at. What goes is a file that was fetched alone or a folder as a whole, without those of its files that belong to something
 * else as well.
 */

import type { Clock } from "../../base/clock.ts";
import type { CacheKey } from "../cache.ts";
import type { FileRecordState } from "./content.ts";
import { packKey } from "./file_records.ts";
import { type Parts, unpackMeta } from "./files.ts";
import { type CacheItem, cacheItems, totalOf } from "./items.ts";
import { HeldFolders } from "./folder_records.ts";
import { keyBelow } from "./layout.ts";
import type { Leases } from "./leases.ts";
import { bytesAt, messagePack, readRecord, removeIfThere, unsealed, writeRecord } from "./records.ts";
import { lockItem } from "./item_locks.ts";
import { walkContent } from "./walk.ts";

/** Eviction goes on down to this part of the limit, so that not each write evicts. */
const KEPT_PART = 0.9;

export interface EvictionParts extends Parts {
  readonly leases: Leases;
  readonly clock: Clock;
}

export interface Evicted {
  readonly items: readonly CacheItem[];
  readonly freedBytes: number;
}

export class Eviction {
  readonly #parts: EvictionParts;

  constructor(parts: EvictionParts) {
    this.#parts = parts;
  }

  /** Counts bytes that were written, and evicts if there are more than `maxBytes` then. */
  async noteWritten(bytes: number, maxBytes: number): Promise<void> {
    const known = await this.#count(bytes);
    if (known === undefined || known > maxBytes) await this.keepWithin(maxBytes);
  }

  /** Evicts what was not used for longest until what is left has at most so many bytes, as far as nothing of it is used. */
  async keepWithin(maxBytes: number): Promise<Evicted> {
    const nothing: Evicted = { items: [], freedBytes: 0 };
    const lock = await this.#parts.locks.tryTake("evict");
    if (!lock) return nothing;
    try {
      const items = await allItems(this.#parts);
      let total = totalOf(items).sizeBytes;
      const evicted: CacheItem[] = [];
      let freedBytes = 0;
      if (total > maxBytes) {
        for (const item of [...items].sort((a, b) => a.lastUsedMs - b.lastUsedMs)) {
          if (total <= maxBytes * KEPT_PART) break;
          const freed = await this.evict(item);
          if (freed === undefined) continue;
          evicted.push(item);
          freedBytes += freed;
          total -= freed;
        }
      }
      await this.#setCount(total);
      return { items: evicted, freedBytes };
    } finally {
      lock.release();
    }
  }

  /** Removes one item and returns the bytes that are free now, or `undefined` when something uses it. */
  async evict({ kind, key }: CacheItem): Promise<number | undefined> {
    const held = await lockItem(this.#parts, key);
    if (!held) return undefined;
    try {
      // Looked at once before, so that a record which is used is not taken away for nothing.
      if (await this.#parts.leases.isUsed(key)) return undefined;
      return kind === "file" ? await this.#evictFile(key) : await this.#evictFolder(key);
    } finally {
      for (const lock of held) lock.release();
    }
  }

  async #evictFile(key: CacheKey): Promise<number | undefined> {
    const { layout, leases, temporary } = this.#parts;
    const path = layout.metaOf(key);
    const record = await readRecord(path);
    removeIfThere(path);
    if (await leases.isUsed(key)) {
      await writeRecord(path, record, await temporary.path());
      return undefined;
    }
    const file = unpackMeta(record)?.file;
    if (!file || await new HeldFolders(layout).include(key)) return 0;
    return await this.removeStray(key, file);
  }

  async #evictFolder(key: CacheKey): Promise<number | undefined> {
    const { layout, leases, temporary } = this.#parts;
    const path = layout.doneOf(key);
    const unfinished = layout.listOf(key, "unfinished");
    const done = await readRecord(path);
    // Should this process be killed, the folder is one that is not whole.
    await writeRecord(unfinished, packKey(key), await temporary.path());
    removeIfThere(path);
    if (await leases.isUsed(key)) {
      if (done !== undefined) {
        await writeRecord(path, done, await temporary.path());
        removeIfThere(unfinished);
      }
      return undefined;
    }
    const freed = await this.#removeContent(key);
    for (const suffix of ["list", "plan", "partial"] as const) removeIfThere(layout.listOf(key, suffix));
    removeIfThere(unfinished);
    return freed;
  }

  /** Removes the files of a folder that belong to nothing else: no other folder, and no record of their own. */
  async #removeContent(key: CacheKey): Promise<number> {
    const { layout, content } = this.#parts;
    const root = layout.contentOf(key);
    const others = new HeldFolders(layout);
    let freed = 0;
    for (const path of walkContent(root)) {
      const file = keyBelow(key, path);
      if (!await others.include(file, key)) freed += await this.removeStray(file);
    }
    content.pruneFolders(root);
    return freed;
  }

  /** Removes a file that has no record, if it is in the state that is given, and returns its bytes. */
  async removeStray(key: CacheKey, state?: FileRecordState): Promise<number> {
    const { layout, content, writing } = this.#parts;
    const pack = await messagePack();
    return await writing.run(() => {
      const record = bytesAt(layout.metaOf(key));
      if (record && unpackMeta(unsealed(pack, record))) return 0;
      const size = content.look(layout.contentOf(key))?.size ?? 0;
      return content.remove(key, state) ? size : 0;
    });
  }

  /** Lets the next write count anew: much has been removed. */
  async forgetCount(): Promise<void> {
    removeIfThere(this.#parts.layout.usage);
  }

  /** Adds to the count of bytes; returns it, or `undefined` when nobody has counted yet. */
  #count(bytes: number): Promise<number | undefined> {
    const { layout, locks, temporary } = this.#parts;
    return locks.holding("usage", async () => {
      const known = await readRecord(layout.usage);
      if (typeof known !== "number") return undefined;
      await writeRecord(layout.usage, known + bytes, await temporary.path());
      return known + bytes;
    });
  }

  async #setCount(bytes: number): Promise<void> {
    const { layout, locks, temporary } = this.#parts;
    await locks.holding("usage", async () => writeRecord(layout.usage, bytes, await temporary.path()));
  }
}

async function allItems({ layout }: Parts): Promise<readonly CacheItem[]> {
  const items: CacheItem[] = [];
  for await (const item of cacheItems(layout)) items.push(item);
  return items;
}
