/**
 * Other versions of what is fetched, in the cache already: what is the same in them is copied and not downloaded. On a disk
 * that can do that, copies share their blocks.
 */

import { inOrder } from "../../base/in_flight.ts";
import type { CacheKey, FileVersion } from "../cache.ts";
import { type FileRecord, isCurrent, type ListedFile } from "./file_records.ts";
import type { Files, Parts } from "./files.ts";
import { type ListItem, ListWriter, pathOf, readList } from "./folder_list.ts";
import { type Around, doneFolder, doneFoldersAround, listedPart } from "./folder_records.ts";
import { namesIn, timeOf } from "./items.ts";
import { keyBelow } from "./layout.ts";
import { moveInto, removeIfThere } from "./records.ts";
import { Sorted } from "./sorted.ts";

/** Of more versions than this, those that were used last are looked through. */
const MOST_FOLDERS = 3;
const MOST_FILES = 16;
/** Of more copies than this the paths are not kept. */
const MOST_PATHS = 1000;

export interface Kin {
  readonly key: CacheKey;
  /** Which part of the key picks the version. */
  readonly versionPart: number;
}

type KinParts = Parts & { readonly files: Files };

/** Returns a file of another version that is what is wanted, or `undefined`. */
export async function kinFile(
  { layout, files }: KinParts,
  kin: Kin,
  { wanted, nowMs }: { readonly wanted: FileVersion; readonly nowMs: number },
): Promise<{ readonly path: string; readonly record: FileRecord } | undefined> {
  let looked = 0;
  for (const key of otherVersions(layout, kin)) {
    if (looked++ === MOST_FILES) return undefined;
    const record = await files.find(key, nowMs);
    if (record && isCurrent(record, wanted)) return { path: layout.contentOf(key), record };
  }
  return undefined;
}

/**
 * Copies what a plan wants and another version has, and writes the plan anew with that as there. Returns how many bytes there
 * were, and the paths of the copies, up to a bound.
 */
export async function copyFromKin(parts: KinParts, kin: Kin): Promise<{ bytes: number; paths: string[] }> {
  const { layout, files, temporary } = parts;
  const folders = await foldersOf(parts, kin);
  const copied = { bytes: 0, paths: [] as string[] };
  if (folders.length === 0) return copied;
  const copy = async ({ item, from }: Found): Promise<ListItem> => {
    if (!from || item.kind !== "wanted") return item;
    const key = keyBelow(kin.key, item.file.path);
    const record = await files.copy(key, from);
    if (!record) return item;
    copied.bytes += record.size;
    if (copied.paths.length < MOST_PATHS) copied.paths.push(layout.contentOf(key));
    return { kind: "cached", file: { path: item.file.path, ...record, version: item.file.version } };
  };
  const planPath = layout.listOf(kin.key, "plan");
  const path = await temporary.path();
  const writer = await ListWriter.create(path);
  try {
    for await (const item of inOrder(findInOrder(parts, planPath, folders), copy)) writer.add(item);
    writer.close();
    moveInto(path, planPath);
  } finally {
    writer.closeQuietly();
    removeIfThere(path);
  }
  return copied;
}

interface Found {
  readonly item: ListItem;
  readonly from?: { readonly path: string; readonly record: FileRecord };
}

/** Yields the items of a plan, each with the file of another version that it could be copied from. */
async function* findInOrder(
  { layout }: Parts,
  planPath: string,
  folders: readonly Around[],
): AsyncGenerator<Found> {
  const lists = folders.map((around) => ({ around, list: new Sorted(listedPart(layout, around), pathOf) }));
  try {
    for await (const items of readList(planPath)) {
      for (const item of items) {
        if (item.kind !== "wanted") {
          yield { item };
          continue;
        }
        let from: Found["from"];
        for (const { around, list } of lists) {
          while (!list.isAt(item.file.path)) await list.load();
          const record = fileOf(list.take(item.file.path));
          if (record && !from && isCurrent(record, item.file)) {
            const inside = around.path === "" ? record.path : `${around.path}/${record.path}`;
            from = { path: layout.contentOf(keyBelow(around.done.key, inside)), record };
          }
        }
        yield { item, ...(from ? { from } : {}) };
      }
    }
  } finally {
    await Promise.all(lists.map(({ list }) => list.close()));
  }
}

function fileOf(item: ListItem | undefined): ListedFile | undefined {
  return item?.kind === "cached" ? item.file : undefined;
}

/** Returns the whole folders that hold other versions of a folder, those that were used last first. */
async function foldersOf({ layout }: Parts, kin: Kin): Promise<readonly Around[]> {
  const found: { around: Around; usedMs: number }[] = [];
  for (const key of otherVersions(layout, kin)) {
    const around = await wholeFolder(layout, key);
    if (around) found.push({ around, usedMs: timeOf(layout.doneOf(around.done.key)) });
  }
  found.sort((a, b) => b.usedMs - a.usedMs);
  return found.slice(0, MOST_FOLDERS).map(({ around }) => around);
}

async function wholeFolder(layout: Parts["layout"], key: CacheKey): Promise<Around | undefined> {
  const done = await doneFolder(layout, key);
  if (done) return { done, path: "" };
  for await (const around of doneFoldersAround(layout, key)) return around;
  return undefined;
}

/** Yields the keys of other versions that there may be: what lies beside the version's own folder. */
function* otherVersions(
  layout: Parts["layout"],
  { key: { store, parts }, versionPart }: Kin,
): Generator<CacheKey> {
  const own = parts[versionPart];
  const after = parts.slice(versionPart + 1);
  for (const name of namesIn(layout.contentOf({ store, parts: parts.slice(0, versionPart) }))) {
    if (name !== own) yield { store, parts: [...parts.slice(0, versionPart), name, ...after] };
  }
}
