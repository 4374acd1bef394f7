/**
 * Making files survive power loss.
 *
 * A file is durable when its data is (`fdatasync`) and when every folder entry that leads to it is (`fsync` of each
 * folder up to the root). Few files are synced one by one, overlapped on the thread pool; for many, one `syncfs` of the
 * file system costs less than a call for each.
 */

import { closeSync, constants, fdatasync, fsync, openSync, statSync } from "node:fs";
import process from "node:process";
import { setImmediate } from "node:timers";
import { syncFileSystem } from "../../base/platform.ts";
import { attempt, attemptAsync, notFound } from "./failures.ts";
import { lstatIfThere } from "./file_calls.ts";
import type { Identity, OnDisk } from "./on_disk.ts";
import { parentOf, type Place, type Placement } from "./placement.ts";

const MAX_SYNCED_SINGLY = 300;
const MAX_IN_FLIGHT = 16;
const STATS_BETWEEN_BREAKS = 1000;

/** How things are made durable: a seam, so that tests can watch it and let it fail. */
export interface FileSync {
  /** Syncs a file's data. */
  file(path: string): Promise<void>;
  /** Syncs a folder's entries. */
  folder(path: string): Promise<void>;
  /** Syncs all of the file system that holds a path; returns `false`, having done nothing, where that is impossible. */
  fileSystem(path: string): Promise<boolean>;
}

/** The operating system's own. */
export const systemSync: FileSync = { file: syncFile, folder: syncFolder, fileSystem: syncFileSystem };

export interface Flushing {
  readonly placement: Placement;
  readonly sync: FileSync;
  /** What need not be flushed again. */
  readonly onDisk: OnDisk;
}

/** Makes objects durable, with the folders that lead to them. Fails with `object_not_found`. */
export async function flushPlaces(places: readonly Place[], flushing: Flushing): Promise<void> {
  const { placement, sync, onDisk } = flushing;
  if (places.length > MAX_SYNCED_SINGLY && await flushFileSystems(places, placement, sync)) return;
  await devicesOf(places);
  const { folders, entries } = foldersToFlush(places, flushing);
  // All at once: what they wait for is mostly one and the same entry of the file system's own journal.
  const flushes = [
    ...places.filter(({ path }) => !onDisk.hasData(path)).map(({ key, path }) => ({
      key,
      flush: () => sync.file(path),
    })),
    ...[...folders].map(([folder, key]) => ({ key, flush: () => sync.folder(placement.pathOf(folder)) })),
  ];
  await inParallel(flushes, ({ key, flush }) => attemptAsync({ action: "flush", key }, flush));
  for (const [path, identity] of entries) onDisk.noteEntry(path, identity);
}

/** Makes the data of objects durable, but not their names. Fails with `object_not_found`. */
export async function flushData(places: readonly Place[], { sync, onDisk }: Flushing): Promise<void> {
  await inParallel(places, async ({ key, path }) => {
    const identity = onDisk.fileIdentity(path);
    await attemptAsync({ action: "flush", key }, () => sync.file(path));
    onDisk.noteData(path, identity);
  });
}

/**
 * Returns the folders that hold the objects, and those above them whose entries for them are not known to be on disk, each
 * with one of the objects; and what these entries lead to.
 */
function foldersToFlush(
  places: readonly Place[],
  { placement, onDisk }: Flushing,
): { folders: Map<string, string>; entries: Map<string, Identity> } {
  const folders = new Map<string, string>(), entries = new Map<string, Identity>();
  for (const { key, folder } of places) {
    for (let at = folder; !folders.has(at); at = parentOf(at)) {
      folders.set(at, key);
      if (at === "") break;
      const path = placement.pathOf(at), identity = onDisk.folderIdentity(path);
      if (onDisk.hasEntry(path, identity)) break;
      entries.set(path, identity);
    }
  }
  return { folders, entries };
}

/** Checks that all objects are there, and returns one for each file system: others may be mounted below the root. */
async function devicesOf(places: readonly Place[]): Promise<Map<number, Place>> {
  const found = new Map<number, Place>();
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!;
    const stats = attempt({ action: "flush", key: place.key }, () => lstatIfThere(place.path));
    if (!stats?.isFile()) throw notFound(place.key);
    found.set(stats.dev, place);
    if (i % STATS_BETWEEN_BREAKS === STATS_BETWEEN_BREAKS - 1) await new Promise(setImmediate);
  }
  return found;
}

/** Syncs whole file systems; returns `false` where that is impossible. */
async function flushFileSystems(
  places: readonly Place[],
  placement: Placement,
  sync: FileSync,
): Promise<boolean> {
  const { key } = places[0]!;
  const syncOne = (path: string) => attemptAsync({ action: "flush", key }, () => sync.fileSystem(path));
  // The system writes the root's file system while we look whether all objects are there, and on which one.
  const [rootSynced, looked] = await Promise.allSettled([syncOne(placement.root), devicesOf(places)]);
  if (rootSynced.status === "rejected") throw rootSynced.reason;
  if (looked.status === "rejected") throw looked.reason;
  if (!rootSynced.value) return false;
  looked.value.delete(attempt({ action: "flush", key }, () => statSync(placement.root).dev));
  for (const { path } of looked.value.values()) if (!await syncOne(path)) return false;
  return true;
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      try {
        await work(items[next++]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  // All lanes end before an error is told, so that no call is still running then.
  const lanes = await Promise.allSettled(Array.from({ length: MAX_IN_FLIGHT }, lane));
  for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
}

function syncFile(path: string): Promise<void> {
  // Windows syncs only what is open for writing.
  const access = process.platform === "win32" ? constants.O_RDWR : constants.O_RDONLY;
  const fd = openSync(path, access | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  return closing(fd, fdatasync);
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return; // Its file systems keep entries in a journal, and let nobody sync a folder.
  await closing(openSync(path, constants.O_RDONLY), fsync);
}

function closing(fd: number, sync: (fd: number, done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    sync(fd, (error) => {
      closeSync(fd);
      if (error) reject(error);
      else resolve();
    });
  });
}
