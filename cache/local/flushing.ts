/** Making what was written to a cache survive power loss. */

import { closeSync, constants, fdatasync, fsync, openSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { runInFlight } from "../../base/in_flight.ts";
import { syncFileSystem } from "../../base/platform.ts";
import { isMissing } from "./failures.ts";

/** How things are made durable: a seam for tests. */
export interface Flush {
  /** Flushes files, and the folders that lead to them below `root`. */
  files(root: string, paths: AsyncIterable<string> | Iterable<string>): Promise<void>;
  /** Flushes all of the disk that a folder lies on; returns `false`, having done nothing, where that is impossible. */
  disk(folder: string): Promise<boolean>;
}

export const systemFlush: Flush = { files: flushFiles, disk: syncFileSystem };

async function flushFiles(root: string, paths: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const folders = new Set<string>();
  await runInFlight(paths, async (path) => {
    await flushOne(path, fdatasync);
    for (let at = dirname(path); at.length >= root.length && !folders.has(at); at = dirname(at)) {
      folders.add(at);
    }
  });
  // Windows keeps the entries of folders in a journal, and lets nobody flush one.
  if (process.platform !== "win32") await runInFlight(folders, (folder) => flushOne(folder, fsync));
}

type Call = (fd: number, done: (error: Error | null) => void) => void;

/** What is gone meanwhile needs no flush. */
async function flushOne(path: string, call: Call): Promise<void> {
  let fd: number;
  try {
    fd = openSync(path, process.platform === "win32" ? constants.O_RDWR : constants.O_RDONLY);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  await new Promise<void>((resolve, reject) => {
    call(fd, (error) => {
      closeSync(fd);
      if (error) reject(error);
      else resolve();
    });
  });
}
