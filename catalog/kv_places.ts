/** Where a key-value store in files may be made: in a home beside what is its own, and not among what else tarn keeps. */

import { dirname, relative, sep } from "node:path";
import { isCache, isHome, OwnFolders, ownStorage, realPath } from "../base/own_folders.ts";
import { foldersOf } from "./home.ts";

/** Fails with `own_storage` for a folder in a storage namespace, in a cache, or where a home keeps other things. */
export function refuseKvPlace(folder: string, namespaces: readonly string[]): void {
  const isTaken = new OwnFolders(namespaces, { onlyNamed: true }).holds(folder) || isWithinOthers(folder);
  if (isTaken) throw ownStorage(`Cannot make a key-value store in "${folder}"`);
}

function isWithinOthers(folder: string): boolean {
  const real = realPath(folder);
  for (let at = real;; at = dirname(at)) {
    if (isCache(at)) return true;
    if (isHome(at)) return !isForKv(relative(at, real));
    if (at === dirname(at)) return false;
  }
}

/** A home may have its store in any folder of its own that is for nothing else. */
function isForKv(path: string): boolean {
  const { kv: _, ...others } = foldersOf("");
  return path !== "" && ![...Object.values(others), "index"].includes(path.split(sep)[0]!);
}
