/**
 * What is known to have reached the disk, so that it is not flushed again: each flush has the disk empty its cache, even when
 * there is nothing to write.
 *
 * Names prove nothing, since what they lead to may be removed and made again, by any process; and a file system gives the
 * number of an inode that is gone to the next file. So a thing is known by its inode and when it was made. A folder's
 * entry is remembered only when the folder is older than a tick of any clock: one that was removed and made again within
 * that tick would be taken for the same.
 */

import { type BigIntStats, lstatSync } from "node:fs";
import { type Clock, systemClock } from "../../base/clock.ts";

const TICK_MS = 2000;
const MAX_REMEMBERED = 10_000;

/** What a name leads to: `undefined` where it cannot be told apart from others. */
export type Identity = string | undefined;

export class OnDisk {
  readonly #folders = new Map<string, string>();
  readonly #files = new Map<string, string>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Returns what a folder's path leads to. */
  folderIdentity(path: string): Identity {
    const stats = statsOf(path);
    const isYoung = stats && Number(stats.birthtimeMs) + TICK_MS > this.#clock.now();
    return stats?.isDirectory() && !isYoung ? identityOf(stats) : undefined;
  }

  /** Whether the entry of a folder in the one above it is on disk. */
  hasEntry(path: string, identity: Identity): boolean {
    return identity !== undefined && this.#folders.get(path) === identity;
  }

  /** Notes that the folder above was flushed when `path` led to `identity`, or to something newer. */
  noteEntry(path: string, identity: Identity): void {
    if (identity !== undefined) remember(this.#folders, path, identity);
  }

  /** Returns what a file's path leads to, with its size. */
  fileIdentity(path: string): Identity {
    const stats = statsOf(path);
    return stats && identityOf(stats) && `${identityOf(stats)} ${stats.size} ${stats.mtimeNs}`;
  }

  /** Whether a file's data is on disk; of one that was noted. */
  hasData(path: string): boolean {
    const known = this.#files.get(path);
    return known !== undefined && known === this.fileIdentity(path);
  }

  noteData(path: string, identity: Identity): void {
    if (identity !== undefined) remember(this.#files, path, identity);
  }
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // Whoever flushes it will hear of it.
    return undefined;
  }
}

function identityOf({ dev, ino, birthtimeNs }: BigIntStats): Identity {
  return birthtimeNs > 0n && ino > 0n ? `${dev} ${ino} ${birthtimeNs}` : undefined;
}

function remember(known: Map<string, string>, path: string, identity: string): void {
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(path, identity);
}
