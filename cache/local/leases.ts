/**
 * What is used now, by any process: eviction leaves it alone.
 *
 * A lease is a shared lock whose file says the key. It is taken before the cache is looked at. Who evicts takes the records of
 * something away first, and looks for leases then: so either the user of a thing finds no record of it and fetches it again, or
 * who evicts finds the lease.
 */

import type { CacheKey } from "../cache.ts";
import { isFull, isReadOnly } from "./failures.ts";
import { packKey, unpackKey } from "./file_records.ts";
import { isAtOrBelow, keyHash } from "./layout.ts";
import type { HeldLock, Locks } from "./locks.ts";

const SUFFIX = ".use";
const NOTHING: HeldLock = { release: () => {} };

export class Leases {
  readonly #locks: Locks;
  /** What this process uses: where the runtime has no locks, nothing else tells. */
  readonly #own = new Set<{ readonly key: CacheKey }>();

  constructor(locks: Locks) {
    this.#locks = locks;
  }

  async take(key: CacheKey): Promise<HeldLock> {
    const own = { key };
    this.#own.add(own);
    try {
      const lock = await this.#lock(key);
      return {
        release: () => {
          this.#own.delete(own);
          lock.release();
        },
      };
    } catch (error) {
      this.#own.delete(own);
      throw error;
    }
  }

  async #lock(key: CacheKey): Promise<HeldLock> {
    try {
      const note = JSON.stringify(packKey(key));
      return await this.#locks.take(keyHash(key) + SUFFIX, { shared: true, note });
    } catch (error) {
      // A cache that may only be read, or is full, answers all the same.
      if (isReadOnly(error) || isFull(error)) return NOTHING;
      throw error;
    }
  }

  /** Returns whether something is used: it, what is in it, or what it is in. Leases of dead processes are removed. */
  async isUsed(key: CacheKey): Promise<boolean> {
    const touches = (used: CacheKey) => isAtOrBelow(used, key) || isAtOrBelow(key, used);
    for (const own of this.#own) if (touches(own.key)) return true;
    for (const name of await this.#locks.names()) {
      if (!name.endsWith(SUFFIX)) continue;
      const used = keyOf(this.#locks.noteOf(name));
      // One that says nothing yet may be of anything.
      if (used && !touches(used)) continue;
      const stale = await this.#locks.tryTake(name);
      if (!stale) return true;
      stale.release();
    }
    return false;
  }
}

function keyOf(note: string | undefined): CacheKey | undefined {
  try {
    return unpackKey(JSON.parse(note ?? ""));
  } catch {
    return undefined;
  }
}
