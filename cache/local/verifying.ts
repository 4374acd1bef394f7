/** Hashing everything that a cache holds. What is not as it was recorded is removed, so that it is fetched again. */

import type { CacheKey } from "../cache.ts";
import { isSameFile } from "./content.ts";
import { type FileRecord, packKey } from "./file_records.ts";
import { type Parts, unpackMeta } from "./files.ts";
import { doneFolder, doneFoldersAround, listedBelow, listedFile, unpackDone } from "./folder_records.ts";
import { type CacheItem, cacheItems } from "./items.ts";
import { lockItem } from "./item_locks.ts";
import { keyBelow } from "./layout.ts";
import { bytesAt, messagePack, readRecord, removeIfThere, unsealed, writeRecord } from "./records.ts";

export interface Damage {
  readonly key: CacheKey;
  readonly problem: "missing" | "changed" | "list_damaged";
}

/** What was found of one item. */
export interface Verified {
  readonly item: CacheItem;
  readonly files: number;
  readonly bytes: number;
  readonly damage: readonly Damage[];
  /** Somebody is fetching it: nothing was looked at. */
  readonly isBusy?: boolean;
}

/** Yields what was found, item by item. */
export async function* verifyCache(parts: Parts): AsyncGenerator<Verified> {
  for await (const item of cacheItems(parts.layout)) {
    const locks = await lockItem(parts, item.key);
    if (!locks) {
      yield { item, files: 0, bytes: 0, damage: [], isBusy: true };
      continue;
    }
    try {
      yield item.kind === "file" ? await verifyFile(parts, item) : await verifyFolder(parts, item);
    } finally {
      for (const lock of locks) lock.release();
    }
  }
}

async function verifyFile(parts: Parts, item: CacheItem): Promise<Verified> {
  const { layout, content } = parts;
  const { key } = item;
  const file = unpackMeta(await readRecord(layout.metaOf(key)))?.file;
  const found = await content.hash(layout.contentOf(key));
  const counted = { item, files: 1, bytes: found?.state.size ?? 0 };
  if (!file || found?.sha256 === file.sha256) return { ...counted, damage: [] };
  removeIfThere(layout.metaOf(key));
  // A fetch of its folder may have replaced it since.
  for await (const around of doneFoldersAround(layout, key)) {
    if ((await listedFile(layout, around))?.sha256 === found?.sha256) return { ...counted, damage: [] };
  }
  content.remove(key);
  return { ...counted, damage: [{ key, problem: found ? "changed" : "missing" }] };
}

async function verifyFolder(parts: Parts, item: CacheItem): Promise<Verified> {
  const { layout, temporary } = parts;
  const { key } = item;
  const done = await doneFolder(layout, key);
  const damage: Damage[] = [];
  let files = 0, bytes = 0;
  if (done) {
    for await (const page of listedBelow(layout, { done, path: "" })) {
      if (!page) damage.push({ key, problem: "list_damaged" });
      for (const { path, ...record } of page ?? []) {
        files++;
        bytes += record.size;
        const file = keyBelow(key, path);
        const problem = await problemOf(parts, file, record);
        if (problem) damage.push({ key: file, problem });
      }
    }
  } else if (item.isWhole && unpackDone(await readRecord(layout.doneOf(key)))) {
    damage.push({ key, problem: "list_damaged" });
  }
  if (damage.length > 0) {
    await writeRecord(layout.listOf(key, "unfinished"), packKey(key), await temporary.path());
    removeIfThere(layout.doneOf(key));
  }
  return { item, files, bytes, damage };
}

/** Looks at one file of a folder; one that is damaged is removed with its record. */
async function problemOf(
  { layout, writing, content }: Parts,
  key: CacheKey,
  record: FileRecord,
): Promise<Damage["problem"] | undefined> {
  const path = layout.contentOf(key);
  const found = await content.hash(path);
  if (found?.sha256 === record.sha256) return undefined;
  const pack = await messagePack();
  return await writing.run(() => {
    // It may have been fetched alone since, or just now: whoever does that holds this lock until its record is there.
    const now = content.look(path);
    if (now && !(found && isSameFile(now, found.state))) return undefined;
    const own = bytesAt(layout.metaOf(key));
    if (now && own && unpackMeta(unsealed(pack, own))?.file.sha256 === found?.sha256) return undefined;
    content.remove(key);
    removeIfThere(layout.metaOf(key));
    return now ? "changed" : "missing";
  });
}
