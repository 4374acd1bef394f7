/** What puts that were killed have left in a folder of objects: it is never an object, and may be deleted. */

import { lstatSync, readdirSync } from "node:fs";
import { TEMPORARY_PREFIX } from "./placement.ts";

export interface Unfinished {
  readonly count: number;
  readonly bytes: number;
  /** Of the first ones. */
  readonly paths: readonly string[];
  /** How many more there are that are younger. */
  readonly younger: number;
}

const MOST_PATHS = 100;

/**
 * Counts the files of unfinished puts that nobody has written to since a time: one that is younger may be somebody's at work.
 *
 * It looks at the names of all objects, since such files lie among them: for who wonders where the disk's room has gone.
 */
export function unfinishedFiles(roots: readonly string[], beforeMs: number): Unfinished {
  let count = 0, bytes = 0, younger = 0;
  const paths: string[] = [];
  const folders = [...roots];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const { name, isFolder } of namesIn(folder)) {
      const path = `${folder}/${name}`;
      if (isFolder) folders.push(path);
      else if (name.startsWith(TEMPORARY_PREFIX)) {
        const stat = lstatSync(path, { throwIfNoEntry: false });
        if (!stat?.isFile()) continue;
        if (stat.mtimeMs >= beforeMs) {
          younger++;
          continue;
        }
        count++;
        bytes += stat.size;
        if (paths.length < MOST_PATHS) paths.push(path);
      }
    }
  }
  return { count, bytes, paths, younger };
}

/** A folder that is gone, or may not be read, holds nothing that could be told of. */
function namesIn(folder: string): { name: string; isFolder: boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const isFolder = entry.isDirectory();
      return isFolder || entry.name.startsWith(TEMPORARY_PREFIX) ? [{ name: entry.name, isFolder }] : [];
    });
  } catch {
    return [];
  }
}
