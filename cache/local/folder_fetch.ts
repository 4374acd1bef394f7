/**
 * Making a folder of the cache what its store lists.
 *
 * 1. **Compare** (`comparing.ts`): all names are checked, and a plan is written to a temporary file. If all is there and
 *    listed so, nothing else happens.
 * 2. **Mark.** The folder is noted as unfinished, and the marker of the whole one goes; the plan gets its name, so that a fetch
 *    after a kill knows what it says.
 * 3. **Delete** what the store has no more, with the folders that become empty: it may stand where a file goes.
 * 4. **Copy** what another version of the folder has (`kin.ts`), and **download** the rest (`folder_downloads.ts`). The new list grows in the order of the plan.
 * 5. **Flush**, then the list gets its name, and at last the marker is written again.
 *
 * The caller holds the lock of the folder. A fetch that is killed leaves a folder without its marker, and the lists of what is
 * right in it.
 */

import { CodedError, throwIfAborted } from "../../base/errors.ts";
import type { CacheKey, FolderDownload, FolderFile } from "../cache.ts";
import { planFolder } from "./comparing.ts";
import { packKey } from "./file_records.ts";
import type { Files, Parts } from "./files.ts";
import type { Flush } from "./flushing.ts";
import { FolderDownloads } from "./folder_downloads.ts";
import { type FrameIndex, ListWriter, readList } from "./folder_list.ts";
import { type DoneFolder, doneFolder, packDone } from "./folder_records.ts";
import { copyFromKin } from "./kin.ts";
import { keyBelow, shownKey } from "./layout.ts";
import { moveInto, removeIfThere, writeRecord } from "./records.ts";

export interface FolderParts extends Parts {
  readonly files: Files;
  readonly flush: Flush;
}

export interface FolderFetch {
  readonly key: CacheKey;
  readonly listing: AsyncIterable<readonly FolderFile[]>;
  readonly download: FolderDownload;
  /** Of the folder as a whole. */
  readonly version?: string;
  readonly versionPart?: number;
  readonly signal?: AbortSignal;
}

/** Up to this many files are flushed one by one; for more, the whole disk once. */
const MOST_FLUSHED_SINGLY = 300;

/** Returns how many bytes were downloaded. */
export async function fetchFolder(parts: FolderParts, fetch: FolderFetch): Promise<number> {
  const { layout, temporary } = parts;
  const { key, version } = fetch;
  const planPath = await temporary.path();
  try {
    const plan = await writePlan(parts, fetch, planPath);
    const done = await doneFolder(layout, key);
    if (done && plan.isListed && done.count === plan.count) {
      if (plan.count === 0) parts.content.makeFolder(key);
      if (done.version !== version) await mark(parts, { ...done, version });
      return 0;
    }
    await writeRecord(layout.listOf(key, "unfinished"), packKey(key), await temporary.path());
    removeIfThere(layout.doneOf(key));
    moveInto(planPath, layout.listOf(key, "plan"));
    if (plan.goneCount > 0) await deleteGone(parts, key);
    return await download(parts, fetch, plan);
  } finally {
    removeIfThere(planPath);
  }
}

interface Plan {
  readonly goneCount: number;
  readonly wantedCount: number;
  readonly count: number;
  /** Whether all files are there, current, and in the folder's list. */
  readonly isListed: boolean;
}

async function writePlan(parts: FolderParts, fetch: FolderFetch, path: string): Promise<Plan> {
  const writer = await ListWriter.create(path);
  let goneCount = 0, wantedCount = 0, count = 0, isAllListed = true, isWritten = false;
  try {
    for await (const page of planFolder(parts, fetch.key, fetch.listing)) {
      throwIfAborted(fetch.signal);
      for (const { item, isListed } of page) {
        writer.add(item);
        if (item.kind === "gone") goneCount++;
        else count++;
        if (item.kind === "wanted") wantedCount++;
        isAllListed &&= isListed;
      }
    }
    writer.close();
    isWritten = true;
  } finally {
    if (!isWritten) writer.closeQuietly();
  }
  return { goneCount, wantedCount, count, isListed: isAllListed };
}

async function deleteGone({ layout, writing, content }: FolderParts, key: CacheKey): Promise<void> {
  for await (const items of readList(layout.listOf(key, "plan"))) {
    for (const item of items) {
      if (item.kind !== "gone") continue;
      const file = keyBelow(key, item.path);
      await writing.run(() => {
        content.remove(file);
        removeIfThere(layout.metaOf(file));
      });
    }
  }
}

/** Downloads what the plan wants, and marks the folder as whole. */
async function download(
  parts: FolderParts,
  fetch: FolderFetch,
  { count, wantedCount }: Plan,
): Promise<number> {
  const { layout } = parts;
  const { key, version, versionPart } = fetch;
  const copied = wantedCount === 0 || versionPart === undefined
    ? { bytes: 0, paths: [] }
    : await copyFromKin(parts, { key, versionPart });
  const partial = layout.listOf(key, "partial");
  const downloads = new FolderDownloads(parts, fetch);
  const list = await downloads.writeList(partial);
  if (list.count !== count) throw damagedPlan(key);
  if (count === 0) parts.content.makeFolder(key);
  await flushContent(parts, { key, paths: [...copied.paths, ...downloads.downloadedPaths] }, partial);
  const frames = await writeFinalList(parts, key, partial);
  for (const suffix of ["plan", "partial"] as const) removeIfThere(layout.listOf(key, suffix));
  await mark(parts, { key, version, frames, ...list });
  removeIfThere(layout.listOf(key, "unfinished"));
  return copied.bytes + downloads.downloadedBytes;
}

/** Writes the list anew in large frames: while it grew it was written after every few files. */
async function writeFinalList(
  { layout, temporary }: FolderParts,
  key: CacheKey,
  partial: string,
): Promise<readonly FrameIndex[]> {
  const path = await temporary.path();
  const writer = await ListWriter.create(path);
  try {
    for await (const items of readList(partial)) for (const item of items) writer.add(item);
    const frames = writer.close();
    moveInto(path, layout.listOf(key, "list"));
    return frames;
  } finally {
    writer.closeQuietly();
    removeIfThere(path);
  }
}

async function flushContent(
  parts: FolderParts,
  { key, paths }: { readonly key: CacheKey; readonly paths: readonly string[] },
  list: string,
): Promise<void> {
  const { layout: { root }, flush } = parts;
  if (paths.length <= MOST_FLUSHED_SINGLY) await flush.files(root, paths);
  else if (!await flush.disk(root)) await flush.files(root, allPaths(parts, key, list));
}

async function* allPaths({ layout }: FolderParts, key: CacheKey, list: string): AsyncGenerator<string> {
  for await (const items of readList(list)) {
    for (const item of items) {
      if (item.kind === "cached") yield layout.contentOf(keyBelow(key, item.file.path));
    }
  }
}

async function mark({ layout, temporary, flush }: FolderParts, done: DoneFolder): Promise<void> {
  const path = layout.doneOf(done.key);
  await writeRecord(path, packDone(done), await temporary.path());
  await flush.files(layout.root, [path, layout.listOf(done.key, "list")]);
}

function damagedPlan(key: CacheKey): CodedError {
  return new CodedError(
    "unavailable",
    "file_unavailable",
    `Cannot fetch the folder "${shownKey(key)}": a file of the cache was damaged meanwhile`,
    { details: { uri: shownKey(key) } },
  );
}
