/** What lies in a folder of the cache, in the byte order of paths. One folder's names at a time are in memory. */

import { type Dirent, readdirSync } from "node:fs";
import { compareKeys } from "../../base/key_order.ts";
import { isMissing } from "./failures.ts";

/** Yields the paths, below a folder, of all that is no folder itself; nothing when the folder is not there. */
export function* walkContent(folder: string, prefix = ""): Generator<string> {
  const names = entriesOf(folder).map((entry) => ({
    name: entry.name,
    isFolder: entry.isDirectory(),
    order: entry.isDirectory() ? `${entry.name}/` : entry.name,
  }));
  names.sort((a, b) => compareKeys(a.order, b.order));
  for (const { name, isFolder } of names) {
    if (isFolder) yield* walkContent(`${folder}/${name}`, `${prefix}${name}/`);
    else yield prefix + name;
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
