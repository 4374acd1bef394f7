/**
 * Looks at a database file before LMDB does, because LMDB answers two kinds of bad file with the death of the process:
 * touching a mapped page beyond the end of a file that was cut short is a bus error, and an open that fails makes
 * lmdb-js 3.5.6 use memory that it has freed. So whatever an open could fail for is found out here before.
 *
 * The file is pages of one size. Pages 0 and 1 are meta pages of which the one with the higher transaction number
 * counts; it holds the roots of two trees. Little-endian, offsets in bytes:
 *
 *     page:    0 number u64, 8 transaction u64, 18 flags u16 (1 branch, 2 leaf, 8 meta), 20 lower u16, 24 pointers u16…
 *              (lower is twice the number of pointers; each counts from byte 24 and leads to a node)
 *     node:    0 low u16, 2 high u16, 4 flags u16, 6 key length u16, 8 key, then the data
 *              (branch: low, high and flags are the page number; leaf with flag 1: the data is
 *              first page u64, transaction u64, pages u64 of a value kept elsewhere)
 *     meta:    24 magic u32, 28 version u16, 48 page size u32, 88 root of the free list u64, 136 root of the data u64,
 *              144 last page u64, 152 transaction u64
 *
 * A file may end before its last page without harm, as pages that a transaction took and gave back are not written. So
 * a short file is walked; it is damaged only if a page is missing that one of the trees leads to.
 */

import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";

const META_BYTES = 256;
const META_FLAG = 8;
const MAGIC = 0xbeefc0de;
const VERSION = 2;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const MAX_DEPTH = 32;
/** How often, and how long after, the file is looked at again because another process was at work on it meanwhile. */
const ATTEMPTS = 10;
const PAUSE_MS = 5;
/** A smaller file may be one of which another process is just writing the meta pages for the first time. */
const BEING_MADE_BYTES = 2 * 65536;

interface Meta {
  readonly pageSize: number;
  readonly roots: readonly bigint[];
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

/**
 * Fails if LMDB could not open the database in `folder`: with `kv_corrupt`, or with the system's own error when
 * permission is missing. Unless it is only for reading, an empty file is made where there is none.
 */
export async function checkOpenable(folder: string, readOnly: boolean): Promise<void> {
  const path = join(folder, "data.mdb");
  const flags = readOnly ? constants.O_RDONLY : constants.O_RDWR | constants.O_CREAT;
  const file = openSync(path, flags, 0o600);
  try {
    await checkContent(file, { path, readOnly });
  } finally {
    closeSync(file);
  }
  // Never opened here: closing it would give up the locks that another store of this process holds on it.
  const lock = join(folder, "lock.mdb");
  if (!readOnly) accessSync(existsSync(lock) ? lock : dirname(lock), constants.R_OK | constants.W_OK);
}

async function checkContent(
  file: number,
  { path, readOnly }: { path: string; readOnly: boolean },
): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const { size } = fstatSync(file);
    // LMDB fills an empty file, unless it may not.
    if (size === 0 && !readOnly) return;
    const meta = readMeta(file);
    if (meta && isWhole(file, meta)) return;
    const mayChange = meta ? readMeta(file)?.transaction !== meta.transaction : size < BEING_MADE_BYTES;
    if (attempt === ATTEMPTS || !mayChange) {
      refuse(path, meta ? "has been cut short" : "is no key-value store of this version");
    }
    await systemClock.sleep(PAUSE_MS);
  }
}

function refuse(path: string, why: string): never {
  throw new CodedError("corrupt", "kv_corrupt", `Cannot open the key-value store: "${path}" ${why}`);
}

/** Returns the meta page that counts, or `undefined` unless both are what they should be. */
function readMeta(file: number): Meta | undefined {
  const first = parseMeta(readAt(file, 0n, META_BYTES));
  const second = first && parseMeta(readAt(file, BigInt(first.pageSize), META_BYTES));
  if (!first || !second) return undefined;
  return second.transaction > first.transaction ? second : first;
}

function parseMeta(page: DataView | undefined): Meta | undefined {
  if (!page || (page.getUint16(18, true) & META_FLAG) === 0) return undefined;
  if (page.getUint32(24, true) !== MAGIC || page.getUint16(28, true) !== VERSION) return undefined;
  const pageSize = page.getUint32(48, true);
  if (pageSize < 512 || pageSize > 65536) return undefined;
  return {
    pageSize,
    roots: [page.getBigUint64(88, true), page.getBigUint64(136, true)],
    lastPage: page.getBigUint64(144, true),
    transaction: page.getBigUint64(152, true),
  };
}

function isWhole(file: number, meta: Meta): boolean {
  const pages = BigInt(Math.floor(fstatSync(file).size / meta.pageSize));
  if (pages > meta.lastPage) return true;
  const walk = { file, pages, pageSize: meta.pageSize };
  return meta.roots.every((root) => root === NO_PAGE || subtreeIsThere(walk, root, 0));
}

interface Walk {
  readonly file: number;
  readonly pages: bigint;
  readonly pageSize: number;
}

function subtreeIsThere(walk: Walk, number: bigint, depth: number): boolean {
  if (number >= walk.pages || depth > MAX_DEPTH) return false;
  const page = readAt(walk.file, number * BigInt(walk.pageSize), walk.pageSize);
  if (!page) return false;
  const isBranch = (page.getUint16(18, true) & 1) !== 0;
  const nodes = page.getUint16(20, true) >> 1;
  for (let i = 0; i < nodes; i++) {
    const pointer = 24 + 2 * i;
    if (pointer + 2 > walk.pageSize) return false;
    const node = 24 + page.getUint16(pointer, true);
    if (node + 8 > walk.pageSize) return false;
    const there = isBranch
      ? subtreeIsThere(walk, childPage(page, node), depth + 1)
      : valueIsThere(walk, page, node);
    if (!there) return false;
  }
  return true;
}

function childPage(page: DataView, node: number): bigint {
  return BigInt(page.getUint32(node, true)) | (BigInt(page.getUint16(node + 4, true)) << 32n);
}

function valueIsThere(walk: Walk, page: DataView, node: number): boolean {
  const isElsewhere = (page.getUint16(node + 4, true) & 1) !== 0;
  if (!isElsewhere) return true;
  const data = node + 8 + page.getUint16(node + 6, true);
  if (data + 24 > walk.pageSize) return false;
  return page.getBigUint64(data, true) + page.getBigUint64(data + 16, true) <= walk.pages;
}

/** Returns `length` bytes at `offset`, or `undefined` when the file ends before. */
function readAt(file: number, offset: bigint, length: number): DataView | undefined {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length;) {
    const got = readSync(file, bytes, filled, length - filled, Number(offset) + filled);
    if (got === 0) return undefined;
    filled += got;
  }
  return new DataView(bytes.buffer);
}
