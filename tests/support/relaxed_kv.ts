/** A store whose values are all set as relaxed ones. */

import type { ListedKvStore } from "../../kv/store.ts";

export function relaxedKv(inner: ListedKvStore): ListedKvStore {
  return {
    get: (...key) => inner.get(...key),
    scan: (...range) => inner.scan(...range),
    partitions: () => inner.partitions(),
    set: (partition, key, value) => inner.setMany(partition, [{ key, value }], { relaxed: true }),
    setMany: (partition, entries) => inner.setMany(partition, entries, { relaxed: true }),
    setIf: (partition, key, value, predicate) =>
      inner.setIf(partition, key, value, predicate, { relaxed: true }),
    delete: (...key) => inner.delete(...key),
    deleteMany: (...keys) => inner.deleteMany(...keys),
    close: () => inner.close(),
  };
}
