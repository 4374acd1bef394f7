/**
 * What every object store does, whatever stands behind it. A driver's own test opens it and runs this; what a driver
 * cannot do is declared there, with the reason.
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test, { type TestContext } from "node:test";
import { isCoded } from "../../base/errors.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import { testObjectListing } from "./object_store_listing_suite.ts";

export interface ObjectStoreCapabilities {
  /** Every text without NUL is a key but the empty one: `a` beside `a/b`, `a//b`, `../a`. */
  readonly anyKey?: boolean;
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

/** Sizes on both sides of where drivers change how they move bytes. */
const SIZES = [0, 1, 1023, 131_072, 131_073, 262_144, 524_289, 1_500_000];
const TIMEOUT_MS = 120_000;
const MODES = ["replace", "if_absent", "fresh"] as const;

/** Runs the suite against the stores that `open` gives. */
export function testObjectStore(driver: string, options: ObjectStoreSuiteOptions): void {
  const check: Check = (name, run) => {
    const skip = options.skip?.[name] ?? false;
    test(`${driver}: ${name}`, { skip, timeout: TIMEOUT_MS }, async (t) => run(await options.open(t)));
  };
  testPuts(check);
  testModes(check);
  testFailedPuts(check);
  testReads(check);
  testDeleteAndFlush(check);
  testKeys(check, options.capabilities ?? {});
  testObjectListing(check);
}

function testPuts(check: Check): void {
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

/** Returns a predicate for `assert.rejects` that holds an error to its kind and code. */
export function isKind(kind: string, code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isCoded(error), `no coded error: ${error}`);
    assert.equal(`${error.kind} ${error.code}`, `${kind} ${code}`);
    return true;
  };
}

/** Returns bytes that differ from place to place, so that a shifted or repeated piece is noticed. */
export function patternOf(size: number): Uint8Array {
  const out = new Uint8Array(size);
  for (let i = 0; i < size; i++) out[i] = (i * 31 + (i >>> 8) * 17 + (i >>> 16)) & 0xff;
  return out;
}

export async function collect(body: ByteStream): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  for await (const piece of body) copies.push(new Uint8Array(piece));
  return new Uint8Array(Buffer.concat(copies));
}

function assertSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.length, expected.length);
  assert.equal(Buffer.compare(actual, expected), 0, "the bytes differ");
}

async function textOf(store: ObjectStore, key: string): Promise<string> {
  return Buffer.from(await collect((await store.get(key)).body)).toString();
}

async function keysOf(store: ObjectStore, prefix = ""): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.pages({ prefix })) for (const { key } of page.objects) keys.push(key);
  return keys;
}

/** Yields the content through one buffer, as readers of files and sockets do; an empty piece comes first. */
async function* piecesOf(content: Uint8Array, pieceSize: number): ByteStream {
  const buffer = Buffer.alloc(pieceSize);
  yield buffer.subarray(0, 0);
  for (let at = 0; at < content.length; at += pieceSize) {
    const piece = content.subarray(at, at + pieceSize);
    buffer.fill(0xee).set(piece);
    yield buffer.subarray(0, piece.length);
  }
  buffer.fill(0xee);
}

async function* failingAfter(content: Uint8Array, failure: Error): ByteStream {
  yield* piecesOf(content, 65_536);
  throw failure;
}

async function* stalledAfter(content: Uint8Array, onStall: () => void): ByteStream {
  yield* piecesOf(content, 65_536);
  setTimeout(onStall, 1);
  await new Promise(() => {});
}

async function* watched(body: ByteStream, onClose: () => void): ByteStream {
  try {
    yield* body;
  } finally {
    onClose();
  }
}
