/**
 * The lock under which files come and go in a cache, with their records: whoever holds it sees a file and its record together.
 *
 * It is held for a few calls of the system, never across an `await`, so that whoever waits may wait inside the system. Its
 * file stays open and stays there while a process writes: to make and remove one for each file would cost more than all else.
 */

import { join } from "node:path";
import { openProcessLock, type ProcessLock } from "../../base/platform.ts";
import { errnoOf } from "./failures.ts";
import { letGo } from "./locks.ts";

const NAME = "write";

export class WriteLock {
  readonly #folder: string;
  readonly #makeFolder: (folder: string) => void;
  #lock: Promise<ProcessLock | undefined> | undefined;

  constructor(folder: string, makeFolder: (folder: string) => void) {
    this.#folder = folder;
    this.#makeFolder = makeFolder;
  }

  /** Runs work that no other process, thread or call does at the time. It may not be a promise. */
  async run<T>(work: () => T extends Promise<unknown> ? never : T): Promise<T> {
    while (true) {
      const opening = this.#open();
      const lock = await opening;
      // Meanwhile another call may have found the file to be gone, and closed it.
      if (this.#lock !== opening) continue;
      // A runtime without such locks has but its own calls to keep apart, and these run one by one.
      if (!lock) return work();
      lock.lock();
      try {
        if (lock.isAt(this.#path)) return work();
      } finally {
        lock.unlock();
      }
      // A sweep, or another process that ended, has removed the file.
      this.#lock = undefined;
      lock.close();
    }
  }

  async close(): Promise<void> {
    const lock = await this.#lock?.catch(() => undefined);
    this.#lock = undefined;
    if (lock) letGo(lock, this.#path);
  }

  get #path(): string {
    return join(this.#folder, NAME);
  }

  #open(): Promise<ProcessLock | undefined> {
    this.#lock ??= this.#openFile().catch((error) => {
      this.#lock = undefined;
      throw error;
    });
    return this.#lock;
  }

  async #openFile(): Promise<ProcessLock | undefined> {
    try {
      return await openProcessLock(this.#path);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      this.#makeFolder(this.#folder);
      return await openProcessLock(this.#path);
    }
  }
}
