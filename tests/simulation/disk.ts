/**
 * The disk that all processes of a simulation share: objects in memory, some of which power loss takes or leaves torn.
 *
 * `losePower` keeps what `flush` named after it was last put. What was put over that since is whole, or what it replaced is there
 * again. Of everything else some is gone, some is cut short, and some happens to be whole, as on a real disk.
 */

import type { Clock } from "../../base/clock.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { watchUnflushed } from "../support/power_loss.ts";
import type { Chance } from "./chance.ts";

export interface Disk extends ObjectStore {
  losePower(chance: Chance): Promise<void>;
}

export function openDisk(clock: Clock): Disk {
  const inner = openMemoryObjectStore({ clock });
  const { store, unflushed } = watchUnflushed(inner);
  /** What was flushed and then replaced by what was not. */
  const replaced = new Map<string, Uint8Array>();
  return {
    ...store,
    async put(key, body, options) {
      const before = unflushed.has(key) ? undefined : await inner.head(key);
      const bytes = before && await inner.read(key, 0, before.sizeBytes);
      const info = await store.put(key, body, options);
      if (bytes) replaced.set(key, bytes);
      return info;
    },
    async flush(keys) {
      await store.flush(keys);
      for (const key of keys) replaced.delete(key);
    },
    async delete(key) {
      replaced.delete(key);
      return await store.delete(key);
    },
    async losePower(chance) {
      for (const key of unflushed) {
        const info = await inner.head(key);
        if (!info || chance.happens(0.2)) continue;
        const before = replaced.get(key);
        if (before) await inner.put(key, before);
        else if (chance.happens(0.5)) await inner.delete(key);
        else await inner.put(key, await inner.read(key, 0, chance.below(info.sizeBytes)));
      }
      unflushed.clear();
      replaced.clear();
    },
  };
}
