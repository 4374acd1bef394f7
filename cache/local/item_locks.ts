/** The locks that hold fetches off something in the cache: its own, and a share of those of the folders around it. */

import type { CacheKey } from "../cache.ts";
import type { Parts } from "./files.ts";
import { foldersAround, keyHash } from "./layout.ts";
import type { HeldLock } from "./locks.ts";

interface ItemLock {
  readonly name: string;
  readonly shared: boolean;
}

/** The outer ones first: whoever takes several takes them in this order, so nobody waits for one who waits for him. */
export function itemLocks(key: CacheKey): readonly ItemLock[] {
  const around = [...foldersAround(key)].map(({ folder }) => ({ name: keyHash(folder), shared: true }));
  return [...around.reverse(), { name: keyHash(key), shared: false }];
}

/** Takes an item so that nobody fetches it, it or anything around it, if that is possible at once. */
export async function lockItem({ locks }: Parts, key: CacheKey): Promise<readonly HeldLock[] | undefined> {
  const held: HeldLock[] = [];
  for (const { name, shared } of itemLocks(key)) {
    const lock = await locks.tryTake(name, { shared });
    if (!lock) {
      for (const one of held) one.release();
      return undefined;
    }
    held.unshift(lock);
  }
  return held;
}
