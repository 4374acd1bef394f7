/** The part of the object-store suite that puts: bodies of all shapes, the three modes, and puts that fail. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { isCoded } from "../../base/errors.ts";
import type { Check } from "./object_store_suite.ts";
import {
  assertSameBytes,
  collect,
  failingAfter,
  isKind,
  keysOf,
  patternOf,
  piecesOf,
  stalledAfter,
  textOf,
  watched,
} from "./object_store_support.ts";

/** Sizes on both sides of where drivers change how they move bytes. */
const SIZES = [0, 1, 1023, 131_072, 131_073, 262_144, 524_289, 1_500_000];
const MODES = ["replace", "if_absent", "fresh"] as const;

/** Registers the tests of puts. */
export function testObjectPuts(check: Check): void {
  testBodies(check);
  testModes(check);
  testManyPuts(check);
  testFailedPuts(check);
}

function testBodies(check: Check): void {
  check("put() stores bytes of any size, and head(), get() and read() give them back", async (store) => {
    for (const size of SIZES) {
      const key = `bytes/${size}`;
      const put = await store.put(key, patternOf(size));
      assert.equal(put.key, key);
      assert.equal(put.sizeBytes, size);
      assert.deepEqual(await store.head(key), put);
      const { info, body } = await store.get(key);
      assert.deepEqual(info, put);
      assertSameBytes(await collect(body), patternOf(size));
      assertSameBytes(await store.read(key, 0, size), patternOf(size));
    }
  });

  check("put() takes a stream whose pieces have any size and share one memory", async (store) => {
    for (const size of SIZES) {
      for (const pieceSize of [7_001, 65_536, 400_000]) {
        const info = await store.put("streamed", piecesOf(patternOf(size), pieceSize));
        assert.equal(info.sizeBytes, size);
        assertSameBytes(await collect((await store.get("streamed")).body), patternOf(size));
      }
    }
  });

  check("put() takes a body in parts, empty ones among them, and joins them in order", async (store) => {
    for (const size of SIZES) {
      for (const partSize of [700, 65_536, 400_000]) {
        const content = patternOf(size);
        const parts: Uint8Array[] = [new Uint8Array(0)];
        for (let at = 0; at < size; at += partSize) {
          parts.push(content.subarray(at, at + partSize), new Uint8Array(0));
        }
        const info = await store.put("in/parts", parts);
        assert.equal(info.sizeBytes, size);
        assertSameBytes(await store.read("in/parts", 0, size), content);
      }
    }
    await assert.rejects(
      store.put("in/parts", [patternOf(1)], { mode: "if_absent" }),
      isKind("exists", "object_exists"),
    );
  });

  check("put() keeps no hold of the caller's array", async (store) => {
    const body = Buffer.from("before");
    await store.put("kept", body);
    body.fill("x");
    assert.equal(await textOf(store, "kept"), "before");
  });

  check("read() and get() give arrays of the caller's own", async (store) => {
    await store.put("own", Buffer.from("before"));
    (await store.read("own", 0, 6)).fill(0);
    for await (const piece of (await store.get("own")).body) piece.fill(0);
    assert.equal(await textOf(store, "own"), "before");
  });

  check("many puts and gets may run side by side", async (store) => {
    const sizes = Array.from({ length: 60 }, (_, i) => (i * 37_013) % 400_000);
    await Promise.all(
      sizes.map((size, i) => store.put(`many/${i % 7}/${i}`, piecesOf(patternOf(size), 50_000))),
    );
    await Promise.all(sizes.map(async (size, i) => {
      assertSameBytes(await collect((await store.get(`many/${i % 7}/${i}`)).body), patternOf(size));
    }));
  });
}

/** Registers the tests of `putAt`. */
export function testPutsInPlaces(check: Check): void {
  check("putAt() writes at offsets, in any order and side by side", async (store) => {
    const content = patternOf(3_000_000), sizes = [700_000, 1, 131_073, 0, 900_000, 1_268_926];
    for (const pieceSize of [undefined, 7_001, 400_000]) {
      await store.put("placed", new Uint8Array(0), { mode: "replace" });
      let at = 0;
      const parts = sizes.map((size) => {
        const offset = at;
        at += size;
        return { offset, body: content.subarray(offset, at) };
      });
      await Promise.all(
        parts.toReversed().map(({ offset, body }) =>
          store.putAt!("placed", offset, pieceSize === undefined ? body : piecesOf(body, pieceSize))
        ),
      );
      assert.equal(at, content.length);
      const { info, body } = await store.get("placed");
      assert.equal(info.sizeBytes, content.length);
      assertSameBytes(await collect(body), content);
      await store.flush(["placed"]);
    }
  });

  check(
    "putAt() leaves zeros where nothing is written, and what is there where it does not write",
    async (store) => {
      await store.put("placed", Buffer.from("abc"));
      await store.putAt!("placed", 5, Buffer.from("fg"));
      await store.putAt!("placed", 1, Buffer.from("B"));
      assert.equal(await textOf(store, "placed"), "aBc\0\0fg");
    },
  );

  check("putAt() makes no object, and passes on what its body fails with", async (store) => {
    await assert.rejects(store.putAt!("none", 0, Buffer.from("a")), isKind("not_found", "object_not_found"));
    assert.equal(await store.head("none"), undefined);
    await store.put("placed", Buffer.from("abc"));
    await assert.rejects(
      store.putAt!("placed", 3, failingAfter(patternOf(300_000), new RangeError("no"))),
      RangeError,
    );
    assert.equal(Buffer.from(await store.read("placed", 0, 3)).toString(), "abc");
    await assert.rejects(store.putAt!("placed", -1, Buffer.from("a")), isKind("invalid", "invalid_range"));
  });
}

function testModes(check: Check): void {
  check("put() replaces an object, by a shorter one too", async (store) => {
    await store.put("k", patternOf(200_000));
    await store.put("k", Buffer.from("short"));
    assert.equal(await textOf(store, "k"), "short");
    assert.equal((await store.head("k"))?.sizeBytes, 5);
  });

  check("readers see the old or the new object whole while it is replaced", async (store) => {
    const sizeOf = (generation: number) => 1000 + generation * 40_009;
    const bodyOf = (generation: number) => new Uint8Array(sizeOf(generation)).fill(generation);
    await store.put("k", bodyOf(0));
    let writing = true;
    const readers = Array.from({ length: 4 }, async () => {
      for (let reads = 0; writing || reads < 3; reads++) {
        const { info, body } = await store.get("k");
        const bytes = await collect(body);
        assert.equal(bytes.length, info.sizeBytes);
        assertSameBytes(bytes, bodyOf(bytes[0]!));
      }
    });
    for (let i = 1; i < 25; i++) await store.put("k", piecesOf(bodyOf((i * 5) % 11), 30_000));
    writing = false;
    await Promise.all(readers);
  });

  for (const mode of ["if_absent", "fresh"] as const) {
    check(`put() of mode ${mode} stores a new object and refuses a taken key`, async (store) => {
      await store.put("folder/k", Buffer.from("first"), { mode });
      for (const size of [3, 300_000]) {
        let isClosed = false;
        const body = watched(piecesOf(patternOf(size), 70_000), () => isClosed = true);
        await assert.rejects(store.put("folder/k", body, { mode }), isKind("exists", "object_exists"));
        assert.ok(isClosed, "the source was left open");
      }
      assert.equal(await textOf(store, "folder/k"), "first");
    });
  }

  check("of 20 racing puts of mode if_absent one wins", async (store) => {
    for (const size of [10, 200_000]) {
      const key = `raced/${size}`;
      const puts = Array.from({ length: 20 }, (_, i) => {
        return store.put(key, piecesOf(new Uint8Array(size + i).fill(i), 9_999), { mode: "if_absent" });
      });
      const results = await Promise.allSettled(puts);
      const winners = results.flatMap((result, i) => result.status === "fulfilled" ? [i] : []);
      assert.equal(winners.length, 1);
      for (const result of results) {
        if (result.status === "rejected") {
          assert.ok(isCoded(result.reason, "object_exists"), String(result.reason));
        }
      }
      const bytes = await collect((await store.get(key)).body);
      assertSameBytes(bytes, new Uint8Array(size + winners[0]!).fill(winners[0]!));
    }
  });
}

function testManyPuts(check: Check): void {
  check("putMany() stores each object, of any size, and flush() takes them", async (store) => {
    const objects = Array.from({ length: 150 }, (_, i) => ({
      key: `many/${i % 5}/${i}`,
      body: patternOf(i === 70 ? 400_000 : (i * 53) % 2000),
    }));
    await store.putMany(objects);
    assert.equal((await keysOf(store)).length, objects.length);
    for (const { key, body } of objects) {
      assert.equal((await store.head(key))?.sizeBytes, body.length);
      assertSameBytes(await store.read(key, 0, body.length + 1), body);
    }
    await store.flush(objects.map(({ key }) => key));
    await store.putMany([]);
  });

  check("putMany() refuses a taken key and leaves what is there", async (store) => {
    await store.put("folder/k", Buffer.from("first"));
    const objects = ["folder/j", "folder/k", "folder/l"].map((key) => ({ key, body: Buffer.from("second") }));
    await assert.rejects(store.putMany(objects), isKind("exists", "object_exists"));
    assert.equal(await textOf(store, "folder/k"), "first");
  });

  check("putMany() refuses a key that cannot be, before it stores anything", async (store) => {
    const objects = ["a", "\ud800"].map((key) => ({ key, body: Buffer.from("x") }));
    await assert.rejects(store.putMany(objects), isKind("invalid", "unplaceable_key"));
    assert.deepEqual(await keysOf(store), []);
  });

  check("putMany() puts into folders that deleting has taken away", async (store) => {
    await store.putMany([{ key: "deep/er/a", body: Buffer.from("a") }]);
    await store.delete("deep/er/a");
    await store.putMany([{ key: "deep/er/b", body: Buffer.from("b") }]);
    assert.deepEqual(await keysOf(store), ["deep/er/b"]);
  });
}

function testFailedPuts(check: Check): void {
  for (const mode of MODES) {
    check(`a stream that fails leaves nothing behind a put of mode ${mode}`, async (store) => {
      for (const size of [0, 10, 140_000, 900_000]) {
        const failure = Object.assign(new Error("the source broke"), { code: "ENOENT" });
        const body = failingAfter(patternOf(size), failure);
        await assert.rejects(store.put("a/b/c", body, { mode }), (error) => error === failure);
        assert.equal(await store.head("a/b/c"), undefined);
        assert.deepEqual(await keysOf(store), []);
      }
      await store.put("a/b/c", Buffer.from("works"), { mode });
      assert.equal(await textOf(store, "a/b/c"), "works");
    });

    check(
      `put() of mode ${mode} is stopped by its signal, though its source never answers`,
      async (store) => {
        for (const size of [10, 900_000]) {
          const controller = new AbortController();
          const body = stalledAfter(patternOf(size), () => controller.abort());
          const put = store.put("stalled", body, { mode, signal: controller.signal });
          await assert.rejects(put, isKind("canceled", "canceled"));
          assert.equal(await store.head("stalled"), undefined);
        }
        await assert.rejects(
          store.put("stalled", patternOf(10), { mode, signal: AbortSignal.abort() }),
          isKind("canceled", "canceled"),
        );
        assert.deepEqual(await keysOf(store), []);
      },
    );
  }

  check("a failed put of mode replace leaves the old object", async (store) => {
    await store.put("k", Buffer.from("old"));
    await assert.rejects(store.put("k", failingAfter(patternOf(500_000), new Error("the source broke"))));
    assert.equal(await textOf(store, "k"), "old");
  });

  check("an unfinished put of mode replace or if_absent does not show", async (store) => {
    for (const mode of ["replace", "if_absent"] as const) {
      let finish = () => {};
      const isHeld = new Promise<void>((resolve) => finish = resolve);
      const hasStarted = Promise.withResolvers<void>();
      const body = (async function* () {
        yield patternOf(300_000);
        hasStarted.resolve();
        await isHeld;
      })();
      const put = store.put(`unfinished/${mode}`, body, { mode });
      await hasStarted.promise;
      assert.equal(await store.head(`unfinished/${mode}`), undefined);
      assert.deepEqual(await keysOf(store, "unfinished/"), []);
      finish();
      await put;
      assert.equal((await store.head(`unfinished/${mode}`))?.sizeBytes, 300_000);
      await store.delete(`unfinished/${mode}`);
    }
  });
}
