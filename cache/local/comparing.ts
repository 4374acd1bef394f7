/**
 * Comparing what a store lists with what a folder of the cache holds: three sorted streams, read side by side.
 *
 * What comes out is a plan: for each path, that its file is there and current, that it is to be downloaded, or that it is to be
 * deleted. Nothing of the folder is changed, and of files that are as they were left nothing but their state is read.
 */

import { CodedError } from "../../base/errors.ts";
import { compareKeys } from "../../base/key_order.ts";
import { PlacementCheck } from "../../base/placement.ts";
import type { CacheKey, FolderFile } from "../cache.ts";
import { isSameFile } from "./content.ts";
import { type FileRecord, isCurrent, type ListedFile } from "./file_records.ts";
import { type Files, type Parts, unpackMeta } from "./files.ts";
import { type ListItem, pathOf, readList } from "./folder_list.ts";
import { doneFoldersAround, listedPart } from "./folder_records.ts";
import { keyBelow, shownKey } from "./layout.ts";
import { readRecord } from "./records.ts";
import { Sorted } from "./sorted.ts";
import { walkContent } from "./walk.ts";

export interface PlanItem {
  readonly item: ListItem;
  /** Whether the folder's list has it so already. */
  readonly isListed: boolean;
}

/** Yields the plan for a folder, in byte order, page by page. Fails with `unplaceable_key` before anything was changed. */
export async function* planFolder(
  parts: ComparingParts,
  key: CacheKey,
  listing: AsyncIterable<readonly FolderFile[]>,
): AsyncGenerator<readonly PlanItem[]> {
  const { layout } = parts;
  const there = new Sorted(pagesOf(walkContent(layout.contentOf(key))), (path) => path);
  const lists = await Array.fromAsync(listsOf(parts, key), (pages) => new Sorted(pages, pathOf));
  const check = new ListingCheck(key);
  let plan: PlanItem[] = [];
  const gone = (path: string) => void plan.push({ item: { kind: "gone", path }, isListed: false });
  try {
    for await (const page of listing) {
      for (const file of page) {
        check.check(file.path);
        // Nearly always a page is at hand: to wait for each of them would cost more than all else.
        while (!there.isAt(file.path, gone)) await there.load();
        for (const list of lists) while (!list.isAt(file.path)) await list.load();
        const isThere = there.take(file.path) !== undefined;
        const records = lists.map((list) => cachedFileOf(list.take(file.path)));
        const compared = { key: keyBelow(key, file.path), file, records };
        plan.push(
          isThere ? planKnown(parts, compared) ?? await planUnknown(parts, compared) : wanted(file),
        );
      }
      yield plan;
      plan = [];
    }
    while (!there.isAt(undefined, gone)) await there.load();
    yield plan;
  } finally {
    await Promise.all([there, ...lists].map((sorted) => sorted.close()));
  }
}

/** Yields the folder's list, those that unfinished fetches left, and the parts that whole folders around it have of it. */
async function* listsOf(
  { layout }: Parts,
  key: CacheKey,
): AsyncGenerator<AsyncIterable<readonly ListItem[]>> {
  for (const suffix of ["list", "plan", "partial"] as const) yield readList(layout.listOf(key, suffix));
  for await (const around of doneFoldersAround(layout, key)) yield listedPart(layout, around);
}

type ComparingParts = Parts & { readonly files: Files };

interface Compared {
  readonly key: CacheKey;
  readonly file: FolderFile;
  /** What the folder's list says of it, and then what others do. */
  readonly records: readonly (ListedFile | undefined)[];
}

function cachedFileOf(item: ListItem | undefined): ListedFile | undefined {
  return item?.kind === "cached" ? item.file : undefined;
}

/** Plans for a file that is in the state of one of its records. */
function planKnown({ layout, content }: Parts, { key, file, records }: Compared): PlanItem | undefined {
  const state = content.look(layout.contentOf(key));
  if (!state) return wanted(file);
  const record = records.find((one) => one && isSameFile(one, state));
  return record && planRecorded(file, record, record === records[0] && record.version === file.version);
}

/** Plans for a file that is in no state that a list knows: it may have a record of its own, or a hash that is right. */
async function planUnknown(parts: ComparingParts, { key, file, records }: Compared): Promise<PlanItem> {
  const { layout, content, files } = parts;
  const own = unpackMeta(await readRecord(layout.metaOf(key)))?.file;
  const state = content.look(layout.contentOf(key));
  if (own && state && isSameFile(own, state)) return planRecorded(file, own, false);
  for (const record of [own, ...records]) {
    // Hashing pays only where it may save a download.
    const found = record && isCurrent(record, file) ? await files.recheck(key, record) : undefined;
    if (found) return planRecorded(file, found, false);
  }
  return wanted(file);
}

function planRecorded(file: FolderFile, record: FileRecord, isListed: boolean): PlanItem {
  if (!isCurrent(record, file)) return wanted(file);
  if (isListed) return { item: { kind: "cached", file: record as ListedFile }, isListed };
  return { item: { kind: "cached", file: { ...record, path: file.path, version: file.version } }, isListed };
}

function wanted(file: FolderFile): PlanItem {
  return { item: { kind: "wanted", file }, isListed: false };
}

/** Checks the paths of a listing: each can be placed, none twice, in byte order. */
class ListingCheck {
  readonly #key: CacheKey;
  readonly #placement = new PlacementCheck();
  #last: string | undefined;

  constructor(key: CacheKey) {
    this.#key = key;
  }

  check(path: string): void {
    if (this.#last !== undefined && compareKeys(this.#last, path) >= 0) {
      this.#refuse(path, "its store does not list it in order");
    }
    this.#last = path;
    const why = path.isWellFormed() ? this.#placement.refusal(path) : "it is not valid text";
    if (why !== undefined) this.#refuse(path, why);
  }

  #refuse(path: string, why: string): never {
    throw new CodedError(
      "invalid",
      "unplaceable_key",
      `Cannot fetch the folder "${shownKey(this.#key)}": "${path}" cannot be placed: ${why}`,
      { details: { key: path } },
    );
  }
}

const PAGE_ITEMS = 1000;

async function* pagesOf<T>(items: Iterable<T>): AsyncGenerator<readonly T[]> {
  let page: T[] = [];
  for (const item of items) {
    page.push(item);
    if (page.length < PAGE_ITEMS) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
