/**
 * An object store that forgets on demand what was not flushed, as a disk does when the power goes.
 *
 * An object survives `losePower` only if `flush` named it after it was last put.
 */

import type { ObjectStore } from "../../drivers/object_store.ts";

export interface PowerLossStore extends ObjectStore {
  /** Forgets every object that was not flushed; returns their keys. */
  losePower(): Promise<readonly string[]>;
}

/** Returns a store over `inner`, and the keys that no flush has named since they were last put. */
export function watchUnflushed(inner: ObjectStore): { store: ObjectStore; unflushed: Set<string> } {
  const unflushed = new Set<string>();
  const store: ObjectStore = {
    locate: (key) => inner.locate(key),
    head: (key) => inner.head(key),
    pages: (options) => inner.pages(options),
    get: (key, options) => inner.get(key, options),
    read: (key, offset, length) => inner.read(key, offset, length),
    delete: (key) => inner.delete(key),
    async put(key, body, options) {
      const info = await inner.put(key, body, options);
      unflushed.add(key);
      return info;
    },
    async putAt(key, offset, body) {
      await inner.putAt!(key, offset, body);
      unflushed.add(key);
    },
    async putMany(objects) {
      await inner.putMany(objects);
      for (const { key } of objects) unflushed.add(key);
    },
    async flush(keys) {
      await inner.flush(keys);
      for (const key of keys) unflushed.delete(key);
    },
  };
  return { store, unflushed };
}

export function powerLossStore(inner: ObjectStore): PowerLossStore {
  const { store, unflushed } = watchUnflushed(inner);
  return {
    ...store,
    async losePower() {
      const lost = [...unflushed];
      unflushed.clear();
      for (const key of lost) await inner.delete(key);
      return lost;
    },
  };
}
