/**
 * Where things lie in a cache's folder:
 *
 * ```
 * <store>/<part>/…             what was fetched, as plain files
 * .provcat/tmp/<process>/      files that are being written; they come under their names by a rename
 * .provcat/meta/<hash>         one file: its version, with size, time, inode and SHA-256
 * .provcat/meta/<hash>.list    the files of a folder (folder_list.ts); .plan, .partial and .unfinished while it is fetched
 * .provcat/done/<hash>         a folder that was fetched whole
 * .provcat/refs/<hash>         what a branch, a tag or a time stood for when it was last pinned
 * .provcat/locks/<hash>        a lock while it is held; <hash>.use while something is used
 * .provcat/usage               about how many bytes there are, where they are bounded
 * ```
 *
 * Records are named by a hash of the store and the key, so two keys never share or block a record. The name of a store is the
 * scheme of a URI, and begins with a letter.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { hex, isWellFormed, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { sha256 } from "../../base/hashes.ts";
import { CACHE_MARKER } from "../../base/own_folders.ts";
import { nameRefusal } from "../../base/placement.ts";
import { encodeSegment } from "../../base/uri.ts";
import type { CacheKey, PinKey } from "../cache.ts";

const STORE = /^[a-z][a-z0-9+.-]*$/;

export class Layout {
  readonly root: string;
  readonly own: string;

  constructor(root: string) {
    this.root = root;
    this.own = join(root, CACHE_MARKER);
  }

  get temporary(): string {
    return join(this.own, "tmp");
  }

  get locks(): string {
    return join(this.own, "locks");
  }

  get usage(): string {
    return join(this.own, "usage");
  }

  /** Returns the folder of a kind of records. */
  folderOf(kind: "meta" | "done" | "refs"): string {
    return join(this.own, kind);
  }

  /** Returns where the content of a key lies. */
  contentOf({ store, parts }: CacheKey): string {
    return [this.root, store, ...parts].join("/");
  }

  metaOf(key: CacheKey): string {
    return join(this.folderOf("meta"), keyHash(key));
  }

  listOf(key: CacheKey, suffix: "list" | "plan" | "partial" | "unfinished"): string {
    return join(this.folderOf("meta"), `${keyHash(key)}.${suffix}`);
  }

  doneOf(key: CacheKey): string {
    return join(this.folderOf("done"), keyHash(key));
  }

  refOf({ store, place, kind, name }: PinKey): string {
    return join(this.folderOf("refs"), hashOf([store, place, kind, name]));
  }

  /** Returns the key of something inside the cache, or `undefined` for any other path. */
  keyAt(path: string): CacheKey | undefined {
    if (!path.startsWith(`${this.root}/`)) return undefined;
    const [store, ...parts] = path.slice(this.root.length + 1).split("/");
    if (!STORE.test(store!) || parts.length === 0) return undefined;
    return parts.every((part) => nameRefusal(part) === undefined) ? { store: store!, parts } : undefined;
  }
}

/** Returns what makes a folder in a cache; the cache itself is its user's alone. */
export function makeFolderIn({ root }: Layout): (folder: string) => void {
  return (folder) => {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    mkdirSync(folder, { recursive: true });
  };
}

/** Fails with `unplaceable_key` unless all parts of a key can be names on a disk. */
export function checkKey(key: CacheKey): void {
  if (!STORE.test(key.store)) refuse(key, `"${key.store}" is no name of a store`);
  if (key.parts.length === 0) refuse(key, "it names nothing in the store");
  for (const part of key.parts) {
    const why = part.includes("/") ? "a part of it contains a slash" : partRefusal(part);
    if (why !== undefined) refuse(key, why);
  }
}

function partRefusal(part: string): string | undefined {
  return isWellFormed(part) ? nameRefusal(part) : "it is not valid text";
}

function refuse(key: CacheKey, why: string): never {
  throw new CodedError("invalid", "unplaceable_key", `Cannot cache "${shownKey(key)}": ${why}`, {
    details: { key: shownKey(key) },
  });
}

/** Returns a key in the form of a URI, for messages. */
export function shownKey({ store, parts }: CacheKey): string {
  return `${store}://${parts.map(shownPart).join("/")}`;
}

/** A ref with a slash is one part, encoded, and is shown as the URI has it. */
function shownPart(part: string): string {
  return part.includes("%2F") && isEncoded(part) ? part : encodeSegment(part);
}

function isEncoded(part: string): boolean {
  try {
    return encodeSegment(decodeURIComponent(part)) === part;
  } catch {
    return false;
  }
}

/** Returns the name of a key's records and locks. */
export function keyHash({ store, parts }: CacheKey): string {
  return hashOf([store, ...parts]);
}

/** JSON keeps the parts apart whatever is in them. */
function hashOf(texts: readonly string[]): string {
  return hex(sha256(utf8(JSON.stringify(texts))));
}

/** Returns the key of something below another. */
export function keyBelow({ store, parts }: CacheKey, path: string): CacheKey {
  return { store, parts: [...parts, ...path.split("/")] };
}

/** Yields the folders that a key lies in, the innermost first, each with the key's path below it. */
export function* foldersAround({ store, parts }: CacheKey): Generator<{ folder: CacheKey; path: string }> {
  for (let depth = parts.length - 1; depth > 0; depth--) {
    yield { folder: { store, parts: parts.slice(0, depth) }, path: parts.slice(depth).join("/") };
  }
}

/** Returns whether a key is another or lies below it. */
export function isAtOrBelow(key: CacheKey, other: CacheKey): boolean {
  return key.store === other.store && key.parts.length >= other.parts.length &&
    other.parts.every((part, i) => part === key.parts[i]);
}
