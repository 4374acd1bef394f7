import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { Store } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { watchUnflushed } from "../../tests/support/power_loss.ts";
import { contents, testEngine, withRepository } from "../../tests/support/test_engine.ts";

async function put(store: Store, path: string, text: string): Promise<string> {
  const writer = await store.writer("repo", "main", { sharesFlushes: true });
  await writer.put(path, utf8(text));
  return await writer.close().then(() => "done", (error) => (error as { code: string }).code);
}

/** A disk that takes its time to flush, counts that, and fails where an object is said to be bad. */
function slowDisk(
  disk: ObjectStore,
  isBad: (text: string) => boolean,
): { store: ObjectStore; flushes: number[] } {
  const flushes: number[] = [], bad = new Set<string>();
  const store: ObjectStore = {
    ...disk,
    async put(key, body, options) {
      if (body instanceof Uint8Array && isBad(new TextDecoder().decode(body))) bad.add(key);
      return await disk.put(key, body, options);
    },
    async flush(keys) {
      flushes.push(keys.length);
      await new Promise((done) => setTimeout(done, 5));
      if (keys.some((key) => bad.has(key))) throw Object.assign(new Error("bad"), { code: "bad_disk" });
    },
  };
  return { store, flushes };
}

test("writes that come together share flushes, and each is there", async () => {
  const { store: objects, flushes } = slowDisk(watchUnflushed(openMemoryObjectStore()).store, () => false);
  const { store } = await withRepository(testEngine({ objects, kv: openMemoryKv() }));
  const before = flushes.length;
  const names = Array.from({ length: 40 }, (_, i) => `a${i}`);
  assert.deepEqual(
    new Set(await Promise.all(names.map((name) => put(store, name, name)))),
    new Set(["done"]),
  );
  assert.ok(flushes.length - before <= 4, `${flushes.length - before} flushes`);
  assert.deepEqual(
    await contents(store, "main"),
    Object.fromEntries(names.toSorted().map((one) => [one, one])),
  );
});

test("a write that cannot be flushed fails alone", async () => {
  const { store: objects } = slowDisk(watchUnflushed(openMemoryObjectStore()).store, (text) => text === "a7");
  const { store } = await withRepository(testEngine({ objects, kv: openMemoryKv() }));
  const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
  const outcomes = await Promise.all(names.map((name) => put(store, name, name)));
  assert.deepEqual(outcomes, names.map((name) => name === "a7" ? "bad_disk" : "done"));
  assert.equal(Object.keys(await contents(store, "main")).length, 19);
});

test("an object that vanishes before it is flushed means that the storage namespace is taken away", async () => {
  const disk = openMemoryObjectStore();
  const objects: ObjectStore = {
    ...watchUnflushed(disk).store,
    async flush(keys) {
      for (const key of keys) if (key.startsWith("data/")) await disk.delete(key);
      await disk.flush(keys);
    },
  };
  const { store } = await withRepository(testEngine({ objects, kv: openMemoryKv() }));
  assert.equal(await put(store, "a", "a"), "storage_missing");
  assert.deepEqual(await contents(store, "main"), {});
});

test("writes of one path keep their order", async () => {
  const { store: objects } = slowDisk(watchUnflushed(openMemoryObjectStore()).store, () => false);
  const { store } = await withRepository(testEngine({ objects, kv: openMemoryKv() }));
  const writers = await Promise.all(
    Array.from({ length: 6 }, () => store.writer("repo", "main", { sharesFlushes: true })),
  );
  const closing: Promise<void>[] = [];
  for (const [i, writer] of writers.entries()) {
    await writer.put("a", utf8(String(i)));
    closing.push(writer.close());
  }
  await Promise.all(closing);
  assert.deepEqual(await contents(store, "main"), { a: "5" });
});
