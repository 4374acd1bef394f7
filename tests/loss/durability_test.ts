/**
 * Durability: a commit flushes every range, metarange and object that it names, whoever wrote them, before its record.
 *
 * Planted: a store that flushes only what this process has put itself and was not there already (the obvious way for
 * ranges), and one whose staged records claim to be flushed (the obvious way for objects).
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { Repository } from "../../engine/repository.ts";
import { Repositories } from "../../engine/refs/mod.ts";
import { uploadObject } from "../../engine/objects/mod.ts";
import { stageWrites } from "../../engine/operations/stage.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { powerLossStore } from "../support/power_loss.ts";
import { contents, testEngine, WHO, write } from "../support/test_engine.ts";

/** One process writes ranges and dies before it flushes them; another commits the same; then the power goes. */
async function commitAfterCrash(
  plant: (objects: ObjectStore) => ObjectStore,
): Promise<Record<string, string> | string> {
  const kv = openMemoryKv();
  const disk = powerLossStore(openMemoryObjectStore());
  const before = testEngine({ objects: disk, kv });
  await before.store.createRepository("repo", { committer: WHO });
  await write(before.store, "main", { a: "1" });
  const unflushed: ObjectStore = { ...disk, flush: () => Promise.resolve() };
  const killed = testEngine({
    objects: unflushed,
    kv: hookedKv(kv, {
      before({ call, key }) {
        if (call === "setMany" && key.startsWith("commits/")) throw new Error("killed");
      },
    }),
  });
  await assert.rejects(killed.store.commit("repo", "main", { message: "m", committer: WHO }), {
    message: "killed",
  });
  const second = testEngine({ objects: plant(disk), kv });
  await second.store.commit("repo", "main", { message: "m", committer: WHO });
  await disk.losePower();
  const after = testEngine({ objects: disk, kv });
  return await contents(after.store, "main").catch((error) => String(error.code));
}

/** Flushes only what was put through it and was new. */
function flushingOnlyOwn(objects: ObjectStore): ObjectStore {
  const own = new Set<string>();
  return {
    ...objects,
    async put(key, body, options) {
      const info = await objects.put(key, body, options);
      own.add(key);
      return info;
    },
    flush: (keys) => objects.flush(keys.filter((key) => own.has(key))),
  };
}

test("planted: a commit that does not flush ranges another process wrote loses them with the power", async () => {
  assert.equal(await commitAfterCrash(flushingOnlyOwn), "missing_file");
});

test("a commit flushes ranges that another process wrote and did not flush", async () => {
  assert.deepEqual(await commitAfterCrash((objects) => objects), { a: "1" });
});

/** A process stages a record whose object it has not flushed, as a relaxed server does, and dies. */
async function commitOfUnflushed(isUnflushed: boolean): Promise<Record<string, string> | string> {
  const kv = openMemoryKv();
  const disk = powerLossStore(openMemoryObjectStore());
  const engine = testEngine({ objects: disk, kv });
  await engine.store.createRepository("repo", { committer: WHO });
  const record = await new Repositories(kv).get("repo");
  const repository = new Repository(engine.context, record, disk);
  const entry = await uploadObject(repository, utf8("1"));
  await stageWrites(repository, "main", [{ key: utf8("a"), entry, isFresh: true, isUnflushed }]);
  await engine.store.commit("repo", "main", { message: "m", committer: WHO });
  await disk.losePower();
  return await contents(engine.store, "main").catch((error) => isCoded(error) ? error.code : String(error));
}

test("planted: a staged record that does not say its object is unflushed loses the object with the power", async () => {
  assert.equal(await commitOfUnflushed(false), "checksum_mismatch");
});

test("a commit flushes objects that a staged record says are unflushed, whoever staged it", async () => {
  assert.deepEqual(await commitOfUnflushed(true), { a: "1" });
});

test("an existing range whose bytes do not verify is written again, not reused", async () => {
  const first = testEngine(), second = testEngine();
  for (const { store } of [first, second]) {
    await store.createRepository("repo", { committer: WHO });
    await write(store, "main", { a: "1", b: "2" });
  }
  await first.store.commit("repo", "main", { message: "m", committer: WHO });
  // The same names as a crash may leave them: cut short, or with blocks that never reached the disk.
  let damaged = 0;
  for await (const page of first.objects.pages({ prefix: "_lakefs/" })) {
    for (const { key, sizeBytes } of page.objects) {
      const bytes = (await first.objects.read(key, 0, sizeBytes)).slice();
      if (damaged++ % 2 === 0) await second.objects.put(key, bytes.subarray(0, sizeBytes - 10));
      else await second.objects.put(key, bytes.fill(0, 4, 20));
    }
  }
  assert.ok(damaged >= 2);
  await second.store.commit("repo", "main", { message: "m", committer: WHO });
  assert.deepEqual(await contents(testEngine({ kv: second.kv, objects: second.objects }).store, "main"), {
    a: "1",
    b: "2",
  });
});

/**
 * A process that is killed has written a range that names an object which it never flushed; another one commits the same
 * content, stored again: its range has the same ID, and so is not written.
 */
async function commitOverUnflushed(
  plant: (objects: ObjectStore) => ObjectStore,
  becomes?: (disk: ObjectStore, address: string) => Promise<unknown>,
): Promise<Record<string, string> | string> {
  const kv = openMemoryKv();
  const disk = powerLossStore(openMemoryObjectStore());
  const first = testEngine({ objects: disk, kv });
  await first.store.createRepository("repo", { committer: WHO });
  const record = await new Repositories(kv).get("repo");
  async function stage(): Promise<string> {
    const repository = new Repository(first.context, record, disk);
    const entry = await uploadObject(repository, utf8("1"));
    await stageWrites(repository, "main", [{ key: utf8("a"), entry, isFresh: true, isUnflushed: true }]);
    return entry.address;
  }
  const address = await stage();
  const killed = testEngine({
    objects: { ...disk, flush: () => Promise.resolve() },
    kv: hookedKv(kv, {
      before({ call, key }) {
        if (call === "setMany" && key.startsWith("commits/")) throw new Error("killed");
      },
    }),
  });
  await assert.rejects(killed.store.commit("repo", "main", { message: "m", committer: WHO }));
  await becomes?.(disk, address);
  await stage();
  const second = testEngine({ objects: plant(disk), kv });
  await second.store.commit("repo", "main", { message: "m", committer: WHO });
  await disk.losePower();
  return await contents(first.store, "main@").catch((error) => isCoded(error) ? error.code : String(error));
}

test("planted: a commit that flushes only the objects which it staged loses those that its ranges name", async () => {
  // What is far away is durable as soon as it is there; this one is not.
  assert.equal(await commitOverUnflushed((disk) => ({ ...disk, isFar: true })), "checksum_mismatch");
});

test("a commit flushes the objects that a range names which somebody else wrote of the same content", async () => {
  assert.deepEqual(await commitOverUnflushed((disk) => disk), { a: "1" });
});

test("a commit writes a range again that names an object which is gone, or was cut short", async () => {
  const same = (disk: ObjectStore) => disk;
  assert.deepEqual(await commitOverUnflushed(same, (disk, address) => disk.delete(address)), { a: "1" });
  const cut = (disk: ObjectStore, address: string) => disk.put(address, utf8(""), { mode: "replace" });
  assert.deepEqual(await commitOverUnflushed(same, cut), { a: "1" });
});
