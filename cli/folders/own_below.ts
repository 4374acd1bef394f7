/** Which keys lead from a folder into one of tarn's own. Keys come in byte order: each folder is looked at once. */

import * as fs from "node:fs";
import { join } from "node:path";
import { type OwnFolders, realPath } from "../../base/own_folders.ts";

export class OwnBelow {
  readonly #own: OwnFolders;
  readonly #root: string;
  /** The folder of the last key, which leads into nothing of ours, with a slash at its end. */
  #last = "";
  /** The outermost part of {@link #last} that is not there: nothing can be in it. */
  #absent: string | undefined;

  /** Fails with `own_storage` if the folder itself lies in one. */
  constructor(own: OwnFolders, root: string) {
    own.refuse(root, "write into");
    this.#own = own;
    this.#root = realPath(root);
  }

  /** Returns whether the folder of a key's file is one of tarn's own, or a symlink to or into one. */
  leadsIn(key: string): boolean {
    const end = key.lastIndexOf("/") + 1;
    if (end === 0 || (end === this.#last.length && key.startsWith(this.#last))) return false;
    if (this.#absent !== undefined && key.startsWith(this.#absent)) return false;
    const folder = key.slice(0, end);
    let absent: string | undefined;
    for (
      let slash = key.indexOf("/");
      slash >= 0 && absent === undefined;
      slash = key.indexOf("/", slash + 1)
    ) {
      if (this.#last.startsWith(key.slice(0, slash + 1))) continue;
      const path = join(this.#root, key.slice(0, slash));
      const found = look(path);
      if (!found) absent = key.slice(0, slash + 1);
      else if (this.#isOwn(path, found)) return true;
    }
    this.#last = folder;
    this.#absent = absent;
    return false;
  }

  #isOwn(path: string, stat: fs.Stats): boolean {
    return stat.isSymbolicLink() ? this.#own.holds(path) : stat.isDirectory() && this.#own.isOwn(path);
  }
}

/** What cannot be looked at cannot be written to, either. */
function look(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
