/** Compare-and-set with writes around it: in one transaction where the driver has them, else by one call after another. */

import type { Around, KvEntry, KvStore } from "./store.ts";

/**
 * Stores an entry if its key still holds what the predicate was read from, and others before and after it. Durable when it
 * returns, unless relaxed. Fails as `setIf`.
 */
export async function setIfAround(
  kv: KvStore,
  partition: Uint8Array,
  entry: KvEntry,
  around: Around,
): Promise<void> {
  const { predicate, before = [], after = [], relaxed = false } = around;
  const isAlone = before.length === 0 && after.length === 0;
  if (isAlone) return await kv.setIf(partition, entry.key, entry.value, predicate, { relaxed });
  if (kv.setIfAround) return await kv.setIfAround(partition, entry, around);
  if (before.length > 0) await kv.setMany(partition, before);
  await kv.setIf(partition, entry.key, entry.value, predicate);
  if (after.length > 0) await kv.setMany(partition, after);
}
