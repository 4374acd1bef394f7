/**
 * Looks at a database file before LMDB does, because LMDB answers two kinds of bad file with the death of the process:
 * touching a mapped page beyond the end of a file that was cut short is a bus error, and an open that fails makes
 * lmdb-js 3.5.6 use memory that it has freed. So whatever an open could fail for is found out here before (`page.ts` says how the
 * file looks).
 *
 * A file may end before its last page without harm, as pages that a transaction took and gave back are not written. So
 * a short file is walked; it is damaged only if a page is missing that one of the trees leads to.
 */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { type Meta, META_BYTES, parseMeta, readFully, u64 } from "./page.ts";

const MAX_DEPTH = 32;
/** How often, and how long after, the file is looked at again because another process was at work on it meanwhile. */
const ATTEMPTS = 10;
const PAUSE_MS = 5;
/** A smaller file may be one of which another process is just writing the meta pages for the first time. */
const BEING_MADE_BYTES = 2 * 65536;

/**
 * Fails if LMDB could not open the database in `folder`: with `kv_corrupt`, or with the system's own error when
 * permission is missing. Unless it is only for reading, an empty file is made where there is none.
 */
export async function checkOpenable(folder: string, readOnly: boolean): Promise<void> {
  const path = join(folder, "data.mdb");
  // To LMDB a lock that is no file is the end of the process; and whoever opens a FIFO waits for ever.
  for (const name of readOnly ? ["data.mdb"] : ["data.mdb", "lock.mdb", "writer.lock"]) {
    refuseNoFile(join(folder, name));
  }
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

/** A symlink stands for what it leads to. */
function refuseNoFile(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) return;
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) refuse(path, "is no file");
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
  const first = metaAt(file, 0);
  const second = first && metaAt(file, first.pageSize);
  if (!first || !second) return undefined;
  return second.transaction > first.transaction ? second : first;
}

function metaAt(file: number, offset: number): Meta | undefined {
  const page = readAt(file, offset, META_BYTES);
  return page && parseMeta(page);
}

function isWhole(file: number, { pageSize, lastPage, free, main }: Meta): boolean {
  const pages = Math.floor(fstatSync(file).size / pageSize);
  if (pages > lastPage) return true;
  const walk = { file, pages, pageSize };
  return [free, main].every(({ root }) => root === undefined || subtreeIsThere(walk, root, 0));
}

interface Walk {
  readonly file: number;
  readonly pages: number;
  readonly pageSize: number;
}

function subtreeIsThere(walk: Walk, number: number, depth: number): boolean {
  if (number >= walk.pages || depth > MAX_DEPTH) return false;
  const page = readAt(walk.file, number * walk.pageSize, walk.pageSize);
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

function childPage(page: DataView, node: number): number {
  return page.getUint32(node, true) + page.getUint16(node + 4, true) * 4294967296;
}

function valueIsThere(walk: Walk, page: DataView, node: number): boolean {
  const isElsewhere = (page.getUint16(node + 4, true) & 1) !== 0;
  if (!isElsewhere) return true;
  const data = node + 8 + page.getUint16(node + 6, true);
  if (data + 24 > walk.pageSize) return false;
  return u64(page, data) + u64(page, data + 16) <= walk.pages;
}

/** Returns `length` bytes at `offset`, or `undefined` when the file ends before. */
function readAt(file: number, offset: number, length: number): DataView | undefined {
  const bytes = new Uint8Array(length);
  return readFully(file, bytes, offset) ? new DataView(bytes.buffer) : undefined;
}
