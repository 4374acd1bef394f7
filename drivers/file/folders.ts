/**
 * The folders under a root: made when needed, removed when empty, and never reached through a symlink.
 *
 * A folder counts as verified once each of its components has been seen, without following, to be a folder. That is
 * remembered, so that a put into a known folder costs no call more. Whoever can swap a verified folder for a symlink
 * while the process runs can already write under the root; a folder that vanished is noticed and verified anew.
 */

import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./failures.ts";
import { lstatIfThere } from "./file_calls.ts";
import { parentOf, type Placement, unplaceable } from "./placement.ts";

const MAX_REMEMBERED = 65_536;

export class Folders {
  readonly #placement: Placement;
  readonly #syncFolder: (path: string) => Promise<void>;
  readonly #verified = new Set<string>();

  constructor(placement: Placement, syncFolder: (path: string) => Promise<void>) {
    this.#placement = placement;
    this.#syncFolder = syncFolder;
  }

  /** Returns whether the folder is known to be there, so that {@link make} need not be called. */
  isKnown(folder: string): boolean {
    return this.#verified.has(folder);
  }

  /** Returns whether the folder is there. Fails with `unplaceable_key` when a symlink stands in the way to it. */
  find(folder: string, key: string): boolean {
    if (this.#verified.has(folder)) return true;
    if (folder !== "" && !this.find(parentOf(folder), key)) return false;
    // The root itself may be a symlink, or lie behind one: that is its owner's choice.
    if (folder !== "" && !this.#isRealFolder(folder, key)) return false;
    if (folder === "" && !lstatIfThere(this.#placement.root)) return false;
    this.#remember(folder);
    return true;
  }

  /**
   * Makes the folder and those above it, mode 0700. Fails with `unplaceable_key` when a symlink or a file stands in
   * the way. The folders that lead to a root made here are durable when this returns; others wait for a flush.
   */
  async make(folder: string, key: string): Promise<void> {
    if (this.#verified.has(folder)) return;
    if (folder === "") await this.#makeRoot();
    else {
      await this.make(parentOf(folder), key);
      this.#makeOne(folder, key);
    }
    this.#remember(folder);
  }

  /** Forgets what was verified: a folder has vanished. */
  forget(): void {
    this.#verified.clear();
  }

  /** Removes the folder and those above it, below the root, as far as they are empty. */
  prune(folder: string): void {
    for (let at = folder; at !== ""; at = parentOf(at)) {
      try {
        rmdirSync(this.#placement.pathOf(at));
      } catch {
        return; // Not empty, or somebody else was faster: either way nothing is left to do.
      }
      this.#verified.delete(at);
    }
  }

  #makeOne(folder: string, key: string): void {
    try {
      mkdirSync(this.#placement.pathOf(folder), { mode: 0o700 });
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      if (!this.#isRealFolder(folder, key)) throw unplaceable(key, `"${folder}" is an object`, error);
    }
  }

  async #makeRoot(): Promise<void> {
    const { root } = this.#placement;
    const first = mkdirSync(root, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    // The new folders' own entries, which no flush of keys below the root would reach.
    for (let made = root; made.length >= first.length; made = dirname(made)) {
      await this.#syncFolder(dirname(made));
    }
  }

  #isRealFolder(folder: string, key: string): boolean {
    const found = lstatIfThere(this.#placement.pathOf(folder));
    if (found?.isSymbolicLink()) throw unplaceable(key, `"${folder}" is a symlink`);
    return found?.isDirectory() ?? false;
  }

  #remember(folder: string): void {
    if (this.#verified.size >= MAX_REMEMBERED) this.#verified.clear();
    this.#verified.add(folder);
  }
}
