/**
 * A merge that keeps staged changes, and one whose conflicts are settled by new content.
 *
 * Planted: a KV store that keeps staged records whole, so that one equal to the commit undoes what the merge brings; a
 * resolver that remembers merged content by its path alone, so that what moved the destination meanwhile is overwritten.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import type { ConflictResolver, ReadMergeSide } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvEntry, KvStore } from "../../kv/store.ts";
import { hookedKv } from "../support/hooked_kv.ts";
import { commit, contents, testEngine, WHO, withRepository, write } from "../support/test_engine.ts";

/** `side` changes `a`; on `main` something is staged, and `a` as it is committed. Then merges, killed at the n-th write. */
async function mergeKilledAt(
  stopAt: number,
  plant: (kv: KvStore) => KvStore,
): Promise<{ shown: Record<string, string>; isDone: boolean }> {
  const kv = openMemoryKv();
  const planted = plant(hookedKv(kv, {}));
  const engine = testEngine({ kv: planted });
  const { store } = await withRepository(engine);
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { a: "2" });
  await write(store, "main", { a: "1", staged: "1" });
  let writes = 0;
  const killed = hookedKv(planted, {
    before({ call }) {
      if (call.startsWith("set") && ++writes === stopAt) throw new Error("killed");
    },
  });
  const dying = testEngine({ kv: killed, objects: engine.objects, clock: engine.clock }).store;
  const options = { committer: WHO, keepStaged: true };
  const isDone = await dying.merge("repo", "side", "main", options).then(() => true, () => false);
  return { shown: await contents(testEngine({ kv, objects: engine.objects }).store, "main"), isDone };
}

/** When a part of the last batch is written again, writes all of it. */
function keepingWhole(kv: KvStore): KvStore {
  let last: readonly KvEntry[] = [];
  return {
    ...kv,
    setMany(partition, entries) {
      const isPart = entries.length < last.length &&
        entries.every(({ key }) => last.some((known) => String(known.key) === String(key)));
      if (!isPart) last = entries;
      return kv.setMany(partition, last);
    },
  };
}

test("planted: staged records that are kept whole undo what is merged", async () => {
  const { shown, isDone } = await mergeKilledAt(Infinity, keepingWhole);
  assert.deepEqual([shown, isDone], [{ a: "1", staged: "1" }, true]);
});

test("a merge that keeps staged changes and is killed at any of its writes loses neither them nor what it merged", async () => {
  for (let stopAt = 1;; stopAt++) {
    const { shown, isDone } = await mergeKilledAt(stopAt, (kv) => kv);
    assert.equal(shown.staged, "1", `killed at write ${stopAt}`);
    if (isDone) return assert.deepEqual(shown, { a: "2", staged: "1" });
  }
});

/** Merges a conflict of `a` into "destination+source", while `main` moves on to "moved" after the first answer. */
async function mergeWhileMoving(plant: (resolver: ConflictResolver) => ConflictResolver): Promise<string> {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { a: "s" });
  await commit(store, "main", { a: "m" });
  let hasMoved = false;
  const resolver = plant({
    async resolve(_conflict, read) {
      const body = utf8(`${await textOf(read, "destination")}+${await textOf(read, "source")}`);
      if (!hasMoved) {
        hasMoved = true;
        await commit(store, "main", { a: "moved" });
      }
      return { kind: "content", body };
    },
  });
  await store.merge("repo", "side", "main", { committer: WHO, resolver });
  return (await contents(store, "main")).a!;
}

async function textOf(read: ReadMergeSide, side: "source" | "destination"): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of await read(side)) text += decoder.decode(piece, { stream: true });
  return text;
}

function rememberingByPath(resolver: ConflictResolver): ConflictResolver {
  const known = new Map<string, ReturnType<ConflictResolver["resolve"]>>();
  return {
    resolve(conflict, read) {
      if (!known.has(conflict.path)) known.set(conflict.path, resolver.resolve(conflict, read));
      return known.get(conflict.path);
    },
  };
}

test("planted: merged content that is remembered by its path overwrites a newer destination", async () => {
  assert.equal(await mergeWhileMoving(rememberingByPath), "m+s");
});

test("merged content is made anew when the destination's object has changed meanwhile", async () => {
  assert.equal(await mergeWhileMoving((resolver) => resolver), "moved+s");
});
