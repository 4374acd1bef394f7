/**
 * A reset of part of a branch drops the sealed tokens that hold the rest, too: the rest is first written to a fresh token,
 * and the compare-and-set that drops them puts that token in their place.
 *
 * Planted: a KV store that loses the copying of the rest, as when it is done after the compare-and-set and never reached.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { contents, testEngine, WHO, write } from "../support/test_engine.ts";

/** Resets one path and is killed at its n-th write; returns what the branch shows then. */
async function resetKilledAt(
  stopAt: number,
  plant: (kv: KvStore) => KvStore,
): Promise<{ shown: Record<string, string>; isDone: boolean }> {
  const kv = openMemoryKv();
  const engine = testEngine({ kv });
  await engine.store.createRepository("repo", { committer: WHO });
  await write(engine.store, "main", { keep: "1", drop: "1" });
  let writes = 0;
  const killed = hookedKv(plant(hookedKv(kv, {})), {
    before({ call }) {
      if (call.startsWith("set") && ++writes === stopAt) throw new Error("killed");
    },
  });
  const dying = testEngine({ kv: killed, objects: engine.objects, clock: engine.clock });
  const isDone = await dying.store.reset("repo", "main", { path: "drop" }, WHO).then(() => true, () => false);
  return { shown: await contents(engine.store, "main"), isDone };
}

test("planted: a reset whose rest is put back too late loses it", async () => {
  const losing = (kv: KvStore): KvStore => ({ ...kv, setMany: () => Promise.resolve() });
  assert.deepEqual((await resetKilledAt(Infinity, losing)).shown, {});
});

test("a reset that is killed at any of its writes keeps the rest", async () => {
  for (let stopAt = 1;; stopAt++) {
    const { shown, isDone } = await resetKilledAt(stopAt, (kv) => kv);
    assert.equal(shown.keep, "1", `killed at write ${stopAt}`);
    if (isDone) return assert.deepEqual(shown, { keep: "1" });
  }
});
