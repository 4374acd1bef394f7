/**
 * Files that are kept open between reads: opening and closing one costs more than reading a block of it.
 *
 * A kept file is read only while it is what its name leads to. That is seen by its links: an object has one name, so a
 * file that was deleted or replaced, by whichever process, has none left. One that has other names, a backup's for example, is
 * opened afresh each time.
 *
 * None stays open when nothing has been read for a while, so a store needs no closing, and none on Windows, where an
 * open file holds its folder.
 */

import { closeSync, fstatSync, readSync } from "node:fs";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { checkExtent } from "../byte_streams.ts";
import { attempt } from "./failures.ts";
import { closeQuietly } from "./file_calls.ts";
import { openRegularFile, type Part, roomFor, shortObject, SMALL_BYTES } from "./reading.ts";
import type { Place } from "./placement.ts";

const MAX_KEPT = process.platform === "win32" ? 0 : 64;
/** All stores of a process together: systems that are mean with descriptors give a process 256. */
const MAX_KEPT_IN_ALL = 128;
const IDLE_MS = 2000;

export interface KeptFilesOptions {
  readonly maxKept?: number;
  readonly idleMs?: number;
}

let keptInAll = 0;

export class KeptFiles {
  readonly #maxKept: number;
  readonly #idleMs: number;
  /** Descriptors by key, the one that was used least recently first. */
  readonly #files = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isUsed = false;

  constructor({ maxKept = MAX_KEPT, idleMs = IDLE_MS }: KeptFilesOptions = {}) {
    this.#maxKept = maxKept;
    this.#idleMs = idleMs;
  }

  /** How many files are open. */
  get count(): number {
    return this.#files.size;
  }

  /** Reads part of an object whose file is open; `undefined` when none is, or the part is large. */
  read(key: string, part: Part): Uint8Array | undefined {
    const fd = this.#files.get(key);
    if (fd === undefined || part.length > SMALL_BYTES) return undefined;
    checkExtent(key, part.offset, part.length);
    const found = attempt({ action: "read", key }, () => fstatSync(fd));
    if (found.nlink !== 1) {
      this.forget(key);
      return undefined;
    }
    this.#use(key, fd);
    return readPart(fd, { key, sizeBytes: found.size, part });
  }

  /** Opens an object, reads part of it, which is small, and keeps it open. Fails with `object_not_found`. */
  openAndRead(place: Place, part: Part): Uint8Array {
    const { key } = place;
    checkExtent(key, part.offset, part.length);
    const { fd, stats } = openRegularFile(place);
    try {
      return readPart(fd, { key, sizeBytes: stats.size, part });
    } finally {
      if (stats.nlink === 1) this.#keep(key, fd);
      else closeSync(fd);
    }
  }

  /** Closes the file of an object that is deleted or replaced. */
  forget(key: string): void {
    const fd = this.#files.get(key);
    if (fd === undefined) return;
    this.#files.delete(key);
    keptInAll--;
    closeQuietly(fd);
  }

  #keep(key: string, fd: number): void {
    this.forget(key);
    if (this.#files.size >= this.#maxKept || keptInAll >= MAX_KEPT_IN_ALL) {
      const [oldest] = this.#files.keys();
      if (oldest === undefined) return closeSync(fd);
      this.forget(oldest);
    }
    keptInAll++;
    this.#use(key, fd);
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#closeIdle(), this.#idleMs);
    this.#timer.unref();
  }

  #use(key: string, fd: number): void {
    this.#isUsed = true;
    this.#files.delete(key);
    this.#files.set(key, fd);
  }

  #closeIdle(): void {
    if (!this.#isUsed) {
      for (const key of [...this.#files.keys()]) this.forget(key);
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#isUsed = false;
  }
}

function readPart(
  fd: number,
  { key, sizeBytes, part }: { readonly key: string; readonly sizeBytes: number; readonly part: Part },
): Uint8Array {
  const out = roomFor(part, sizeBytes);
  for (let at = 0; at < out.length;) {
    const position = part.offset + at;
    const count = attempt({ action: "read", key }, () => readSync(fd, out, at, out.length - at, position));
    if (count === 0) throw shortObject({ key, sizeBytes, offset: position });
    at += count;
  }
  return out;
}
