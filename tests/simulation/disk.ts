/**
 * The disk that all processes of a simulation share: objects in memory, some of which power loss takes or leaves torn.
 *
 * `losePower` keeps what `flush` named after it was last put. Of everything else some is gone, some is cut short, and some
 * happens to be whole, as on a real disk.
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
  return {
    ...store,
    async losePower(chance) {
      for (const key of unflushed) {
        const info = await inner.head(key);
        if (!info || chance.happens(0.2)) continue;
        if (chance.happens(0.5)) await inner.delete(key);
        else await inner.put(key, await inner.read(key, 0, chance.below(info.sizeBytes)));
      }
      unflushed.clear();
    },
  };
}
