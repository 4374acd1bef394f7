import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { openFileObjectStore } from "../../drivers/file/mod.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { entryRecord, entryWeight, sameContent } from "../objects/mod.ts";
import { PIECE_BYTES, PiecePool } from "../sstable/mod.ts";
import { applyChanges, type Change } from "./apply.ts";
import { TableFiles } from "./files.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import { TableBody } from "./table_body.ts";

/** All in one range. */
const CHUNKING = { minSizeBytes: 0, maxSizeBytes: 1 << 30, raggedness: 2 ** 31 };
const OPTIONS = { chunking: CHUNKING, weigh: entryWeight, same: sameContent };
const KEYS = 60_000;
/** Pieces that may be on their way, the one that is being filled, and one that has just been written. */
const MOST_PIECES = 18;

test("a range of many megabytes is written and copied in a few pieces of memory", async (t) => {
  const { store } = open(t);
  const used = new Set<ArrayBufferLike>();
  let bytes = 0, most = 0, underWay = 0;
  const watched = beginning(store, (object) => ({
    ...object,
    async add(piece) {
      assert.ok(piece.length <= PIECE_BYTES, `a piece of ${piece.length} bytes`);
      used.add(piece.buffer);
      bytes += piece.length;
      most = Math.max(most, ++underWay);
      await object.add(piece);
      underWay--;
    },
  }));
  const files = new TableFiles(watched, { sides: OPTIONS });
  const { id } = await apply(files, NO_METARANGE, changes(0, KEYS));
  assert.ok(bytes > 24 * PIECE_BYTES, `${bytes} bytes were written`);
  const copied = await apply(files, id, changes(1, KEYS, KEYS / 3));
  assert.equal(copied.newRanges.length, 1);
  assert.ok(files.counts.blocksCopied > 1000, `${files.counts.blocksCopied} blocks copied`);
  assert.ok(bytes > 48 * PIECE_BYTES, `${bytes} bytes were written`);
  assert.ok(most <= MOST_PIECES, `${most} pieces under way`);
  assert.ok(used.size <= MOST_PIECES, `${used.size} pieces of memory`);
  for (const range of copied.newRanges) await (await files.open(range)).verify();
});

test("who writes faster than the store takes it waits", async () => {
  const waiting: (() => void)[] = [];
  const body = new TableBody({
    objects: beginning(openMemoryObjectStore(), () => ({
      add: () => new Promise((resolve) => waiting.push(resolve)),
      name: () => assert.fail("it is not named"),
      read: () => assert.fail("it is not read"),
      abandon: async () => {},
    })),
    folder: "f",
    pool: new PiecePool(),
  });
  let taken = 0;
  for (; !body.isFull; taken++) body.take(body.piece(1), 1);
  assert.ok(taken < MOST_PIECES);
  let hasRoom = false;
  const room = body.room().then(() => hasRoom = true);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(hasRoom, false);
  waiting.shift()!();
  await room;
  for (const written of waiting) written();
  await body.dispose();
});

test("a table is the same whether its store takes it piece by piece or whole", async (t) => {
  const streamed = new TableFiles(open(t).store, { sides: OPTIONS });
  const whole = new TableFiles(openMemoryObjectStore(), { sides: OPTIONS });
  for (const files of [streamed, whole]) {
    const { id } = await apply(files, NO_METARANGE, changes(0, 20_000));
    await apply(files, id, changes(1, 20_000, 5000));
  }
  assert.equal(streamed.counts.bytesWritten, whole.counts.bytesWritten);
  const { id } = await apply(streamed, NO_METARANGE, changes(0, 20_000));
  assert.equal(
    streamed.counts.tablesWritten,
    whole.counts.tablesWritten,
    "what is there is not written again",
  );
  assert.equal(await new Metarange(whole, id).isOurs(), true);
});

test("a range that fails to be written leaves nothing behind", async (t) => {
  const { root, store } = open(t);
  const files = new TableFiles(store, { sides: OPTIONS });
  const { id, newRanges } = await apply(files, NO_METARANGE, changes(0, KEYS));
  const before = readdirSync(join(root, "_lakefs")).sort();
  assert.deepEqual(before, [id, ...newRanges].sort());

  async function* broken(): AsyncGenerator<Change[]> {
    yield changes(1, KEYS, 100).slice(0, 400);
    throw new RangeError("no more");
  }
  await assert.rejects(applyChanges(files, new Metarange(files, id), broken(), OPTIONS), RangeError);
  assert.deepEqual(readdirSync(join(root, "_lakefs")).sort(), before);

  const full = beginning(store, (object) => ({
    ...object,
    add: () => Promise.reject(new RangeError("full")),
    name: () => Promise.reject(new RangeError("full")),
  }));
  await assert.rejects(
    apply(new TableFiles(full, { sides: OPTIONS }), id, changes(2, KEYS, 100)),
    RangeError,
  );
  assert.deepEqual(readdirSync(join(root, "_lakefs")).sort(), before);
});

type Begun = ReturnType<NonNullable<ObjectStore["begin"]>>;

/** Returns a store whose unnamed objects are what `wrap` makes of them. */
function beginning(inner: ObjectStore, wrap: (object: Begun) => Begun): ObjectStore {
  return {
    locate: (key) => inner.locate(key),
    head: (key) => inner.head(key),
    pages: (options) => inner.pages(options),
    get: (key, options) => inner.get(key, options),
    read: (...part) => inner.read(...part),
    put: (key, body, options) => inner.put(key, body, options),
    putMany: (objects) => inner.putMany(objects),
    flush: (keys) => inner.flush(keys),
    delete: (key) => inner.delete(key),
    begin(folder) {
      const object = inner.begin?.(folder);
      return wrap({
        add: (piece) => object!.add(piece),
        name: (key, mode) => object!.name(key, mode),
        read: (...part) => object!.read(...part),
        abandon: () => object!.abandon(),
      });
    },
  };
}

function open(t: TestContext) {
  const root = join(temporaryFolder(t), "root");
  return { root, store: openFileObjectStore({ root, address: "local://name" }) };
}

function apply(files: TableFiles, base: string, all: readonly Change[]) {
  async function* inBlocks() {
    for (let at = 0; at < all.length; at += 100) yield all.slice(at, at + 100);
  }
  return applyChanges(files, new Metarange(files, base), inBlocks(), OPTIONS);
}

/** Returns a record for each `step`-th of so many keys. */
function changes(version: number, count: number, step = 1): Change[] {
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => {
    const number = Math.imul(i * step + 1, 0x9e3779b1) >>> 0;
    const record = entryRecord(utf8(`folder/${String(i * step).padStart(8, "0")}`), {
      address: `data/${version}/${number.toString(36)}/${Math.imul(number, number) >>> 0}`,
      addressType: 1,
      lastModified: { seconds: version, nanos: 0 },
      sizeBytes: number,
      etag: `${number.toString(16)}${(Math.imul(number, 31) >>> 0).toString(16)}${version}`,
      metadata: { noise: (Math.imul(number, 0x85ebca6b) >>> 0).toString(36).repeat(8) },
      contentType: "application/octet-stream",
    });
    return { key: record.key, record };
  });
}
