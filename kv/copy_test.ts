import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hex, utf8 } from "../base/bytes.ts";
import { seededRandomness } from "../base/randomness.ts";
import { copyKv } from "./copy.ts";
import { openMemoryKv } from "./memory/mod.ts";
import type { ListedKvStore } from "./store.ts";
import { refuseUnfinished } from "./unfinished.ts";

async function contentOf(store: ListedKvStore): Promise<string[]> {
  const lines: string[] = [];
  for await (const partition of store.partitions()) {
    for await (const page of store.scan(partition)) {
      for (const { key, value } of page) lines.push(`${hex(partition)} ${hex(key)} ${hex(value)}`);
    }
  }
  return lines.sort();
}

async function filled(): Promise<ListedKvStore> {
  const store = openMemoryKv(), chance = seededRandomness(5);
  for (let p = 0; p < 20; p++) {
    const partition = chance.bytes(1 + p * 12);
    const count = p === 0 ? 3000 : 10;
    const entries = Array.from(
      { length: count },
      () => ({ key: chance.bytes(5), value: chance.bytes(p * 50) }),
    );
    await store.setMany(partition, entries);
  }
  await store.set(utf8("big"), utf8("one"), chance.bytes(256 * 1024));
  return store;
}

/** A store that fails, or does something, at the `at`th call of `setMany`. */
function interrupted(store: ListedKvStore, at: number, what: () => Promise<void>): ListedKvStore {
  let calls = 0;
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name).bind(target);
      if (name !== "setMany") return value;
      return async (...args: unknown[]) => {
        if (++calls === at) await what();
        await value(...args);
      };
    },
  });
}

describe("copyKv()", () => {
  it("copies everything and counts what it has compared", async () => {
    const from = await filled(), to = openMemoryKv();
    const passes = new Set<string>();
    const counts = await copyKv(from, to, { onProgress: (pass) => passes.add(pass) });
    const content = await contentOf(from);
    assert.deepEqual(await contentOf(to), content);
    assert.deepEqual([counts.partitions, counts.entries], [21, content.length]);
    assert.deepEqual([...passes], ["copying", "comparing"]);
    await refuseUnfinished(to);
  });

  it("refuses a target that is not empty, and leaves it as it is", async () => {
    const from = await filled(), to = openMemoryKv();
    await to.set(utf8("p"), utf8("k"), utf8("v"));
    await assert.rejects(copyKv(from, to), { kind: "exists", code: "kv_not_empty" });
    assert.equal((await contentOf(to)).length, 1);
  });

  it("is taken up where it was broken off, and until then the target is unusable", async () => {
    const from = await filled(), to = openMemoryKv();
    const fail = () => Promise.reject(new Error("broken off"));
    await assert.rejects(copyKv(from, interrupted(to, 5, fail)), /broken off/);
    await assert.rejects(refuseUnfinished(to), { code: "kv_unfinished" });
    await assert.rejects(copyKv(to, openMemoryKv()), { code: "kv_unfinished" });
    // What the source has deleted since is taken away again.
    await to.set(utf8("other"), utf8("k"), utf8("v"));
    await copyKv(from, to);
    assert.deepEqual(await contentOf(to), await contentOf(from));
  });

  it("does not finish when the source changes while it runs", async () => {
    const from = await filled(), to = openMemoryKv();
    const change = () => from.set(utf8("a new partition"), utf8("k"), utf8("v"));
    const late = interrupted(to, 1, async () => {});
    const source: ListedKvStore = new Proxy(from, {
      get(target, name) {
        const value = Reflect.get(target, name).bind(target);
        if (name !== "partitions") return value;
        return async function* () {
          yield* value();
          await change();
        };
      },
    });
    await assert.rejects(copyKv(source, late), { kind: "conflict", code: "kv_changed" });
    await assert.rejects(refuseUnfinished(to), { code: "kv_unfinished" });
    await copyKv(from, to);
    assert.deepEqual(await contentOf(to), await contentOf(from));
  });

  it("finds a value that the target did not keep", async () => {
    const from = await filled(), to = openMemoryKv();
    const forgetful: ListedKvStore = new Proxy(to, {
      get(target, name) {
        const value = Reflect.get(target, name).bind(target);
        if (name !== "setMany") return value;
        return (partition: Uint8Array, entries: readonly unknown[]) => value(partition, entries.slice(1));
      },
    });
    await assert.rejects(copyKv(from, forgetful), { code: "kv_changed" });
  });
});
