/**
 * A partial commit drops the sealed tokens that hold the rest, too: the rest is first written to a fresh token, and the
 * compare-and-set that moves the branch leaves that token as the only sealed one, older than the current one.
 *
 * Planted: a KV store that writes the rest only once the branch has moved (the obvious way), and one that writes it to the
 * branch's current staging token (the other obvious way).
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import type { Store } from "../../drivers/store.ts";
import { Refs, Repositories, repositoryPartition } from "../../engine/refs/mod.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { collect, contents, signs, testEngine, WHO, withRepository, write } from "../support/test_engine.ts";

type Plant = (kv: KvStore) => KvStore;

const asItIs: Plant = (kv) => kv;

function commitTake(store: Store): Promise<unknown> {
  return store.commit("repo", "main", { message: "m", committer: WHO, paths: ["take/"] });
}

const isToken = (partition: Uint8Array) => lossyText(partition).includes("/");

/** Writes to staging tokens wait until a ref has been changed twice: sealed, then moved. */
const restAfterLanding: Plant = (inner) => {
  const kv = hookedKv(inner, {});
  const waiting: (() => Promise<void>)[] = [];
  let changes = 0;
  return {
    ...kv,
    setMany(partition, entries) {
      if (!isToken(partition)) return kv.setMany(partition, entries);
      waiting.push(() => kv.setMany(partition, entries));
      return Promise.resolve();
    },
    async setIf(partition, key, value, predicate) {
      await kv.setIf(partition, key, value, predicate);
      if (lossyText(key).startsWith("refs/") && ++changes === 2) throw new Error("killed");
    },
  };
};

/** Commits a part and is killed at its n-th write; returns what the branch shows then. */
async function commitKilledAt(
  stopAt: number,
  plant: Plant,
): Promise<{ shown: Record<string, string>; isDone: boolean; store: Store }> {
  const kv = openMemoryKv();
  const engine = await withRepository(testEngine({ kv }));
  await write(engine.store, "main", { old: "1" });
  await engine.store.commit("repo", "main", { message: "old", committer: WHO });
  await write(engine.store, "main", { keep: "1", "take/a": "1", "take/b": "1", old: undefined });
  let writes = 0;
  const killed = hookedKv(plant(kv), {
    before({ call }) {
      if (call.startsWith("set") && ++writes === stopAt) throw new Error("killed");
    },
  });
  const dying = testEngine({ kv: killed, objects: engine.objects, clock: engine.clock });
  const isDone = await commitTake(dying.store).then(() => true, () => false);
  return { shown: await contents(engine.store, "main"), isDone, store: engine.store };
}

test("planted: a partial commit that writes the rest once it has landed loses it when it is killed in between", async () => {
  const { shown } = await commitKilledAt(Infinity, restAfterLanding);
  assert.deepEqual(shown, { old: "1", "take/a": "1", "take/b": "1" });
});

test("a partial commit that is killed at any of its writes shows everything that was staged, deletions included", async () => {
  for (let stopAt = 1;; stopAt++) {
    const { shown, isDone, store } = await commitKilledAt(stopAt, asItIs);
    assert.deepEqual(shown, { keep: "1", "take/a": "1", "take/b": "1" }, `killed at write ${stopAt}`);
    if (!isDone) continue;
    assert.ok(stopAt > 4, `${stopAt} writes`);
    assert.deepEqual(await contents(store, "main@"), { old: "1", "take/a": "1", "take/b": "1" });
    return assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["+keep", "-old"]);
  }
});

/** Writes the rest to the token that is current now. */
function restToCurrentToken(inner: KvStore): KvStore {
  const kv = hookedKv(inner, {});
  return {
    ...kv,
    async setMany(partition, entries) {
      if (!isToken(partition)) return await kv.setMany(partition, entries);
      const record = await new Repositories(kv).get("repo");
      const seams = { clock: testEngine().clock, randomness: seededRandomness(1) };
      const seen = await new Refs(kv, utf8(repositoryPartition(record)), seams).find("main");
      await kv.setMany(utf8(seen!.record.branch!.stagingToken), entries);
    },
  };
}

/** Commits a part while, just before the rest is copied, somebody else writes a path of the rest again. */
async function commitDuringWrite(plant: Plant): Promise<Record<string, string>> {
  const kv = openMemoryKv();
  const engine = await withRepository(testEngine({ kv }));
  await write(engine.store, "main", { keep: "1", "take/a": "1" });
  let isArmed = true;
  const held = hookedKv(plant(kv), {
    async before({ call, key }) {
      if (!isArmed || call !== "setMany" || key !== "keep") return;
      isArmed = false;
      await write(engine.store, "main", { keep: "2" });
    },
  });
  const committing = testEngine({ kv: held, objects: engine.objects, clock: engine.clock });
  await commitTake(committing.store);
  assert.equal(isArmed, false);
  return await contents(engine.store, "main");
}

test("planted: a partial commit that puts the rest into the current token buries a newer write under it", async () => {
  assert.deepEqual(await commitDuringWrite(restToCurrentToken), { keep: "1", "take/a": "1" });
});

test("a write to a path of the rest during a partial commit stays the newer one", async () => {
  assert.deepEqual(await commitDuringWrite(asItIs), { keep: "2", "take/a": "1" });
});

test("writers, partial commits, commits and partial resets at once: the last acknowledged write of every path is there", async () => {
  for (const seed of [1, 2, 3]) {
    const randomness = seededRandomness(seed);
    const kv = hookedKv(openMemoryKv(), {
      async before() {
        for (let turns = randomness.bytes(1)[0]! % 4; turns > 0; turns--) {
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    });
    const { store } = await withRepository(testEngine({ kv }));
    const acknowledged: Record<string, string> = {};
    let isWriting = true, parts = 0;
    const writer = async (area: number) => {
      for (let i = 0; i < 60; i++) {
        const path = `p${area}/k${i % 5}`, text = i % 7 === 6 ? undefined : `${area} ${i}`;
        await write(store, "main", { [path]: text });
        if (text === undefined) delete acknowledged[path];
        else acknowledged[path] = text;
      }
    };
    const tryOut = async (work: () => Promise<unknown>) => {
      while (isWriting) {
        await work().catch((error) => assert.match(error.code, /^(no_changes|try_again)$/));
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const commit = (paths?: string[]) =>
      store.commit("repo", "main", { message: "m", committer: WHO, paths });
    const commitPart = async (...more: string[]) => {
      await commit([`p${randomness.bytes(1)[0]! % 4}/`, ...more]);
      parts++;
    };
    const others = [
      tryOut(() => commitPart()),
      tryOut(() => commitPart("p3/k1")),
      tryOut(() => store.reset("repo", "main", { prefix: "nobody/" }, WHO)),
      tryOut(async () => {
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        await commit();
      }),
    ];
    await Promise.all([0, 1, 2, 3].map(writer));
    isWriting = false;
    await Promise.all(others);
    assert.deepEqual(await contents(store, "main"), sorted(acknowledged), `seed ${seed}`);
    await commit().catch((error) => assert.equal(error.code, "no_changes"));
    assert.deepEqual(await contents(store, "main@"), sorted(acknowledged), `seed ${seed}`);
    assert.ok(parts > 3, `${parts} partial commits landed`);
  }
});

function sorted(contents: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(contents).sort(([a], [b]) => (a < b ? -1 : 1)));
}
