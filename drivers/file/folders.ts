/**
 * The folders under a root: made when needed, removed when empty, and never reached through a symlink.
 *
 * A folder counts as verified once each of its components has been seen, without following, to be a folder. That is
 * remembered, so that a put into a known folder costs no call more. Whoever can swap a verified folder for a symlink
 * while the process runs can already write under the root; a folder that vanished is noticed and verified anew.
 */

import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { makeFolderWithin } from "../../base/folders.ts";
import { errnoOf } from "./failures.ts";
import { lstatIfThere } from "./file_calls.ts";
import { parentOf, type Placement, unplaceable } from "./placement.ts";

const MAX_REMEMBERED = 65_536;

export class Folders {
  readonly #placement: Placement;
  /** Set where the root must be there already. */
  readonly #address: string | undefined;
  /** A folder above the root that is never made. */
  readonly #within: string | undefined;
  readonly #verified = new Set<string>();
  /** The topmost folder made on the way to the root. */
  #topmostMade: string | undefined;
  #rootSync: Promise<void> | undefined;

  /** With the address of a store whose root must be there, a root that is not is `storage_missing` and never made anew. */
  constructor(placement: Placement, { mustBeThere, within }: { mustBeThere?: string; within?: string } = {}) {
    this.#within = within;
    this.#placement = placement;
    this.#address = mustBeThere;
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
    if (folder === "" && !this.#rootIsThere()) return false;
    this.#remember(folder);
    return true;
  }

  /**
   * Makes the folder and those above it, mode 0700. Fails with `unplaceable_key` when a symlink or a file stands in
   * the way, and with `storage_missing`.
   */
  make(folder: string, key: string): void {
    if (this.#verified.has(folder)) return;
    if (folder !== "") {
      this.make(parentOf(folder), key);
      this.#makeOne(folder, key);
    } else if (!this.#rootIsThere()) {
      this.makeRoot();
    }
    this.#remember(folder);
  }

  /**
   * Makes the root's own entry survive power loss, with those of the folders above it that were made here: no flush of
   * what lies below the root reaches them. Whoever made the root may be another process that has not flushed yet.
   */
  syncRoot(syncFolder: (path: string) => Promise<void>): Promise<void> {
    return this.#rootSync ??= this.#syncRoot(syncFolder).catch((error) => {
      this.#rootSync = undefined;
      throw error;
    });
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
      if (this.#isRealFolder(folder, key)) return;
      // What was there may have been removed since: then nothing is in the way.
      if (!lstatIfThere(this.#placement.pathOf(folder))) throw vanished(folder, error);
      throw unplaceable(key, `"${folder}" is an object`, error);
    }
  }

  /** Fails with `storage_missing` if that is why something is not there. */
  requireRoot(): void {
    this.#rootIsThere();
  }

  #rootIsThere(): boolean {
    if (lstatIfThere(this.#placement.root)) return true;
    if (this.#address === undefined) return false;
    throw storageMissing(this.#address);
  }

  /** Fails with `storage_missing` where what the root is to lie in is not there. */
  requireWithin(): void {
    if (this.#within === undefined || lstatIfThere(this.#within)) return;
    throw storageMissing(this.#address ?? this.#within);
  }

  /** Makes the root, and the folders above it, in any case. Fails with `ENOENT` when what it is to lie in is gone. */
  makeRoot(): void {
    const { root: folder } = this.#placement;
    const first = this.#within === undefined
      ? mkdirSync(folder, { recursive: true, mode: 0o700 })
      : makeFolderWithin({ folder, within: this.#within });
    if (first === undefined) return;
    this.#topmostMade = first;
    this.#rootSync = undefined;
  }

  async #syncRoot(syncFolder: (path: string) => Promise<void>): Promise<void> {
    const { root } = this.#placement;
    const last = dirname(this.#topmostMade ?? root);
    for (let at = dirname(root);; at = dirname(at)) {
      await syncFolder(at);
      if (at.length <= last.length) return;
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

function storageMissing(address: string): CodedError {
  return new CodedError(
    "unavailable",
    "storage_missing",
    `Cannot use the storage namespace "${address}": its folder is not there`,
  );
}

/** What the system says where a folder is missing, so that it is made again, or its root is found to be gone. */
function vanished(folder: string, cause: unknown): Error {
  return Object.assign(new Error(`"${folder}" has vanished`, { cause }), { code: "ENOENT" });
}
