/**
 * Room on the disk, looked for before LMDB needs it: on a full disk LMDB would end the process.
 *
 * - `lock.mdb` is mapped memory. A page of it for which the disk has no room is a bus error when it is touched, so its pages
 *   are written before LMDB makes the file larger, which it would do without taking room for it.
 * - A new `data.mdb` gets its first pages while it is opened, and lmdb-js 3.5.6 crashes when an open fails. They are tried
 *   before, and taken back: a file that is not empty has to be a database.
 * - Where the room ends in the middle of a write, LMDB says "input/output error". What the disk says of one more page is the
 *   truth.
 */

import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/** A reader's place in the table of `lock.mdb`. */
const READER_BYTES = 64;
/** Two meta pages of the largest size that a page has; one byte less, so that whoever sees the file knows it as being made. */
const FIRST_PAGES_BYTES = 2 * 65536 - 1;
const PAGE = new Uint8Array(4096);
const EIO = 5;

/** Takes room for what an open writes; the lock of writers is held. Fails with the system's own error. */
export function takeRoomToOpen(folder: string, { maxReaders }: { maxReaders: number }): void {
  const lock = join(folder, "lock.mdb");
  // Some bytes shorter than LMDB makes it, which then still counts as not made.
  if (!existsSync(lock)) writeZeros(lock, maxReaders * READER_BYTES);
  const data = join(folder, "data.mdb");
  if (statSync(data).size === 0) tryFirstPages(data);
}

/** Returns the error that is behind one of a write: that the file cannot grow, where LMDB only says that it ended early. */
export function growthError(error: unknown, file: string): unknown {
  if ((error as { code?: unknown } | undefined)?.code !== EIO) return error;
  try {
    const handle = openSync(file, "r+");
    try {
      // A file may be longer than its last page without harm.
      writeWhole(handle, { bytes: PAGE.length, from: fstatSync(handle).size });
    } finally {
      closeSync(handle);
    }
  } catch (fuller) {
    return fuller;
  }
  return error;
}

function writeZeros(path: string, bytes: number): void {
  const handle = openSync(path, "wx", 0o600);
  try {
    writeWhole(handle, { bytes, from: 0 });
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

function tryFirstPages(path: string): void {
  const handle = openSync(path, "r+");
  try {
    writeWhole(handle, { bytes: FIRST_PAGES_BYTES, from: 0 });
  } finally {
    ftruncateSync(handle, 0);
    closeSync(handle);
  }
}

/** Writes zeros, however few of them the system takes at a time. */
function writeWhole(handle: number, { bytes, from }: { bytes: number; from: number }): void {
  for (let written = 0; written < bytes;) {
    written += writeSync(handle, PAGE, 0, Math.min(PAGE.length, bytes - written), from + written);
  }
}
