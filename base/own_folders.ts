/**
 * Which local folders are tarn's own: homes, caches of the catalog, and others that are named.
 *
 * Asked before a file is written or removed at a path that a user or a key names. A folder is told by what lies in it and by
 * what the disk has it as, never by its spelling: symlinks, `..`, other case on a disk that folds it, and another mount of
 * the same folder lead to the same answer.
 */

import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CodedError } from "./errors.ts";

/** The file without which a folder is no home. */
export const HOME_MARKER = "tarn-home.json";
/** The folder in which a cache of the catalog keeps its records. */
export const CACHE_MARKER = ".provcat";

export class OwnFolders {
  readonly #named: readonly string[];
  readonly #markers: readonly string[];
  #identities: ReadonlySet<string> | undefined;

  /**
   * `named` are folders that nothing in them tells, such as storage namespaces. With `onlyNamed` others' homes and caches count
   * as any folder: for what only reads.
   */
  constructor(named: readonly string[] = [], { onlyNamed = false }: { readonly onlyNamed?: boolean } = {}) {
    this.#named = named;
    this.#markers = onlyNamed ? [] : [HOME_MARKER, CACHE_MARKER];
  }

  /** Returns the folders that were named alone. */
  get onlyNamed(): OwnFolders {
    return new OwnFolders(this.#named, { onlyNamed: true });
  }

  /** Returns whether a folder is one of tarn's own, symlinks followed. */
  isOwn(folder: string): boolean {
    return this.#markers.some((marker) => existsSync(join(folder, marker))) || this.#isNamed(folder);
  }

  /** Returns whether a path, which need not be there, is one of tarn's own folders or lies in one. */
  holds(path: string): boolean {
    for (let at = realPath(path);; at = dirname(at)) {
      if (this.isOwn(at)) return true;
      if (at === dirname(at)) return false;
    }
  }

  /**
   * Fails with `own_storage` if a path is one of tarn's own folders or lies in one; `action` is what was to be done with it, and
   * `shown` what the user calls it.
   */
  refuse(path: string, action: string, shown = path): void {
    if (this.holds(path)) throw ownStorage(`Cannot ${action} "${shown}"`);
  }

  #isNamed(folder: string): boolean {
    if (this.#named.length === 0) return false;
    this.#identities ??= new Set(this.#named.map(identity).filter((known) => known !== undefined));
    const found = identity(folder);
    return found !== undefined && this.#identities.has(found);
  }
}

/** Why nothing is written there. */
export const OWN_STORAGE = "tarn keeps its own data there";

/** Returns the error for a path that is or lies in a folder of tarn's own; `what` is such as `Cannot write "x"`. */
export function ownStorage(what: string): CodedError {
  return new CodedError("invalid", "own_storage", `${what}: ${OWN_STORAGE}`);
}

/** Returns whether a folder is a home, symlinks followed. */
export function isHome(folder: string): boolean {
  return existsSync(join(folder, HOME_MARKER));
}

/** Returns whether a folder is a cache of the catalog, symlinks followed. */
export function isCache(folder: string): boolean {
  return existsSync(join(folder, CACHE_MARKER));
}

/** Returns where a path leads, as the system sees it; the part of it that is not there stays as it is. */
export function realPath(path: string): string {
  try {
    // Only the native call does not take `..` away before it has followed the symlink before it.
    return realpathSync.native(path === "" ? "." : path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** Some file systems number nothing. */
function identity(folder: string): string | undefined {
  try {
    const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
    return stat && stat.ino !== 0n ? `${stat.dev}:${stat.ino}` : undefined;
  } catch {
    return undefined;
  }
}
