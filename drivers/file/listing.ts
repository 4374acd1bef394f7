/**
 * Listings: a walk over folders that gives keys in byte order and reads a folder only when it gets there.
 *
 * A folder stands in its parent's order under its name with a slash behind it, so that `a.txt` comes before what is in
 * `a`, as their keys do. The names of one folder are held in memory while it is walked. What no put has made is left
 * out: temporary names, symlinks, special files, names that are not UTF-8, folders without objects.
 */

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { isWellFormed } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { ListOptions, ObjectInfo, ObjectPage } from "../object_store.ts";
import { attempt, errnoOf, translated } from "./failures.ts";
import { lstatIfThere } from "./file_calls.ts";
import type { Folders } from "./folders.ts";
import { type Placement, TEMPORARY_PREFIX } from "./placement.ts";

const DEFAULT_PAGE_SIZE = 1000;

/** A folder being walked: what its keys begin with ("" or a path ending in a slash), and the names still to come. */
interface Frame {
  readonly base: string;
  readonly names: readonly string[];
  next: number;
}

export interface ListingOptions {
  readonly placement: Placement;
  readonly folders: Folders;
}

/** Yields the listing page by page. Fails with `unsupported_delimiter` for any but "/". */
export async function* listPages(
  { placement, folders }: ListingOptions,
  { prefix = "", delimiter, after = "", pageSize = DEFAULT_PAGE_SIZE }: ListOptions,
): AsyncGenerator<ObjectPage> {
  if (delimiter && delimiter !== "/") refuseDelimiter(delimiter);
  const walk = new Walk(placement, { prefix, after });
  const stack: Frame[] = isReachable(prefix, placement, folders) ? [await walk.start()] : [];
  let page = new PageBuilder(pageSize);
  while (stack.length > 0) {
    const frame = stack.at(-1)!;
    const name = frame.names[frame.next++];
    if (name === undefined) {
      stack.pop();
      continue;
    }
    const key = frame.base + name;
    if (!name.endsWith("/")) page.addObject(walk.stat(key));
    else if (!delimiter) stack.push(await walk.enter(key));
    else if (await walk.holdsObject(key)) page.prefixes.push(key);
    if (!page.isFull()) continue;
    yield page;
    page = new PageBuilder(pageSize);
  }
  if (!page.isEmpty()) yield page;
}

class PageBuilder implements ObjectPage {
  readonly objects: ObjectInfo[] = [];
  readonly prefixes: string[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  addObject(info: ObjectInfo | undefined): void {
    if (info) this.objects.push(info);
  }

  isFull(): boolean {
    return this.objects.length + this.prefixes.length >= this.#size;
  }

  isEmpty(): boolean {
    return this.objects.length + this.prefixes.length === 0;
  }
}

/** Reads folders, leaving out the names whose keys lie outside the bounds. */
class Walk {
  readonly #placement: Placement;
  readonly #prefix: string;
  readonly #after: string;

  constructor(placement: Placement, bounds: { prefix: string; after: string }) {
    this.#placement = placement;
    this.#prefix = bounds.prefix;
    this.#after = bounds.after;
  }

  /** Enters the deepest folder that holds all keys with the prefix. */
  start(): Promise<Frame> {
    return this.enter(this.#prefix.slice(0, this.#prefix.lastIndexOf("/") + 1));
  }

  async enter(base: string): Promise<Frame> {
    const names = (await this.#names(base)).filter((name) => this.#isWithin(base, name));
    return { base, names: names.sort(compareAsUtf8), next: 0 };
  }

  async holdsObject(base: string): Promise<boolean> {
    const { names } = await this.enter(base);
    for (const name of names) {
      if (!name.endsWith("/") || await this.holdsObject(base + name)) return true;
    }
    return false;
  }

  /** Returns what is known of an object, or `undefined` when it has gone since its folder was read. */
  stat(key: string): ObjectInfo | undefined {
    const path = this.#placement.pathOf(key);
    const found = attempt({ action: "list", key }, () => lstatIfThere(path));
    return found?.isFile() ? { key, sizeBytes: found.size, modifiedMs: found.mtimeMs } : undefined;
  }

  /** Returns whether a file's key is within the bounds, or whether a key in a folder may be. */
  #isWithin(base: string, name: string): boolean {
    const key = base + name;
    if (!key.startsWith(this.#prefix)) return false;
    if (compareAsUtf8(key, this.#after) > 0) return true;
    return name.endsWith("/") && this.#after.startsWith(key);
  }

  /** Returns the names of a folder's files, and those of its folders with a slash behind them, in no order. */
  async #names(base: string): Promise<string[]> {
    const path = this.#placement.pathOf(base.slice(0, -1));
    const names: string[] = [];
    let decoded = false;
    for (const entry of await readFolder(path, base)) {
      if (entry.name.startsWith(TEMPORARY_PREFIX)) continue;
      if (entry.name.includes("\ufffd")) decoded = true;
      const type = typeOf(entry, `${path}/${entry.name}`);
      if (type !== "other") names.push(type === "folder" ? `${entry.name}/` : entry.name);
    }
    return decoded ? exactNames(names, path) : names;
  }
}

async function readFolder(path: string, base: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return []; // It has gone.
    throw translated(error, { action: "list", key: base });
  }
}

function typeOf(entry: Dirent, path: string): "file" | "folder" | "other" {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  const isKnown = entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() ||
    entry.isCharacterDevice();
  if (isKnown) return "other";
  // Some file systems do not tell types with names.
  const found = lstatIfThere(path);
  return found?.isFile() ? "file" : found?.isDirectory() ? "folder" : "other";
}

/**
 * Drops names that are not UTF-8. They were decoded with U+FFFD in them, so no file has the name that was read; or one
 * has, whose name really holds that character, and then the name may have been read twice.
 */
function exactNames(names: readonly string[], path: string): string[] {
  return [...new Set(names)].filter((name) => {
    return !name.includes("\ufffd") || lstatIfThere(`${path}/${name}`);
  });
}

/** Returns whether the folder that holds all keys with a prefix can be there. */
function isReachable(prefix: string, placement: Placement, folders: Folders): boolean {
  if (!isWellFormed(prefix)) return false;
  const base = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const folder = base.slice(0, -1);
  if (base !== "" && !placement.isPlaceable(folder)) return false;
  try {
    return attempt({ action: "list", key: prefix }, () => folders.find(folder, prefix));
  } catch (error) {
    if (isCoded(error, "unplaceable_key", "object_not_found")) return false; // Behind a symlink, or gone.
    throw error;
  }
}

/**
 * Compares texts as their UTF-8 bytes would compare. JavaScript's own order goes by 16-bit units and puts U+E000 to
 * U+FFFF behind all that needs two of them.
 */
export function compareAsUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return rankOf(unitA) - rankOf(unitB);
  }
  return a.length - b.length;
}

function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function refuseDelimiter(delimiter: string): never {
  throw new CodedError(
    "unsupported",
    "unsupported_delimiter",
    `Cannot fold at "${delimiter}": only "/" is a delimiter`,
  );
}
