/**
 * Relaxed writes are answered when they are in the journal, and taken into the database later. What must not happen: that one
 * which was answered is missing, or shows over what was written after it.
 *
 * The obvious ways are planted by hand, with the parts of which the driver is made, or with LMDB itself.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { crc32 } from "../../base/platform.ts";
import { encodeKey } from "../../kv/lmdb/keys.ts";
import { JournalFile } from "../../kv/lmdb/journal_file.ts";
import {
  END_AT,
  HEADER_BYTES,
  makeEnd,
  makeHeader,
  makeRecord,
  parseHeader,
  readRecords,
  sealRecord,
} from "../../kv/lmdb/journal_format.ts";
import { openLmdb } from "../../kv/lmdb/mod.ts";
import { readMeta } from "../../kv/lmdb/meta_pages.ts";
import { byteCodec } from "../../kv/lmdb/codec.ts";
import type { KvStore, ListedKvStore } from "../../kv/store.ts";
import { type Ending, temporaryFolder } from "../support/temporary.ts";

const P = utf8("partition");
const RELAXED = { relaxed: true };
const SALT = new Uint8Array(8);

/** A store with a journal, in which "a" is 1, written relaxed; nothing is taken in by time. */
async function withRelaxedWrite(
  t: Ending,
): Promise<{ folder: string; store: ListedKvStore; open: () => Promise<ListedKvStore> }> {
  const folder = temporaryFolder(t);
  const open = async () => {
    const store = await openLmdb(folder, { relaxedForMs: 2 ** 30 });
    t.after(() => store.close());
    return store;
  };
  const store = await open();
  await put(store, "begin", "", RELAXED);
  await put(store, "a", "1", RELAXED);
  assert.equal(await textOf(await open(), "a"), "1");
  return { folder, store, open };
}

async function put(store: KvStore, key: string, value: string, options = {}): Promise<void> {
  await store.setMany(P, [{ key: utf8(key), value: utf8(value) }], options);
}

async function textOf(store: KvStore, key: string): Promise<string | undefined> {
  const found = await store.get(P, utf8(key));
  return found && new TextDecoder().decode(found.value);
}

function recordOf(key: string, value: string): Uint8Array {
  return makeRecord([{ key: encodeKey(P, utf8(key)), value: utf8(value) }]);
}

test("planted: a transaction that takes nothing in leaves a write behind that was answered", async (t) => {
  const { folder, open } = await withRelaxedWrite(t);
  const lmdb = await import("lmdb");
  const database = lmdb.open(
    folder,
    { noSubdir: false, overlappingSync: false, maxDbs: 1, ...byteCodec() } as object,
  );
  database.transactionSync(() => {
    // Whatever it writes.
    const mark = Uint8Array.of(0, 0x74, 0x61, 0x72, 0x6e);
    database.put(mark, (database.get(mark) as Uint8Array).slice());
  });
  await database.close();
  assert.equal(await textOf(await open(), "a"), undefined);
});

test("every write of the store takes in what was relaxed before it", async (t) => {
  const writes: ((store: KvStore) => Promise<unknown>)[] = [
    (store) => store.set(P, utf8("b"), P),
    (store) => put(store, "b", "2"),
    (store) => store.setIf(P, utf8("b"), P, undefined),
    (store) => store.delete(P, utf8("b")),
    (store) => store.deleteMany(P, [utf8("b")]),
    // One that is refused, too.
    (store) => store.setIf(P, utf8("begin"), P, undefined).catch(() => {}),
  ];
  for (const write of writes) {
    const { folder, open } = await withRelaxedWrite(t);
    await write(await open());
    fs.rmSync(join(folder, "journal"));
    assert.equal(await textOf(await open(), "a"), "1", String(write));
  }
});

test("planted: records laid over whatever the database holds bring back what was written over", async (t) => {
  const { folder, store } = await withRelaxedWrite(t);
  await put(store, "a", "2");
  const journal = new Uint8Array(fs.readFileSync(join(folder, "journal")));
  const laidOver = new Map<string, string>();
  readRecords(journal.subarray(HEADER_BYTES), parseHeader(journal)!.sum, (key, value) => {
    laidOver.set(new TextDecoder().decode(key.subarray(1 + P.length)), new TextDecoder().decode(value));
  });
  assert.equal(laidOver.get("a"), "1", "over the 2 that was written after it");
});

test("records are laid over the state that they were written over, and no other", async (t) => {
  const { store, open } = await withRelaxedWrite(t);
  const early = await open();
  assert.equal(await textOf(early, "a"), "1");
  await put(await open(), "a", "2");
  for (const reader of [early, store, await open()]) assert.equal(await textOf(reader, "a"), "2");
  await store.delete(P, utf8("a"));
  for (const reader of [early, store, await open()]) assert.equal(await textOf(reader, "a"), undefined);
});

test("planted: a journal that is emptied before the transaction has been committed is lost with the process", async (t) => {
  const { folder, open } = await withRelaxedWrite(t);
  const next = { transaction: transactionOf(folder), fingerprint: 0 };
  // And here the process is killed: the transaction that took all in is never committed.
  writeAt(folder, makeHeader({ ...next, transaction: next.transaction - 1 }, SALT), 0);
  assert.equal(await textOf(await open(), "a"), undefined);
});

function transactionOf(folder: string): number {
  const handle = fs.openSync(join(folder, "data.mdb"), "r");
  try {
    return readMeta(handle).transaction;
  } finally {
    fs.closeSync(handle);
  }
}

function writeAt(folder: string, bytes: Uint8Array, at: number): void {
  const handle = fs.openSync(join(folder, "journal"), "r+");
  fs.writeSync(handle, bytes, 0, bytes.length, at);
  fs.closeSync(handle);
}

test("a transaction leaves the journal as it is, and makes it void by being committed", async (t) => {
  const { folder, store, open } = await withRelaxedWrite(t);
  const before = fs.readFileSync(join(folder, "journal"));
  await put(store, "b", "2");
  assert.ok(fs.readFileSync(join(folder, "journal")).equals(before));
  assert.ok(parseHeader(before)!.transaction < transactionOf(folder));
  assert.equal(await textOf(await open(), "a"), "1");
});

/** Opens a journal twice, as two processes do, each of which has looked at it. */
function openTwice(
  t: Ending,
  folder: string,
): { path: string; state: { transaction: number; fingerprint: number }; files: JournalFile[] } {
  const path = join(folder, "journal");
  const state = parseHeader(new Uint8Array(fs.readFileSync(path)))!;
  const files = [new JournalFile(path, true), new JournalFile(path, true)];
  t.after(() => files.forEach((file) => file.close()));
  for (const file of files) file.over(state);
  return { path, state, files };
}

test("planted: of two that add without the lock, each where it last saw the end, one writes over the other", async (t) => {
  const { folder, open } = await withRelaxedWrite(t);
  const { path, state, files } = openTwice(t, folder);
  for (const [i, file] of files.entries()) {
    assert.ok(file.append(state, recordOf(`added ${i}`, "x"), { path, salt: () => SALT }));
  }
  const store = await open();
  assert.deepEqual([await textOf(store, "added 0"), await textOf(store, "added 1")], [undefined, "x"]);
});

test("who adds looks where the end is now", async (t) => {
  const { folder, open } = await withRelaxedWrite(t);
  const { path, state, files } = openTwice(t, folder);
  for (const [i, file] of files.entries()) {
    // Under the lock it stays what was seen.
    file.over(state);
    assert.ok(file.append(state, recordOf(`added ${i}`, "x"), { path, salt: () => SALT }));
  }
  const stores = [await open(), await open()];
  for (let i = 0; i < 40; i++) await put(stores[i % 2]!, `more ${i}`, "y", RELAXED);
  const reader = await open();
  assert.deepEqual([await textOf(reader, "added 0"), await textOf(reader, "added 1")], ["x", "x"]);
  for (let i = 0; i < 40; i++) assert.equal(await textOf(reader, `more ${i}`), "y");
});

test("planted: an end that is written before its record hides those that come after a kill in between", async (t) => {
  const { folder } = await withRelaxedWrite(t);
  const { path, state, files: [file] } = openTwice(t, folder);
  const size = fs.statSync(path).size;
  const { sum } = parseHeader(new Uint8Array(fs.readFileSync(path)))!;
  const unwritten = recordOf("unwritten", "x").length;
  writeAt(folder, makeEnd(size + unwritten, sum), END_AT);
  // The next process adds where the end is, as the header says.
  const next = recordOf("b", "2");
  sealRecord(next, 0);
  writeAt(folder, next, size + unwritten);
  writeAt(folder, makeEnd(size + unwritten + next.length, sum), END_AT);
  assert.equal(valueIn(file!, state, "b"), undefined);
});

test("what is no record is never in the way of one that is added", async (t) => {
  const { folder, open } = await withRelaxedWrite(t);
  const size = fs.statSync(join(folder, "journal")).size;
  // A writer that was killed, before the end was written; then one that power loss has left, with the end there.
  writeAt(folder, recordOf("half", "x"), size);
  const other = await open();
  await put(other, "b", "2", RELAXED);
  const end = fs.statSync(join(folder, "journal")).size;
  writeAt(
    folder,
    makeEnd(end + 100, parseHeader(new Uint8Array(fs.readFileSync(join(folder, "journal"))))!.sum),
    END_AT,
  );
  await put(await open(), "c", "3", RELAXED);
  await put(await open(), "d", "4", RELAXED);
  const reader = await open();
  for (const [key, value] of ["a1", "b2", "c3", "d4"]) assert.equal(await textOf(reader, key!), value);
  assert.equal(await textOf(reader, "half"), undefined);
});

function valueIn(file: JournalFile, state: { transaction: number; fingerprint: number }, key: string) {
  const newer = file.over(state);
  return typeof newer === "object" ? newer.get(encodeKey(P, utf8(key))) : undefined;
}

test("planted: sums of records alone take what an earlier use has left for records", async (t) => {
  const folder = temporaryFolder(t);
  const [a, b, c] = [recordOf("a", "1"), recordOf("b", "2"), recordOf("c", "3")];
  const plain = (record: Uint8Array) => {
    new DataView(record.buffer).setUint32(0, crc32(record.subarray(4)), true);
    return record;
  };
  const readPlain = (bytes: Uint8Array): number => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let count = 0;
    for (let at = 0; at + 8 <= bytes.length; count++) {
      const end = at + 8 + view.getUint32(at + 4, true);
      if (end > bytes.length || view.getUint32(at, true) !== crc32(bytes.subarray(at + 4, end))) break;
      at = end;
    }
    return count;
  };
  // The journal was begun anew, and of its two records power loss took the second; the first use had three, as long as these.
  const left = [plain(recordOf("a", "9")), plain(b), plain(c)];
  assert.equal(readPlain(joined(left)), 3, "two of them were written over long ago");
  const path = join(folder, "journal");
  const first = makeHeader({ transaction: 5, fingerprint: 1 }, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0));
  const second = makeHeader({ transaction: 6, fingerprint: 1 }, Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0));
  let sum = parseHeader(first)!.sum;
  for (const record of [a, b, c]) sum = sealRecord(record, sum);
  const anew = recordOf("a", "9");
  sealRecord(anew, parseHeader(second)!.sum);
  second.set(makeEnd(HEADER_BYTES + a.length + b.length + c.length, parseHeader(second)!.sum), END_AT);
  fs.writeFileSync(path, joined([second, anew, b, c]));
  const file = new JournalFile(path, true);
  t.after(() => file.close());
  const state = { transaction: 6, fingerprint: 1 };
  assert.deepEqual(["a", "b", "c"].map((key) => valueIn(file, state, key)?.length), [
    1,
    undefined,
    undefined,
  ]);
});

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
