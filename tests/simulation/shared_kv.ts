/**
 * The KV store that all processes of a simulation share: in memory, and durable but for the relaxed writes that no other write
 * has followed. Of these power loss takes the last ones, however many.
 */

import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import type { Chance } from "./chance.ts";

/** A record that a power loss has taken, and what was there before it. */
export interface LostRecord {
  readonly partition: Uint8Array;
  readonly key: Uint8Array;
  readonly before: Uint8Array | undefined;
}

export interface SharedKv extends KvStore {
  /** Returns what was taken, the last one first. */
  losePower(chance: Chance): Promise<readonly LostRecord[]>;
}

export function openSharedKv(): SharedKv {
  const inner = openMemoryKv();
  let relaxed: LostRecord[][] = [];
  const strictly = async (write: Promise<void>) => {
    // One that is refused has followed the others as well.
    relaxed = [];
    await write;
  };
  const relaxedly = async (
    partition: Uint8Array,
    keys: readonly Uint8Array[],
    write: () => Promise<void>,
  ) => {
    const records: LostRecord[] = [];
    for (const key of keys) {
      records.push({ partition, key, before: (await inner.get(partition, key))?.value });
    }
    await write();
    relaxed.push(records);
  };
  return {
    get: (partition, key) => inner.get(partition, key),
    scan: (partition, options) => inner.scan(partition, options),
    set: (...entry) => strictly(inner.set(...entry)),
    async setIf(partition, key, value, predicate, options) {
      const write = () => inner.setIf(partition, key, value, predicate);
      if (options?.relaxed) await relaxedly(partition, [key], write);
      else await strictly(write());
    },
    delete: (...key) => strictly(inner.delete(...key)),
    deleteMany: (...keys) => strictly(inner.deleteMany(...keys)),
    async setMany(partition, entries, options) {
      if (!options?.relaxed) return await strictly(inner.setMany(partition, entries));
      await relaxedly(partition, entries.map(({ key }) => key), () => inner.setMany(partition, entries));
    },
    async losePower(chance) {
      const lost = relaxed.splice(chance.below(relaxed.length + 1)).reverse().flat();
      relaxed = [];
      for (const { partition, key, before } of lost) {
        if (before) await inner.set(partition, key, before);
        else await inner.delete(partition, key);
      }
      return lost;
    },
    close: () => inner.close(),
  };
}
