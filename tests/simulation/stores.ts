/** The stores as one process has them: every call, and every page of a scan, waits at the scheduler's gate. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../base/clock.ts";
import { lossyText } from "../../base/bytes.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { decodeRef } from "../../engine/refs/records.ts";
import type { KvEntry, KvStore } from "../../kv/store.ts";
import type { Model } from "./model.ts";
import type { Operation } from "./operation.ts";
import { changeRef } from "./rules.ts";
import type { Process, Scheduler } from "./scheduler.ts";

/** The operation that a call is made for. */
export const currentOperation: AsyncLocalStorage<Operation> = new AsyncLocalStorage();

export interface Gate {
  readonly scheduler: Scheduler;
  readonly process: Process;
  readonly model: Model;
}

/** What is done to the KV store is told to the model in the same step. */
export function gatedKv(inner: KvStore, gate: Gate): KvStore {
  const { model } = gate;
  const read = <T>(what: string, perform: () => Promise<T>) =>
    pass(gate, { what, isWrite: false, isRepeatable: true }, perform);
  const write = (what: string, isRepeatable: boolean, perform: () => Promise<void>) =>
    pass(gate, { what, isWrite: true, isRepeatable }, perform);
  return {
    get: (partition, key) => read(`get ${lossyText(key)}`, () => inner.get(partition, key)),
    set(partition, key, value) {
      const by = currentOperation.getStore();
      return write(`set ${lossyText(key)}`, true, async () => {
        await inner.set(partition, key, value);
        await follow(model, partition, { key, value }, by);
      });
    },
    setMany(partition, entries, options) {
      const by = currentOperation.getStore();
      return write(`setMany ${keysOf(entries)}`, true, async () => {
        await inner.setMany(partition, entries, options);
        for (const entry of entries) await follow(model, partition, entry, by);
      });
    },
    setIf(partition, key, value, predicate, options) {
      const by = currentOperation.getStore();
      return write(`setIf ${lossyText(key)}`, false, async () => {
        await inner.setIf(partition, key, value, predicate, options);
        await follow(model, partition, { key, value }, by);
      });
    },
    delete: (partition, key) =>
      write(`delete ${lossyText(key)}`, true, async () => {
        await inner.delete(partition, key);
        if (isToken(partition)) model.unstage(lossyText(partition), [key]);
      }),
    deleteMany: (partition, keys) =>
      write(`deleteMany ${keys.map((key) => lossyText(key)).join()}`, true, async () => {
        await inner.deleteMany(partition, keys);
        if (isToken(partition)) model.unstage(lossyText(partition), keys);
      }),
    async *scan(partition, options) {
      const what = `scan ${lossyText(options?.prefix ?? options?.start ?? new Uint8Array(0))}`;
      const pages = inner.scan(partition, options)[Symbol.asyncIterator]();
      while (true) {
        const page = await read(what, () => pages.next());
        if (page.done) return;
        yield page.value;
      }
    },
    close: () => Promise.resolve(),
  };
}

export function gatedObjects(inner: ObjectStore, gate: Gate): ObjectStore {
  const read = <T>(what: string, perform: () => Promise<T>) =>
    pass(gate, { what, isWrite: false, isRepeatable: true }, perform);
  const write = <T>(what: string, perform: () => Promise<T>) =>
    pass(gate, { what, isWrite: true, isRepeatable: false }, perform);
  return {
    locate: (key) => inner.locate(key),
    head: (key) => read(`head ${key}`, () => inner.head(key)),
    pages: (options) => inner.pages(options),
    get: (key, options) => read(`get object ${key}`, () => inner.get(key, options)),
    read: (key, offset, length) => read(`read ${key}`, () => inner.read(key, offset, length)),
    put: (key, body, options) => write(`put ${key}`, () => inner.put(key, body, options)),
    putMany: (objects) => write(`putMany ${objects[0]?.key}`, () => inner.putMany(objects)),
    flush: (keys) => write(`flush ${keys.join()}`, () => inner.flush(keys)),
    delete: (key) => write(`delete object ${key}`, () => inner.delete(key)),
  };
}

/** A process's clock: time goes on by looking and sleeping, and a sleep is a call like others. */
export function gatedClock(clock: Clock, gate: Gate): Clock {
  return {
    now: () => clock.now(),
    sleep: (milliseconds) =>
      pass(gate, { what: "sleep", isWrite: false, isRepeatable: true }, () => clock.sleep(milliseconds)),
  };
}

function pass<T>(
  { scheduler, process }: Gate,
  call: { what: string; isWrite: boolean; isRepeatable: boolean },
  perform: () => Promise<T>,
): Promise<T> {
  return scheduler.pass({ process, operation: currentOperation.getStore(), ...call }, perform);
}

async function follow(
  model: Model,
  partition: Uint8Array,
  { key, value }: KvEntry,
  by: Operation | undefined,
): Promise<void> {
  if (isToken(partition)) return model.stage(lossyText(partition), { key, value }, by);
  const name = lossyText(key);
  if (name.startsWith("refs/")) changeRef(model, decodeRef(value), by);
  else if (name.startsWith("commits/")) await model.addCommit(name.slice("commits/".length), value);
}

/** Tokens are partitions whose names go on behind that of their repository's. */
export function isToken(partition: Uint8Array): boolean {
  return lossyText(partition).includes("/");
}

function keysOf(entries: readonly KvEntry[]): string {
  return entries.map(({ key }) => lossyText(key)).join();
}
