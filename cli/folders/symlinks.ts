/** What symlinks in a folder lead to, for a walk that follows them: only inside the folder, and never round in a circle. */

import * as fs from "node:fs";
import { sep } from "node:path";

export type SymlinkTarget =
  | { readonly kind: "file" | "folder"; readonly path: string }
  | { readonly kind: "refused"; readonly why: string };

export class SymlinkTargets {
  readonly #root: string;
  /** The folders that the walk is in, the outermost first. */
  readonly #open: string[];

  constructor(root: string) {
    this.#root = fs.realpathSync(root);
    this.#open = [root];
  }

  enter(folder: string): void {
    this.#open.push(folder);
  }

  leave(): void {
    this.#open.pop();
  }

  /** Returns what a symlink in the folder entered last leads to, all symlinks on the way resolved. */
  resolve(link: string): SymlinkTarget {
    let path: string, stat: fs.Stats;
    try {
      path = fs.realpathSync(link);
      stat = fs.lstatSync(path);
    } catch (error) {
      const isLoop = (error as { code?: string }).code === "ELOOP";
      return refused(isLoop ? "it is a symlink that leads to itself" : "it is a symlink that leads nowhere");
    }
    const inside = this.#root.endsWith(sep) ? this.#root : this.#root + sep;
    if (path !== this.#root && !path.startsWith(inside)) {
      return refused("it is a symlink that leads out of the folder");
    }
    if (stat.isFile()) return { kind: "file", path };
    if (!stat.isDirectory()) return refused("it is a symlink to a device, FIFO or socket");
    if (this.#open.some((folder) => fs.realpathSync(folder) === path)) {
      return refused("it is a symlink to a folder that it lies in");
    }
    return { kind: "folder", path };
  }
}

function refused(why: string): SymlinkTarget {
  return { kind: "refused", why };
}
