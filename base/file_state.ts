/** What the system says of a file without reading it: enough to tell that it was not written since. */

import * as fs from "node:fs";
import { bindStatx } from "./platform.ts";

/**
 * Times have nanoseconds, as far as the disk keeps them. `ctime` changes with every write and every change of `mtime`
 * itself, and no program can set it.
 */
export interface FileState {
  readonly size: number;
  readonly mtimeSeconds: number;
  readonly mtimeNanos: number;
  readonly ctimeSeconds: number;
  readonly ctimeNanos: number;
  readonly inode: number;
}

/** Returns the state of a regular file; `undefined` for anything else, a symlink too, and for what is not there. */
export type LookAtFile = (path: string) => FileState | undefined;

export function sameState(a: FileState, b: FileState): boolean {
  return a.size === b.size && a.mtimeSeconds === b.mtimeSeconds && a.mtimeNanos === b.mtimeNanos &&
    a.ctimeSeconds === b.ctimeSeconds && a.ctimeNanos === b.ctimeNanos && a.inode === b.inode;
}

/**
 * How long a file must have been left alone before it is read, so that its state stands for what was read. A write in
 * the same tick of the disk's clock leaves the times as they are; the coarsest clocks tick every two seconds.
 */
const SETTLING_MS = 2_000;

/** Returns whether a write after `nowMs` would show in the state: both its times lie well before. */
export function isSettled(state: FileState, nowMs: number): boolean {
  const latest = Math.max(state.mtimeSeconds, state.ctimeSeconds);
  return (latest + 1) * 1000 + SETTLING_MS <= nowMs;
}

/** Returns the fastest way to look at many files that there is here. */
export async function fileLooker(): Promise<LookAtFile> {
  return await statxLooker() ?? lookByRuntime;
}

export function lookByRuntime(path: string): FileState | undefined {
  let stat: fs.BigIntStats | undefined;
  try {
    stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  if (!stat?.isFile()) return undefined;
  return {
    size: Number(stat.size),
    mtimeSeconds: Number(stat.mtimeNs / 1_000_000_000n),
    mtimeNanos: Number(stat.mtimeNs % 1_000_000_000n),
    ctimeSeconds: Number(stat.ctimeNs / 1_000_000_000n),
    ctimeNanos: Number(stat.ctimeNs % 1_000_000_000n),
    inode: Number(stat.ino),
  };
}

const MOST_PATH_BYTES = 4096;

/** Fields of `struct statx`, the same on every processor that is little-endian. */
const MODE = 28, INODE = 32, SIZE = 40, CTIME = 96, MTIME = 112;
const FORMAT_MASK = 0o170000, REGULAR = 0o100000;

async function statxLooker(): Promise<LookAtFile | undefined> {
  const view = new DataView(new ArrayBuffer(256)), pathView = new DataView(new ArrayBuffer(MOST_PATH_BYTES));
  const call = await bindStatx(pathView, view);
  if (!call) return undefined;
  const encoder = new TextEncoder();
  const path = new Uint8Array(pathView.buffer);
  const wide = (at: number) => view.getUint32(at, true) + view.getInt32(at + 4, true) * 0x1_0000_0000;
  return (name) => {
    // Each UTF-16 unit takes at most three bytes; a longer path is one that only the runtime knows what to do with.
    if (name.length * 3 >= MOST_PATH_BYTES) return lookByRuntime(name);
    path[encoder.encodeInto(name, path).written] = 0;
    if (call() !== 0 || (view.getUint16(MODE, true) & FORMAT_MASK) !== REGULAR) return undefined;
    return {
      size: wide(SIZE),
      mtimeSeconds: wide(MTIME),
      mtimeNanos: view.getUint32(MTIME + 8, true),
      ctimeSeconds: wide(CTIME),
      ctimeNanos: view.getUint32(CTIME + 8, true),
      inode: wide(INODE),
    };
  };
}
