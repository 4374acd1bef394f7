/**
 * Staging: a write is acknowledged only if its token is still the current staging token.
 *
 * The obvious way acknowledges once the record is stored, or while the token is still listed. Planted: a KV store that
 * answers the second reading of the branch with what the first one saw.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { staleRefs } from "../support/stale_refs.ts";
import { readText, testEngine, WHO, write } from "../support/test_engine.ts";

/** Stages a write while, between the reading of the branch and the storing of the record, a commit runs whole. */
async function writeDuringCommit(plant: (kv: KvStore) => KvStore): Promise<string | undefined> {
  const kv = openMemoryKv();
  const others = testEngine({ kv });
  await others.store.createRepository("repo", { committer: WHO });
  await write(others.store, "main", { other: "1" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before({ call, key }) {
      if (!isArmed || call !== "setMany" || key !== "a") return;
      isArmed = false;
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
    },
  });
  const writer = testEngine({ kv: plant(held), objects: others.objects, clock: others.clock });
  await write(writer.store, "main", { a: "acknowledged" });
  return await readText(others.store, "main", "a");
}

test("planted: a write that is acknowledged without reading the branch again is lost to a commit", async () => {
  assert.equal(await writeDuringCommit(staleRefs), undefined);
});

test("a write whose token was sealed and committed under it is written again and kept", async () => {
  assert.equal(await writeDuringCommit((kv) => kv), "acknowledged");
});

/**
 * Stages a write while, between the storing of the record and the second reading of the branch, a commit takes it. The
 * write then finds its own content committed. The obvious way takes its object for a needless copy and deletes it.
 */
async function writeTakenByCommit(plant: boolean): Promise<string | undefined> {
  const kv = openMemoryKv();
  const others = testEngine({ kv });
  await others.store.createRepository("repo", { committer: WHO });
  let isArmed = true;
  const deleted: string[] = [];
  const held = hookedKv(kv, {
    async after({ call, key }) {
      if (!isArmed || call !== "setMany" || key !== "a") return;
      isArmed = false;
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
    },
  });
  const watched: ObjectStore = {
    locate: (key) => others.objects.locate(key),
    head: (key) => others.objects.head(key),
    pages: (options) => others.objects.pages(options),
    get: (key, options) => others.objects.get(key, options),
    read: (key, offset, length) => others.objects.read(key, offset, length),
    put: (key, body, options) => others.objects.put(key, body, options),
    putMany: (items) => others.objects.putMany(items),
    flush: (keys) => others.objects.flush(keys),
    delete(key) {
      deleted.push(key);
      return others.objects.delete(key);
    },
  };
  const writer = testEngine({ kv: held, objects: watched, clock: others.clock });
  await write(writer.store, "main", { a: "acknowledged" });
  if (plant) {
    const { physicalAddress } = await others.store.stat("repo", "main", "a");
    await others.objects.delete(physicalAddress.slice(physicalAddress.indexOf("data/")));
  } else assert.deepEqual(deleted, []);
  return await readText(others.store, "main", "a").catch((error) => error.code);
}

test("planted: a write that deletes its object, since a commit took it meanwhile, loses it", async () => {
  assert.equal(await writeTakenByCommit(true), "checksum_mismatch");
});

test("a write that a commit takes between its two looks at the branch keeps its object", async () => {
  assert.equal(await writeTakenByCommit(false), "acknowledged");
});
