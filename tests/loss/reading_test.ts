/**
 * Reading: a look-up that fell through a token, to an older one or to the commit, reads the branch once more.
 *
 * The obvious way reads the branch once. Planted: a KV store that answers every reading of the branch within one look-up
 * with what the first one saw.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText } from "../../base/bytes.ts";
import { findBranch } from "../../engine/operations/landing.ts";
import { Repositories } from "../../engine/refs/mod.ts";
import { Repository } from "../../engine/repository.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { staleRefs } from "../support/stale_refs.ts";
import {
  collect,
  commit,
  paths,
  readText,
  type TestEngine,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../support/test_engine.ts";

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

/**
 * Reads a path of which the commit has one version, an older sealed token a deletion and a newer one another version, while all is
 * committed and the newer token, but not yet the older one, is cleaned up.
 */
async function readDuringCleaning(plant: (kv: KvStore) => KvStore): Promise<string | undefined> {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  await commit(others.store, "main", { a: "committed" });
  for (const a of [undefined, "newer"]) {
    await write(others.store, "main", { a });
    await sealAndDie(others);
  }
  const record = await new Repositories(kv).get("repo");
  const { state } = await findBranch(new Repository(others.context, record, others.objects), "main");
  const [newer, older] = state.sealedTokens;
  assert.ok(newer !== undefined && older !== undefined);
  let hasLanded = false;
  const cleaner: KvStore = {
    ...hookedKv(kv, {}),
    async *scan(partition, options) {
      if (!hasLanded || lossyText(partition) !== older) yield* kv.scan(partition, options);
    },
  };
  let isArmed = true;
  const held = hookedKv(kv, {
    async before({ call, partition }) {
      if (!isArmed || call !== "get" || partition !== newer) return;
      isArmed = false;
      const { store, clock } = testEngine({ ...others, kv: cleaner });
      await store.commit("repo", "main", { message: "m", committer: WHO });
      hasLanded = true;
      clock.advance(60 * 60 * 1000);
      await write(store, "main", { b: "1" });
      await store.commit("repo", "main", { message: "m", committer: WHO });
    },
  });
  const reader = testEngine({ kv: plant(held), objects: others.objects, clock: others.clock });
  const shown = await readText(reader.store, "main", "a");
  assert.equal(isArmed, false);
  return shown;
}

/** Has a commit seal what is staged, and die before it lands. */
async function sealAndDie({ kv, objects, clock }: TestEngine): Promise<void> {
  const dying = hookedKv(kv, {
    before({ call, key }) {
      if (call === "setMany" && key.startsWith("commits/")) throw new Error("killed");
    },
  });
  const { store } = testEngine({ kv: dying, objects, clock });
  await assert.rejects(store.commit("repo", "main", { message: "m", committer: WHO }), { message: "killed" });
}

test("planted: a look-up that reads the branch once shows what an older token says when the newer one was cleaned up", async () => {
  assert.equal(await readDuringCleaning(staleRefs), undefined);
});

test("a look-up does not take an older token's word when the newer one was cleaned up", async () => {
  assert.equal(await readDuringCleaning((kv) => kv), "newer");
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
