/**
 * Locks by name, between the callers of one process, its threads, and processes.
 *
 * A lock is a file under the system's own lock, which ends with its holder, killed or not. Nobody waits inside the system:
 * callers of one process take turns here first, and the one whose turn it is asks again and again. The last holder removes
 * the file: who removes one holds it alone, and who has taken one sees whether it still has its name, so nobody ever
 * holds a lock that others cannot see.
 *
 * Where the runtime has no such locks (Windows), callers of one process still take turns.
 */

import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { throwIfAborted } from "../../base/errors.ts";
import { openProcessLock, type ProcessLock } from "../../base/platform.ts";
import { errnoOf, isFull } from "./failures.ts";
import { Turns } from "./turns.ts";

export interface LockOptions {
  /** Whether others may hold it too that share it. */
  readonly shared?: boolean;
  /** What the lock file says while it is there. */
  readonly note?: string;
  readonly signal?: AbortSignal;
}

export interface HeldLock {
  release(): void;
}

const FIRST_PAUSE_MS = 1;
const MOST_PAUSE_MS = 50;

export class Locks {
  readonly #folder: string;
  readonly #makeFolder: (folder: string) => void;
  readonly #clock: Clock;
  readonly #turns = new Turns();

  constructor(folder: string, makeFolder: (folder: string) => void, clock: Clock = systemClock) {
    this.#folder = folder;
    this.#makeFolder = makeFolder;
    this.#clock = clock;
  }

  /** Waits for a lock. Fails with `canceled`. */
  async take(name: string, options: LockOptions = {}): Promise<HeldLock> {
    const turn = await this.#turns.take(name, options);
    try {
      for (let pause = FIRST_PAUSE_MS;; pause = Math.min(pause * 1.5, MOST_PAUSE_MS)) {
        const lock = await this.#attempt(name, options);
        if (lock) return this.#held(name, lock, turn);
        throwIfAborted(options.signal);
        await this.#clock.sleep(pause);
      }
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  /** Takes a lock if that is possible at once. */
  async tryTake(name: string, options: LockOptions = {}): Promise<HeldLock | undefined> {
    const turn = this.#turns.tryTake(name, options);
    if (!turn) return undefined;
    let lock: ProcessLock | "none" | undefined;
    try {
      lock = await this.#attempt(name, options);
    } finally {
      if (!lock) turn.end();
    }
    return lock && this.#held(name, lock, turn);
  }

  /** Runs work while a lock is held. */
  async holding<T>(name: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
    const held = await this.take(name, options);
    try {
      return await work();
    } finally {
      held.release();
    }
  }

  /** Returns the names of the lock files that are there, held or left behind. */
  async names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Returns what a lock file says, or `undefined` when it is not there. */
  noteOf(name: string): string | undefined {
    try {
      return readFileSync(join(this.#folder, name), "utf8");
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Removes the files of locks that nobody holds: killed processes leave them. */
  async sweep(): Promise<void> {
    for (const name of await this.names()) (await this.tryTake(name))?.release();
  }

  /** Tries once; `"none"` stands for the lock of a runtime that has none. */
  async #attempt(
    name: string,
    { shared = false, note }: LockOptions,
  ): Promise<ProcessLock | "none" | undefined> {
    const path = join(this.#folder, name);
    // As long as the file under the lock has lost its name, another may have it by now.
    while (true) {
      const lock = await this.#open(path);
      if (!lock) return "none";
      try {
        if (!lock.tryLock({ shared })) {
          lock.close();
          return undefined;
        }
        if (lock.isAt(path)) {
          if (note !== undefined) this.#writeNote(name, note);
          return lock;
        }
        lock.close();
      } catch (error) {
        lock.close();
        throw error;
      }
    }
  }

  /** On a full disk a lock says nothing; whoever reads it has to expect anything. */
  #writeNote(name: string, note: string): void {
    try {
      if (this.noteOf(name) !== note) writeFileSync(join(this.#folder, name), note);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  async #open(path: string): Promise<ProcessLock | undefined> {
    try {
      return await openProcessLock(path);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      this.#makeFolder(this.#folder);
      return await openProcessLock(path);
    }
  }

  #held(name: string, lock: ProcessLock | "none", turn: { end(): void }): HeldLock {
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        if (lock !== "none") letGo(lock, join(this.#folder, name));
        turn.end();
      },
    };
  }
}

/** Gives a lock up; the file goes if nobody else shares it. */
export function letGo(lock: ProcessLock, path: string): void {
  try {
    // Between giving the share up and holding it alone another may have removed the file, and a third made it anew.
    if (lock.tryLock() && lock.isAt(path)) unlinkSync(path);
  } catch {
    // A file that stays is removed by the next sweep.
  } finally {
    lock.close();
  }
}
