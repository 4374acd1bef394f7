/** The part of the object-store suite that begins objects before they have a key. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Check } from "./object_store_suite.ts";
import { assertSameBytes, collect, isKind, keysOf, patternOf, textOf } from "./object_store_support.ts";

/** Registers the tests of `begin`. */
export function testUnnamedObjects(check: Check): void {
  check("begin() joins pieces in the order of the calls, and name() shows them whole", async (store) => {
    for (const [size, pieceSize] of [[0, 1], [1, 1], [10_000, 7], [3_000_000, 262_144]] as const) {
      const object = store.begin!("folder"), content = patternOf(size);
      const added: Promise<void>[] = [];
      for (let at = 0; at < size; at += pieceSize) {
        added.push(object.add(content.subarray(at, at + pieceSize)));
      }
      await Promise.all(added);
      assert.deepEqual(await keysOf(store, "folder/"), []);
      assertSameBytes(await object.read(0, size), content);
      const info = await object.name("folder/k", "replace");
      assert.deepEqual(await store.head("folder/k"), info);
      assertSameBytes(await collect((await store.get("folder/k")).body), content);
      await store.flush(["folder/k"]);
      await object.abandon();
      assert.ok(await store.delete("folder/k"));
    }
  });

  check("name() waits for pieces that are still being written", async (store) => {
    const object = store.begin!(""), content = patternOf(5_000_000);
    const added = object.add(content);
    assert.equal((await object.name("k", "if_absent")).sizeBytes, content.length);
    await added;
    assertSameBytes(await store.read("k", 0, content.length), content);
  });

  check("name() of mode if_absent refuses a taken key, and may be tried again", async (store) => {
    await store.put("folder/k", Buffer.from("first"));
    const object = store.begin!("folder");
    await object.add(Buffer.from("second"));
    await assert.rejects(object.name("folder/k", "if_absent"), isKind("exists", "object_exists"));
    assert.equal(await textOf(store, "folder/k"), "first");
    assert.equal(Buffer.from(await object.read(0, 100)).toString(), "second");
    await object.name("folder/k", "replace");
    assert.equal(await textOf(store, "folder/k"), "second");
  });

  check("a reader of the object that is replaced sees the new one from then on", async (store) => {
    await store.put("k", Buffer.from("old"));
    assert.equal(Buffer.from(await store.read("k", 0, 3)).toString(), "old");
    const object = store.begin!("");
    await object.add(Buffer.from("new"));
    await object.name("k", "replace");
    assert.equal(Buffer.from(await store.read("k", 0, 3)).toString(), "new");
  });

  check("of 20 that get one name, if it is free, one does", async (store) => {
    const named = await Promise.allSettled(Array.from({ length: 20 }, async (_, i) => {
      const object = store.begin!("raced");
      await object.add(new Uint8Array(300_000).fill(i));
      await object.name("raced/k", "if_absent").finally(() => object.abandon());
    }));
    const winners = named.flatMap(({ status }, i) => status === "fulfilled" ? [i] : []);
    assert.equal(winners.length, 1);
    assertSameBytes(await store.read("raced/k", 0, 300_000), new Uint8Array(300_000).fill(winners[0]!));
    assert.deepEqual(await keysOf(store), ["raced/k"]);
  });

  check("abandon() leaves nothing, though pieces are being written", async (store) => {
    const object = store.begin!("folder");
    const added = object.add(patternOf(3_000_000));
    await object.abandon();
    await added;
    assert.deepEqual(await keysOf(store), []);
    await store.put("folder/k", Buffer.from("works"));
    assert.equal(await textOf(store, "folder/k"), "works");
  });
}
