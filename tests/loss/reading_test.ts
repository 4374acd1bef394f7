/**
 * Reading: a look-up that fell through the staged changes to the commit reads the branch once more.
 *
 * The obvious way reads the branch once. Planted: a KV store that answers every reading of the branch within one look-up
 * with what the first one saw.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { staleRefs } from "../support/stale_refs.ts";
import { collect, paths, readText, testEngine, WHO, write } from "../support/test_engine.ts";

/** Reads a path while, just after the reader has looked at the branch, everything staged is committed and cleaned up. */
async function readDuringCommit(plant: (kv: KvStore) => KvStore): Promise<string | undefined> {
  const kv = openMemoryKv();
  const others = testEngine({ kv });
  await others.store.createRepository("repo", { committer: WHO });
  await write(others.store, "main", { a: "written" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before({ call, key, partition }) {
      // The first look into a staging token: the reader knows its tokens by now.
      if (!isArmed || call !== "get" || key !== "a" || !partition.includes("/")) return;
      isArmed = false;
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
      others.clock.advance(60 * 60 * 1000);
      await write(others.store, "main", { b: "1" });
      // This one cleans the tokens that the first one dropped.
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
    },
  });
  const reader = testEngine({ kv: plant(held), objects: others.objects, clock: others.clock });
  return await readText(reader.store, "main", "a");
}

test("planted: a look-up that reads the branch once loses a write that is committed and cleaned up meanwhile", async () => {
  assert.equal(await readDuringCommit(staleRefs), undefined);
});

test("a look-up finds a write that is committed and cleaned up meanwhile", async () => {
  assert.equal(await readDuringCommit((kv) => kv), "written");
});

/** Lists a branch, asleep between the readings of the branch and of its commit while all is committed and cleaned up. */
async function listAfterSleep(
  sleepMs: number,
  plant = (kv: KvStore) => kv,
): Promise<string[] | string> {
  const kv = openMemoryKv();
  const others = testEngine({ kv });
  await others.store.createRepository("repo", { committer: WHO });
  await write(others.store, "main", { a: "written" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before({ call, key }) {
      if (!isArmed || call !== "get" || !key.startsWith("commits/")) return;
      isArmed = false;
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
      others.clock.advance(sleepMs);
      await write(others.store, "main", { b: "1" });
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
    },
  });
  const reader = testEngine({ kv: plant(held), objects: others.objects, clock: others.clock });
  return await collect(reader.store.list("repo", "main")).then(paths, (error) => error.code);
}

test("planted: a listing that looks at the branch once comes out short", async () => {
  assert.deepEqual(await listAfterSleep(60 * 60 * 1000, staleRefs), []);
});

test("a listing that slept before it read the first commit says try_again, and never comes out short", async () => {
  assert.equal(await listAfterSleep(60 * 60 * 1000), "try_again");
  assert.deepEqual(await listAfterSleep(60 * 1000), ["a"]);
});
