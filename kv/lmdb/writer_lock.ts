/**
 * A lock of our own beside LMDB's: `writer.lock`, held by whoever opens, writes or closes.
 *
 * LMDB as lmdb-js 3.5.6 builds it loses commits without it. Opening a database reads the number of the newest transaction
 * from the file and stores it in the memory that all processes share, under no lock:
 *
 *     opener    reads N                     stores N
 *     writer               commits N + 1               begins N + 1 anew, upon N: the first N + 1 is gone
 *
 * And the last process to close destroys the mutexes that one which is just opening will take for made. Twenty short
 * commands at once lost one write in some hundreds this way.
 */

import { join } from "node:path";
import { openProcessLock } from "../../base/platform.ts";

export interface WriterLock {
  /** Whether it keeps other processes out: not so where the system has no such lock, or where nobody can have written. */
  readonly excludes: boolean;
  /**
   * Runs `body`, which may not wait for anything, while no other process opens, writes or closes. One inside another adds
   * nothing.
   */
  holding<T>(body: () => T): T;
  close(): void;
}

/** Opens the lock of a database's folder. */
export async function openWriterLock(folder: string, readOnly: boolean): Promise<WriterLock> {
  const lock = await openLock(join(folder, "writer.lock"), readOnly);
  let isHeld = false;
  return {
    excludes: lock !== undefined,
    holding(body) {
      if (isHeld) return body();
      lock?.lock();
      isHeld = true;
      try {
        return body();
      } finally {
        isHeld = false;
        lock?.unlock();
      }
    },
    close: () => lock?.close(),
  };
}

/** Where the file cannot be written to, it can still be locked; where there is none, no writer has been. */
async function openLock(path: string, readOnly: boolean): ReturnType<typeof openProcessLock> {
  try {
    return await openProcessLock(path);
  } catch (error) {
    if (!readOnly) throw error;
    return await openProcessLock(path, { readOnly }).catch(() => undefined);
  }
}
