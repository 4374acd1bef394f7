/**
 * Temporary files, in a folder of each process under `.provcat/tmp`.
 *
 * A process holds a lock as long as it uses its folder. What a killed one left behind has no holder any more, and goes when
 * another process first writes.
 */

import { mkdirSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hex } from "../../base/bytes.ts";
import { type Randomness, systemRandomness } from "../../base/randomness.ts";
import { errnoOf } from "./failures.ts";
import { type Layout, makeFolderIn } from "./layout.ts";
import { type HeldLock, Locks } from "./locks.ts";

const LOCK_SUFFIX = ".lock";

export class TemporaryFiles {
  readonly #folder: string;
  readonly #locks: Locks;
  readonly #randomness: Randomness;
  #own: Promise<{ folder: string; lock: HeldLock }> | undefined;
  #count = 0;

  constructor(layout: Layout, randomness: Randomness = systemRandomness) {
    this.#folder = layout.temporary;
    this.#locks = new Locks(this.#folder, makeFolderIn(layout));
    this.#randomness = randomness;
  }

  /** Returns a path that nobody else uses; the first call of a process clears what dead ones left. */
  async path(): Promise<string> {
    this.#own ??= this.#open().catch((error) => {
      this.#own = undefined;
      throw error;
    });
    return join((await this.#own).folder, String(this.#count++));
  }

  /** Removes the folders that no process uses. */
  async sweep(): Promise<void> {
    for (const name of await this.#names()) {
      const lock = await this.#locks.tryTake(lockName(name));
      if (!lock) continue;
      try {
        if (!name.endsWith(LOCK_SUFFIX)) rmSync(join(this.#folder, name), { recursive: true, force: true });
      } finally {
        lock.release();
      }
    }
  }

  /** Removes this process's folder. */
  async close(): Promise<void> {
    const own = await this.#own?.catch(() => undefined);
    this.#own = undefined;
    if (!own) return;
    rmSync(own.folder, { recursive: true, force: true });
    own.lock.release();
  }

  async #open(): Promise<{ folder: string; lock: HeldLock }> {
    const name = hex(this.#randomness.bytes(8));
    const lock = await this.#locks.take(lockName(name));
    try {
      const folder = join(this.#folder, name);
      mkdirSync(folder);
      await this.sweep();
      return { folder, lock };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async #names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }
}

function lockName(name: string): string {
  return name.endsWith(LOCK_SUFFIX) ? name : name + LOCK_SUFFIX;
}
