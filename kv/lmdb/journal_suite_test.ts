import type { TestContext } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { relaxedKv } from "../../tests/support/relaxed_kv.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { ListedKvStore } from "../store.ts";
import { type LmdbOptions, openLmdb } from "./mod.ts";

const capabilities = { atomicSetMany: true, partitions: true };
testKvStore("lmdb, relaxed", {
  open: async (t) => relaxedKv((await openJournaled(t))[0]!),
  capabilities,
});
testKvStore("lmdb, relaxed, taken in at once", {
  open: async (t) => relaxedKv((await openJournaled(t, { relaxedForMs: 0 }))[0]!),
  capabilities,
});
testKvStore("lmdb, relaxed, whose readers make the writers wait", {
  open: async (t) => relaxedKv((await openJournaled(t, { attempts: 0 }))[0]!),
  capabilities,
});
testKvStore("lmdb, journaled", {
  open: async (t) => (await openJournaled(t, { journaling: "all" }))[0]!,
  capabilities,
});
testKvStore("lmdb, journaled, taken in at once", {
  open: async (t) => (await openJournaled(t, { journaling: "all", relaxedForMs: 0 }))[0]!,
  capabilities,
});
testKvStore("lmdb, where two stores write relaxed in turn and a third one reads", {
  open: async (t) => {
    const stores = await openJournaled(t);
    const [one, other, reader] = stores as [ListedKvStore, ListedKvStore, ListedKvStore];
    let calls = 0, last: Promise<unknown> = Promise.resolve();
    // What one store alone does: writes are carried out in the order of the calls.
    const write = (call: (store: ListedKvStore) => Promise<void>): Promise<void> => {
      const written = last.then(() => call(relaxedKv(calls++ % 2 === 0 ? one : other)));
      last = written.catch(() => {});
      return written;
    };
    return {
      get: (...key) => reader.get(...key),
      scan: (...range) => reader.scan(...range),
      partitions: () => reader.partitions(),
      set: (...entry) => write((store) => store.set(...entry)),
      setMany: (...entries) => write((store) => store.setMany(...entries)),
      setIf: (...entry) => write((store) => store.setIf(...entry)),
      delete: (...key) => write((store) => store.delete(...key)),
      deleteMany: (...keys) => write((store) => store.deleteMany(...keys)),
      close: () => reader.close(),
    } satisfies ListedKvStore as ListedKvStore;
  },
  capabilities,
});

/** Opens an empty store with a journal three times. */
async function openJournaled(t: TestContext, options: LmdbOptions = {}): Promise<ListedKvStore[]> {
  const folder = temporaryFolder(t), partition = utf8("partition");
  const stores: ListedKvStore[] = [];
  for (let i = 0; i < 3; i++) {
    // Nothing is taken in by time, or else at once.
    const store = await openLmdb(folder, { relaxedForMs: 2 ** 30, ...options });
    t.after(() => store.close());
    stores.push(store);
  }
  await stores[0]!.setMany(partition, [{ key: partition, value: partition }], { relaxed: true });
  await stores[0]!.delete(partition, partition);
  return stores;
}
