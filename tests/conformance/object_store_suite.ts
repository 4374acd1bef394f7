/**
 * What every object store does, whatever stands behind it. A driver's own test opens it and runs this; what a driver
 * cannot do is declared there, with the reason.
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test, { type TestContext } from "node:test";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { testObjectListing } from "./object_store_listing_suite.ts";
import { testObjectPuts, testPutsInPlaces } from "./object_store_put_suite.ts";
import { testUnnamedObjects } from "./object_store_unnamed_suite.ts";
import { assertSameBytes, collect, isKind, keysOf, patternOf, textOf } from "./object_store_support.ts";

export interface ObjectStoreCapabilities {
  /** Every text without NUL is a key but the empty one: `a` beside `a/b`, `a//b`, `../a`. */
  readonly anyKey?: boolean;
  /** Objects are written in places: `putAt`. */
  readonly writesInPlaces?: boolean;
  /** Objects are begun before they have a key: `begin`. */
  readonly beginsUnnamed?: boolean;
}

export interface ObjectStoreSuiteOptions {
  /** Opens an empty store; what it needs is cleaned up by `t.after`. */
  readonly open: (t: TestContext) => ObjectStore | Promise<ObjectStore>;
  readonly capabilities?: ObjectStoreCapabilities;
  /** Names of tests to skip, with the reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** Registers one test of the suite. */
export type Check = (name: string, run: (store: ObjectStore) => Promise<void>) => void;

const TIMEOUT_MS = 120_000;
const MODES = ["replace", "if_absent", "fresh"] as const;

/** Runs the suite against the stores that `open` gives. */
export function testObjectStore(driver: string, options: ObjectStoreSuiteOptions): void {
  const check: Check = (name, run) => {
    const skip = options.skip?.[name] ?? false;
    test(`${driver}: ${name}`, { skip, timeout: TIMEOUT_MS }, async (t) => run(await options.open(t)));
  };
  testObjectPuts(check);
  if (options.capabilities?.writesInPlaces) testPutsInPlaces(check);
  if (options.capabilities?.beginsUnnamed) testUnnamedObjects(check);
  testReads(check);
  testDeleteAndFlush(check);
  testKeys(check, options.capabilities ?? {});
  testObjectListing(check);
}

function testReads(check: Check): void {
  check("get() gives exactly the bytes of a range, at every edge", async (store) => {
    for (const size of [1, 10, 600_000]) {
      const content = patternOf(size);
      const info = await store.put("ranged", content);
      const edges = [0, 1, 2, 131_071, 131_072, 524_287, 524_288, size - 2, size - 1];
      const starts = [...new Set(edges.filter((edge) => edge >= 0 && edge < size))];
      for (const start of starts) {
        for (const end of [undefined, ...starts.filter((end) => end >= start), size, size + 5_000_000]) {
          const got = await store.get("ranged", { range: { start, end } });
          assert.deepEqual(got.info, info);
          assertSameBytes(
            await collect(got.body),
            content.subarray(start, end === undefined ? size : end + 1),
          );
        }
      }
    }
  });

  check("get() refuses a range that starts past the object or is none", async (store) => {
    await store.put("ten", patternOf(10));
    await store.put("empty", patternOf(0));
    const refused = isKind("invalid", "invalid_range");
    for (const start of [10, 11, 1e12]) await assert.rejects(store.get("ten", { range: { start } }), refused);
    await assert.rejects(store.get("empty", { range: { start: 0 } }), refused);
    for (
      const range of [{ start: -1 }, { start: 1.5 }, { start: NaN }, { start: 5, end: 4 }, {
        start: 0,
        end: -1,
      }]
    ) {
      await assert.rejects(store.get("ten", { range }), refused);
    }
  });

  check("read() gives fewer bytes only at the object's end", async (store) => {
    const content = patternOf(300_000);
    await store.put("k", content);
    const extents = [[0, 1], [5, 0], [299_999, 1], [299_999, 10], [300_000, 10], [400_000, 1], [1, 299_998], [
      7,
      2 ** 40,
    ]];
    for (const [offset, length] of extents) {
      assertSameBytes(await store.read("k", offset!, length!), content.subarray(offset!, offset! + length!));
    }
    for (const [offset, length] of [[-1, 1], [0, -1], [0.5, 1], [0, NaN]]) {
      await assert.rejects(store.read("k", offset!, length!), isKind("invalid", "invalid_range"));
    }
  });

  check("an object that is not there is undefined, false or object_not_found", async (store) => {
    await store.put("there/too", patternOf(1));
    for (const key of ["missing", "missing/deep/er", "there", "there/to", "there/too2"]) {
      assert.equal(await store.head(key), undefined);
      assert.equal(await store.delete(key), false);
      await assert.rejects(store.get(key), isKind("not_found", "object_not_found"));
      await assert.rejects(store.read(key, 0, 1), isKind("not_found", "object_not_found"));
      await assert.rejects(store.flush(["there/too", key]), isKind("not_found", "object_not_found"));
    }
  });

  check("get() is stopped by its signal", async (store) => {
    await store.put("k", patternOf(1_500_000));
    await assert.rejects(store.get("k", { signal: AbortSignal.abort() }), isKind("canceled", "canceled"));
    const controller = new AbortController();
    const { body } = await store.get("k", { signal: controller.signal });
    await assert.rejects(async () => {
      for await (const _piece of body) controller.abort();
    }, isKind("canceled", "canceled"));
  });

  check("a stream may be left before its end, and before its start", async (store) => {
    await store.put("k", patternOf(1_500_000));
    for await (const piece of (await store.get("k")).body) {
      assert.ok(piece.length > 0);
      break;
    }
    const unread = (await store.get("k")).body[Symbol.asyncIterator]();
    assert.equal((await unread.return?.())?.done, true);
    assertSameBytes(await collect((await store.get("k")).body), patternOf(1_500_000));
  });
}

function testDeleteAndFlush(check: Check): void {
  check("delete() removes an object and tells whether it was there", async (store) => {
    await store.put("a/b/c", patternOf(3));
    await store.put("a/d", patternOf(4));
    assert.equal(await store.delete("a/b/c"), true);
    assert.equal(await store.delete("a/b/c"), false);
    assert.deepEqual(await keysOf(store), ["a/d"]);
    await store.put("a/b/c", patternOf(5));
    assert.deepEqual(await keysOf(store), ["a/b/c", "a/d"]);
  });

  check("a name is free for an object once all under it are deleted", async (store) => {
    await store.put("a/b/c", patternOf(1));
    await store.delete("a/b/c");
    for (const mode of MODES) {
      await store.put("a", patternOf(2), { mode });
      await store.delete("a");
      await store.put("a/b", patternOf(1), { mode });
      await store.delete("a/b");
    }
    assert.deepEqual(await keysOf(store), []);
  });

  check("flush() takes none, one and many keys, and the same one twice", async (store) => {
    await store.flush([]);
    const keys = Array.from({ length: 400 }, (_, i) => `shard${i % 9}/${i}`);
    for (const key of keys) await store.put(key, patternOf(10), { mode: "fresh" });
    await store.flush([keys[0]!]);
    await store.flush([keys[0]!, keys[1]!, keys[0]!]);
    await store.flush(keys);
    await assert.rejects(store.flush([...keys, "missing"]), isKind("not_found", "object_not_found"));
  });

  check("makeReady() makes way for one small put, and for nothing else", async (store) => {
    if (!store.makeReady) return;
    await store.put("a/first", patternOf(1), { mode: "fresh" });
    assert.equal(store.makeReady("a/first"), false);
    assert.equal(store.makeReady("../a"), false);
    for (const [key, size] of [["a/none", 0], ["a/small", 1000], ["a/large", 1_000_000]] as const) {
      assert.equal(store.makeReady(key), true);
      const info = await store.put(key, patternOf(size), { mode: "fresh" });
      assert.equal(info.sizeBytes, size);
      assert.deepEqual(await store.read(key, 0, 2_000_000), patternOf(size));
      await assert.rejects(
        store.put(key, patternOf(1), { mode: "fresh" }),
        isKind("exists", "object_exists"),
      );
    }
    // Somebody cleaned up.
    assert.equal(store.makeReady("a/gone"), true);
    await store.delete("a/gone");
    await store.put("a/gone", patternOf(10), { mode: "fresh" });
    await store.flush(["a/gone"]);
    assert.deepEqual(await store.read("a/gone", 0, 100), patternOf(10));
  });

  check("letGo() changes nothing that can be seen, whatever is there", async (store) => {
    await store.put("flushed", patternOf(100_000));
    await store.flush(["flushed"]);
    await store.put("unflushed", patternOf(100_000));
    await store.read("unflushed", 0, 10);
    store.letGo?.(["flushed", "unflushed", "missing", "missing/too", "../a", ""]);
    for (const key of ["flushed", "unflushed"]) {
      assert.deepEqual(await store.read(key, 0, 200_000), patternOf(100_000));
    }
    assert.deepEqual(await keysOf(store), ["flushed", "unflushed"]);
  });
}

function testKeys(check: Check, capabilities: ObjectStoreCapabilities): void {
  const hostile = ["a//b", "/a", "a/", "a/../b", "../a", "./a", "a/.", "..", `${"x".repeat(256)}/a`];

  check("a key that is empty or has no UTF-8 form is unplaceable", async (store) => {
    for (const key of ["", "a\ud800", "\udc00/b"]) await assertUnplaceable(store, key);
  });

  check(
    "a key that could leave the namespace, or that no path holds, is kept exactly or refused",
    async (store) => {
      for (const key of hostile) {
        if (!capabilities.anyKey) await assertUnplaceable(store, key);
        else {
          await store.put(key, Buffer.from(key));
          assert.equal(await textOf(store, key), key);
        }
      }
      assert.deepEqual((await keysOf(store)).toSorted(), capabilities.anyKey ? hostile.toSorted() : []);
    },
  );

  check("an object beside a prefix of its own name is kept or refused", async (store) => {
    for (const [first, second] of [["a", "a/b"], ["c/d/e", "c/d"]] as const) {
      await store.put(first, Buffer.from(first));
      for (const mode of MODES) {
        if (capabilities.anyKey) await store.put(`${mode}/${second}`, Buffer.from(second), { mode });
        else {await assert.rejects(
            store.put(second, patternOf(1), { mode }),
            isKind("invalid", "unplaceable_key"),
          );}
      }
      assert.equal(await textOf(store, first), first);
    }
  });

  check("locate() gives each key its own address", async (store) => {
    const keys = ["a", "b/c", "b%2Fc", "b/c d", "b/c%20d", "b/c+d", "x?at=tag:1", "x#y"];
    assert.equal(new Set(keys.map((key) => store.locate(key))).size, keys.length);
    assert.ok(store.locate("data/x").endsWith("/data/x"));
  });
}

async function assertUnplaceable(store: ObjectStore, key: string): Promise<void> {
  const refused = isKind("invalid", "unplaceable_key");
  for (const mode of MODES) await assert.rejects(store.put(key, Buffer.from("x"), { mode }), refused);
  await assert.rejects(store.head(key), refused);
  await assert.rejects(store.get(key), refused);
  await assert.rejects(store.read(key, 0, 1), refused);
  await assert.rejects(store.delete(key), refused);
  await assert.rejects(store.flush([key]), refused);
  assert.throws(() => store.locate(key), refused);
}
