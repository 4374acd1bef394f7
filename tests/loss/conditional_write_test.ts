/**
 * Conditional writes: of several of one path, one is acknowledged, whatever commits run meanwhile.
 *
 * The obvious way looks whether the path is free, and then writes over what the token holds by now. Planted: a KV store that
 * takes each conditional record without a comparison.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import type { Store } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv, type KvMoment } from "../support/hooked_kv.ts";
import { staleRefs } from "../support/stale_refs.ts";
import { readText, testEngine, WHO, withRepository, write } from "../support/test_engine.ts";

async function take(store: Store, text: string): Promise<"done" | "refused"> {
  const writer = await store.writer("repo", "main");
  try {
    await writer.put("a", utf8(text), { ifAbsent: true });
    return "done";
  } catch (error) {
    assert.equal((error as { code?: string }).code, "object_exists");
    return "refused";
  }
}

const isOfPath = ({ key, partition }: KvMoment) => key === "a" && partition.includes("/");

/** Takes a path, while somebody else takes it right after the first look into the staging token. */
async function takeTwice(plant: (kv: KvStore) => KvStore): Promise<{ outcomes: string[]; shown?: string }> {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  const outcomes: string[] = [];
  const held = hookedKv(kv, {
    async after(moment) {
      if (outcomes.length > 0 || moment.call !== "get" || !isOfPath(moment)) return;
      outcomes.push("theirs");
      outcomes.push(await take(store, "theirs"));
    },
  });
  outcomes.push(await take(testEngine({ kv: plant(held), objects, clock }).store, "mine"));
  return { outcomes: outcomes.slice(1), shown: await readText(store, "main", "a") };
}

function withoutCompare(kv: KvStore): KvStore {
  return {
    ...kv,
    setIf: (partition, key, value, predicate) =>
      lossyText(key) === "a" ? kv.set(partition, key, value) : kv.setIf(partition, key, value, predicate),
  };
}

test("planted: conditional writes that do not compare what they write over are both acknowledged", async () => {
  assert.deepEqual(await takeTwice(withoutCompare), { outcomes: ["done", "done"], shown: "mine" });
});

test("a conditional write is refused when another one takes the path after its first look", async () => {
  assert.deepEqual(await takeTwice((kv) => kv), { outcomes: ["done", "refused"], shown: "theirs" });
});

test("a conditional write whose record comes into a dropped token, while another one took the path, is refused", async () => {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  await write(store, "main", { other: "1" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before(moment) {
      if (!isArmed || moment.call !== "setIf" || !isOfPath(moment)) return;
      isArmed = false;
      await store.commit("repo", "main", { message: "m", committer: WHO });
      assert.equal(await take(store, "theirs"), "done");
    },
  });
  assert.equal(await take(testEngine({ kv: held, objects, clock }).store, "mine"), "refused");
  assert.equal(isArmed, false);
  assert.equal(await readText(store, "main", "a"), "theirs");
});

test("a conditional write whose record comes into a dropped token is written again over a deletion", async () => {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  await write(store, "main", { other: "1" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before(moment) {
      if (!isArmed || moment.call !== "setIf" || !isOfPath(moment)) return;
      isArmed = false;
      await store.commit("repo", "main", { message: "m", committer: WHO });
      await write(store, "main", { a: undefined });
    },
  });
  assert.equal(await take(testEngine({ kv: held, objects, clock }).store, "mine"), "done");
  assert.equal(await readText(store, "main", "a"), "mine");
});

/**
 * Takes a path that is staged, while its token is replaced by resets of other paths and, minutes later, cleaned: between the
 * reading of the branch and that of the token.
 */
async function takeWhileReplaced(
  plant: (kv: KvStore) => KvStore,
): Promise<{ outcome: string; shown?: string }> {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  const reset = (path: string) => store.reset("repo", "main", { path }, WHO);
  await write(store, "main", { a: "staged", b: "1", c: "1", d: "1" });
  // Then it lies in a sealed token, and the current one is empty, and stays.
  await reset("b");
  let isArmed = true;
  const held = hookedKv(kv, {
    async after(moment) {
      if (!isArmed || moment.call !== "get" || !isOfPath(moment)) return;
      isArmed = false;
      await reset("c");
      clock.advance(11 * 60_000);
      await reset("d");
    },
  });
  const outcome = await take(testEngine({ kv: plant(held), objects, clock }).store, "mine");
  assert.equal(isArmed, false);
  return { outcome, shown: await readText(store, "main", "a") };
}

test("planted: a conditional write that judges by a branch read once takes a path that is staged", async () => {
  assert.deepEqual(await takeWhileReplaced(staleRefs), { outcome: "done", shown: "mine" });
});

test("a conditional write is refused although the token that holds the path was dropped and cleaned while it looked", async () => {
  assert.deepEqual(await takeWhileReplaced((kv) => kv), { outcome: "refused", shown: "staged" });
});
