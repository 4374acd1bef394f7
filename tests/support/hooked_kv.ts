/** A KV store whose every call can be watched, held up, failed or answered by a test. */

import { lossyText } from "../../base/bytes.ts";
import type { KvStore } from "../../kv/store.ts";

export type KvCall = keyof Omit<KvStore, "close">;

export interface KvMoment {
  readonly call: KvCall;
  readonly partition: string;
  /** The key as text; for calls with many keys, the first one. */
  readonly key: string;
}

export interface KvHooks {
  /** Runs before the call reaches the store; throwing fails it with nothing done. */
  readonly before?: (moment: KvMoment) => Promise<void> | void;
  /** Runs after the store has done it; throwing loses the answer. */
  readonly after?: (moment: KvMoment) => Promise<void> | void;
}

export function hookedKv(inner: KvStore, hooks: KvHooks): KvStore {
  async function around<T>(moment: KvMoment, call: () => Promise<T>): Promise<T> {
    await hooks.before?.(moment);
    const result = await call();
    await hooks.after?.(moment);
    return result;
  }
  const moment = (call: KvCall, partition: Uint8Array, key: Uint8Array | undefined): KvMoment => ({
    call,
    partition: lossyText(partition),
    key: key ? lossyText(key) : "",
  });
  return {
    get: (partition, key) => around(moment("get", partition, key), () => inner.get(partition, key)),
    set: (partition, key, value) =>
      around(moment("set", partition, key), () => inner.set(partition, key, value)),
    setMany: (partition, entries, options) =>
      around(
        moment("setMany", partition, entries[0]?.key),
        () => inner.setMany(partition, entries, options),
      ),
    setIf: (partition, key, value, predicate) =>
      around(moment("setIf", partition, key), () => inner.setIf(partition, key, value, predicate)),
    delete: (partition, key) => around(moment("delete", partition, key), () => inner.delete(partition, key)),
    deleteMany: (partition, keys) =>
      around(moment("deleteMany", partition, keys[0]), () => inner.deleteMany(partition, keys)),
    async *scan(partition, options) {
      await hooks.before?.(moment("scan", partition, options?.prefix));
      yield* inner.scan(partition, options);
      await hooks.after?.(moment("scan", partition, options?.prefix));
    },
    close: () => inner.close(),
  };
}
