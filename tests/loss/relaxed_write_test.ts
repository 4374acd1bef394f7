/**
 * Relaxed writes are acknowledged before their objects are on disk. A commit flushes them; but power may have been lost in
 * between, and a file have stayed without its bytes.
 *
 * The obvious way flushes what is there and commits its name. Planted: an object store that says of every object that it
 * is as large as it was.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { contents, type TestEngine, testEngine, WHO, withRepository } from "../support/test_engine.ts";
import { watchUnflushed } from "../support/power_loss.ts";

async function withRelaxedWrite(around: (disk: ObjectStore) => ObjectStore): Promise<TestEngine> {
  const engine = await withRepository(
    testEngine({ objects: around(watchUnflushed(openMemoryObjectStore()).store) }),
  );
  const writer = await engine.store.writer("repo", "main", { durability: "relaxed" });
  await writer.put("a", utf8("1"));
  await writer.close();
  return engine;
}

/** A disk that power loss has left with an empty file under each address that was not flushed. */
function cutOff(disk: ObjectStore, says: (sizeBytes: number) => number): ObjectStore {
  return {
    ...disk,
    put: async (key, body, options) =>
      await disk.put(key, key.startsWith("data/") ? new Uint8Array(0) : body, options),
    async head(key) {
      const info = await disk.head(key);
      return info && key.startsWith("data/") ? { ...info, sizeBytes: says(info.sizeBytes) } : info;
    },
  };
}

test("planted: a commit that believes the size of an object names what power loss has emptied", async () => {
  const { store } = await withRelaxedWrite((disk) => cutOff(disk, () => 1));
  await store.commit("repo", "main", { message: "m", committer: WHO });
  await assert.rejects(contents(store, "main@"), { code: "checksum_mismatch" });
});

test("a commit refuses an object that power loss has emptied, and names its path", async () => {
  const { store } = await withRelaxedWrite((disk) => cutOff(disk, (size) => size));
  const commit = () => store.commit("repo", "main", { message: "m", committer: WHO });
  await assert.rejects(commit(), { code: "checksum_mismatch", message: /Cannot commit "a"/ });
  // Once it is gone from the branch all is well.
  await store.reset("repo", "main", { path: "a" }, WHO);
  await assert.rejects(commit(), { code: "no_changes" });
});

test("a relaxed write is flushed soon, and by a commit at the latest", async () => {
  const watched = watchUnflushed(openMemoryObjectStore());
  const engine = await withRelaxedWrite(() => watched.store);
  const { store } = engine;
  // The clock of a test sleeps at once: the flush comes with the next turns.
  await store.commit("repo", "main", { message: "m", committer: WHO });
  assert.deepEqual([...watched.unflushed].filter((key) => key.startsWith("data/")), []);
  assert.deepEqual(await contents(store, "main"), { a: "1" });
});

test("a strict write is flushed before it is acknowledged, one among many too", async () => {
  const watched = watchUnflushed(openMemoryObjectStore());
  const { store } = await withRepository(testEngine({ objects: watched.store }));
  await Promise.all(Array.from({ length: 30 }, async (_, i) => {
    const writer = await store.writer("repo", "main", { sharesFlushes: true });
    const { physicalAddress } = await writer.put(`a${i % 20}`, utf8(String(i)));
    await writer.close();
    for (const key of watched.unflushed) assert.ok(!physicalAddress.endsWith(key), key);
  }));
  const shown = await contents(store, "main");
  assert.equal(Object.keys(shown).length, 20);
  for (let i = 10; i < 20; i++) assert.equal(shown[`a${i}`], String(i));
});
