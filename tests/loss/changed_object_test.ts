/**
 * Writes that are to take the place of a certain object: none goes over what somebody else wrote or merged meanwhile.
 *
 * The obvious way looks at the object, and then stages over whatever the branch shows by now. Planted: a KV store that takes
 * each conditional record without a comparison.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import type { Store } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv, type KvMoment } from "../support/hooked_kv.ts";
import { commit, readText, testEngine, WHO, withRepository, write } from "../support/test_engine.ts";

const isOfPath = ({ key, partition }: KvMoment) => key === "a" && partition.includes("/");

async function replace(store: Store, text: string, checksum: string): Promise<"done" | "refused"> {
  const writer = await store.writer("repo", "main");
  try {
    await writer.put("a", utf8(text), { ifMatch: [checksum] });
    return "done";
  } catch (error) {
    assert.equal((error as { code?: string }).code, "object_changed");
    return "refused";
  }
}

interface Race {
  readonly call: "get" | "setIf";
  readonly when: "before" | "after";
  readonly plant?: (kv: KvStore) => KvStore;
  /** What is done while the write is on its way. */
  meanwhile(store: Store, checksum: string): Promise<unknown>;
}

/** Replaces the committed object "old", while something else happens; returns how that ended and what is shown then. */
async function replaceWhile({ call, when, plant = (kv) => kv, meanwhile }: Race): Promise<string[]> {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  await commit(store, "main", { a: "old" });
  const { checksum } = await store.stat("repo", "main", "a");
  let isArmed = true;
  const hook = async (moment: KvMoment) => {
    if (!isArmed || moment.call !== call || !isOfPath(moment)) return;
    isArmed = false;
    await meanwhile(store, checksum);
  };
  const held = plant(hookedKv(kv, { [when]: hook }));
  const outcome = await replace(testEngine({ kv: held, objects, clock }).store, "mine", checksum);
  assert.equal(isArmed, false);
  return [outcome, await readText(store, "main", "a") ?? "nothing"];
}

function withoutCompare(kv: KvStore): KvStore {
  return {
    ...kv,
    setIf: (partition, key, value, predicate) =>
      lossyText(key) === "a" ? kv.set(partition, key, value) : kv.setIf(partition, key, value, predicate),
  };
}

const theirs = async (store: Store, checksum: string) =>
  assert.equal(await replace(store, "theirs", checksum), "done");

test("planted: a write that does not compare what it writes over goes over another one's", async () => {
  const race = { call: "get", when: "after", meanwhile: theirs } as const;
  assert.deepEqual(await replaceWhile({ ...race, plant: withoutCompare }), ["done", "mine"]);
});

test("of two writes over one object the second is refused", async () => {
  assert.deepEqual(await replaceWhile({ call: "get", when: "after", meanwhile: theirs }), [
    "refused",
    "theirs",
  ]);
});

test("a write whose record comes into a dropped token is refused when the object is another one by then", async () => {
  const meanwhile = async (store: Store, checksum: string) => {
    await commit(store, "main", { other: "1" });
    await theirs(store, checksum);
  };
  assert.deepEqual(await replaceWhile({ call: "setIf", when: "before", meanwhile }), ["refused", "theirs"]);
});

test("a write whose record comes into a dropped token is made again while the object is the same", async () => {
  const meanwhile = async (store: Store) => void (await commit(store, "main", { other: "1" }));
  assert.deepEqual(await replaceWhile({ call: "setIf", when: "before", meanwhile }), ["done", "mine"]);
});

test("a write withdraws from under a merge that changed the object beneath it", async () => {
  const meanwhile = async (store: Store) => {
    await store.createBranch("repo", "dev", "main", WHO);
    await commit(store, "dev", { a: "merged" });
    await store.merge("repo", "dev", "main", { committer: WHO });
  };
  assert.deepEqual(await replaceWhile({ call: "setIf", when: "before", meanwhile }), ["refused", "merged"]);
});

test("a write withdraws when a merge has deleted the object beneath it", async () => {
  const meanwhile = async (store: Store) => {
    await store.createBranch("repo", "dev", "main", WHO);
    await commit(store, "dev", { a: undefined });
    await store.merge("repo", "dev", "main", { committer: WHO });
  };
  assert.deepEqual(await replaceWhile({ call: "setIf", when: "before", meanwhile }), ["refused", "nothing"]);
});

test("a change of metadata goes over nobody's new content", async () => {
  const kv = openMemoryKv();
  const { store, objects, clock } = await withRepository(testEngine({ kv }));
  await commit(store, "main", { a: "old" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before(moment) {
      if (!isArmed || moment.call !== "setIf" || !isOfPath(moment)) return;
      isArmed = false;
      await write(store, "main", { a: "new" });
    },
  });
  const writer = await testEngine({ kv: held, objects, clock }).store.writer("repo", "main");
  await writer.setMetadata("a", { k: "v" });
  assert.equal(await readText(store, "main", "a"), "new");
  assert.deepEqual((await store.stat("repo", "main", "a")).metadata, { k: "v" });
});
