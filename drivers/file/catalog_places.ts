/**
 * Where the URIs of the catalog's file store lie on this machine.
 *
 * `store:///srv/data/x` names an absolute path; `store://x/y` one below the store's root, and `store://` the root. With a root, nothing outside it is
 * named by either: what a path leads to, symlinks followed, has to lie inside what the root leads to.
 */

import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import process from "node:process";
import { CodedError } from "../../base/errors.ts";
import { nameRefusal } from "../../base/placement.ts";
import { formatUri, type Uri } from "../../base/uri.ts";
import { unsupportedSelector, unusableUri } from "../catalog_base.ts";
import { errnoOf } from "./failures.ts";

export interface LocalPlace {
  readonly uri: Uri;
  /** Absolute, as the URI says it. */
  readonly path: string;
  /** The last part of the path, or the store's name for the root. */
  readonly name: string;
  /** Whether the URI ends in a slash. */
  readonly isFolder: boolean;
}

/** What a place leads to. */
export interface RealPlace {
  /** With no symlink in it. */
  readonly path: string;
  readonly stat: Stats;
}

export class LocalPlaces {
  readonly #root: string | undefined;

  /** Fails with `invalid_root` unless the root, if there is one, is absolute. */
  constructor(root: string | undefined) {
    if (root !== undefined && (!isAbsolute(root) || root.includes("\0"))) {
      throw new CodedError("invalid", "invalid_root", `Cannot use folder "${root}": it is no absolute path`);
    }
    this.#root = root === undefined ? undefined : resolve(root);
  }

  /** Returns where a URI lies. Fails with `invalid_uri`, `unsupported_selector`, `unplaceable_key`, `outside_root`. */
  place(uri: Uri): LocalPlace {
    if (uri.at) throw unsupportedSelector(uri, "a file has one version, the one that is there");
    const isFolder = uri.segments.at(-1) === "";
    const segments = isFolder ? uri.segments.slice(0, -1) : uri.segments;
    const parts = uri.place === "" ? segments : [uri.place, ...segments];
    for (const part of parts) {
      const why = part.includes("/") || (process.platform === "win32" && part.includes("\\"))
        ? "a part of it contains a slash"
        : isDrive(part)
        ? undefined
        : nameRefusal(part);
      if (why !== undefined) throw refused(uri, why);
    }
    const path = this.#pathOf(uri, parts);
    return { uri, path, name: parts.at(-1) ?? uri.scheme, isFolder };
  }

  /** Returns what is there, symlinks followed, or `undefined`. Fails with `outside_root`. */
  find({ uri, path }: LocalPlace): RealPlace | undefined {
    let real: string;
    try {
      real = realpathSync(path);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno !== "ENOENT" && errno !== "ENOTDIR" && errno !== "ELOOP") throw error;
      // Where a symlink leads to nothing, it may still say where.
      this.#checkParent(uri, path);
      return undefined;
    }
    this.#checkInside(uri, real);
    return { path: real, stat: statSync(real) };
  }

  /**
   * Returns the path to write to: its folder with symlinks followed, and the name in it, which may be a symlink's, to be
   * replaced. Only folders that are there are followed; the others are to be made. Fails with `outside_root`.
   */
  target({ uri, path }: LocalPlace): string {
    for (let folder = dirname(path), below = path.slice(folder.length);; folder = dirname(folder)) {
      if (lstatSync(folder, { throwIfNoEntry: false })) {
        const real = realpathSync(folder);
        this.#checkInside(uri, join(real, below));
        return join(real, below);
      }
      const outer = dirname(folder);
      if (outer === folder) return path;
      below = path.slice(outer.length);
    }
  }

  /** Returns whether a path without symlinks is the root or lies below it. Fails with `storage_missing`. */
  isInside(real: string): boolean {
    return this.#root === undefined || isBelow(real, this.#realRoot());
  }

  get hasRoot(): boolean {
    return this.#root !== undefined;
  }

  #pathOf(uri: Uri, parts: readonly string[]): string {
    if (uri.place === "" && uri.segments.length === 0 && this.#root !== undefined) return this.#root;
    if (uri.place !== "") {
      if (this.#root === undefined) {
        throw unusableUri(
          uri,
          `the store has no root; write ${uri.scheme}:///${parts.join("/")} for an absolute path`,
        );
      }
      return join(this.#root, ...parts);
    }
    const path = process.platform === "win32" && isDrive(parts[0] ?? "")
      ? `${parts[0]}\\${parts.slice(1).join("\\")}`
      : `/${parts.join("/")}`;
    // Whatever symlinks do: a path that neither begins with the root nor with what it leads to is not looked at.
    if (this.#root !== undefined && !isBelow(path, this.#root) && !isBelow(path, this.#realRoot())) {
      throw outside(uri);
    }
    return path;
  }

  #realRoot(): string {
    try {
      return realpathSync(this.#root!);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      throw new CodedError(
        "unavailable",
        "storage_missing",
        "Cannot use the store: the folder of its root is not there",
        {
          cause: error,
        },
      );
    }
  }

  #checkInside(uri: Uri, real: string): void {
    if (!this.isInside(real)) throw outside(uri);
  }

  #checkParent(uri: Uri, path: string): void {
    if (this.#root === undefined) return;
    this.target({ uri, path, name: "", isFolder: false });
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function isDrive(part: string): boolean {
  return process.platform === "win32" && /^[A-Za-z]:$/.test(part);
}

function refused(uri: Uri, why: string): CodedError {
  const text = formatUri(uri);
  return new CodedError("invalid", "unplaceable_key", `Cannot use "${text}": ${why}`, {
    details: { uri: text },
  });
}

export function outside(uri: Uri): CodedError {
  const text = formatUri(uri);
  return new CodedError(
    "forbidden",
    "outside_root",
    `Cannot use "${text}": it leads out of the root of its store`,
    {
      details: { uri: text },
    },
  );
}
