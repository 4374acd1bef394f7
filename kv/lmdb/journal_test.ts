import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { hex, utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { copyKv } from "../copy.ts";
import { openMemoryKv } from "../memory/mod.ts";
import type { KvStore, ListedKvStore } from "../store.ts";
import { DatabaseFile } from "./database_file.ts";
import { Journal } from "./journal.ts";
import { MAX_JOURNAL_BYTES } from "./journal_format.ts";
import { JournalWriter } from "./journal_writer.ts";
import { encodeKey } from "./keys.ts";
import { checkDatabase, type LmdbOptions, openLmdb } from "./mod.ts";
import { PageReader } from "./page_reader.ts";

const P = utf8("partition"), K = utf8("key");
const RELAXED = { relaxed: true };
/** So that a test is over before anything is taken into the database by time. */
const NEVER = 2 ** 30;

/** A store with a journal in use, in which nothing is yet. */
async function openJournaled(
  t: TestContext,
  options: LmdbOptions = {},
): Promise<
  { folder: string; store: ListedKvStore; open: (options?: LmdbOptions) => Promise<ListedKvStore> }
> {
  const folder = temporaryFolder(t);
  const open = async (more?: LmdbOptions) => {
    const store = await openLmdb(folder, { relaxedForMs: NEVER, ...options, ...more });
    t.after(() => store.close());
    return store;
  };
  const store = await open();
  await put(store, "begin", "");
  return { folder, store, open };
}

async function put(store: KvStore, key: string, value: string, options = RELAXED): Promise<void> {
  await store.setMany(P, [{ key: utf8(key), value: utf8(value) }], options);
}

async function textOf(store: KvStore, key: string): Promise<string | undefined> {
  const found = await store.get(P, utf8(key));
  return found && new TextDecoder().decode(found.value);
}

async function keysOf(store: KvStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.scan(P)) keys.push(...page.map(({ key }) => new TextDecoder().decode(key)));
  return keys;
}

function databaseOf(folder: string): string {
  return hex(fs.readFileSync(join(folder, "data.mdb")));
}

test("a relaxed write goes to the journal alone, and is seen by all, whoever opened the store when", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  const before = await open();
  assert.equal(await textOf(before, "a"), undefined);
  const database = databaseOf(folder);
  await put(store, "a", "1");
  await put(store, "b", "2");
  assert.equal(databaseOf(folder), database, "the database is as it was");
  for (const reader of [store, before, await open(), await open({ readOnly: true })]) {
    assert.deepEqual([await textOf(reader, "a"), await textOf(reader, "b")], ["1", "2"]);
    assert.deepEqual(await keysOf(reader), ["a", "b", "begin"]);
  }
});

test("a strict write takes in what is in the journal, and both are in order", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  const other = await open();
  await put(store, "a", "1");
  await put(other, "a", "2", { relaxed: false });
  assert.equal(await textOf(store, "a"), "2");
  await put(store, "a", "3");
  await other.delete(P, utf8("a"));
  await put(store, "b", "4");
  fs.rmSync(join(folder, "journal"));
  // Who comes now sees what is in the database.
  const late = await open();
  assert.deepEqual(await keysOf(late), ["begin"]);
});

test("a compare-and-set sees what is in the journal", async (t) => {
  const { store, open } = await openJournaled(t);
  const other = await open();
  await put(store, "a", "1");
  const seen = await other.get(P, utf8("a"));
  await put(store, "a", "2");
  await assert.rejects(other.setIf(P, utf8("a"), K, seen!.predicate), { code: "predicate_failed" });
  await assert.rejects(other.setIf(P, utf8("a"), K, undefined), { code: "predicate_failed" });
  await other.setIf(P, utf8("a"), utf8("3"), (await other.get(P, utf8("a")))!.predicate);
  assert.equal(await textOf(store, "a"), "3");
});

test("what is in the journal is taken in when its time has come", async (t) => {
  const { folder, store } = await openJournaled(t, { relaxedForMs: 30 });
  const database = databaseOf(folder);
  await put(store, "a", "1");
  for (let i = 0; databaseOf(folder) === database; i++) {
    assert.ok(i < 500);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { journal, entries } = await checkDatabase(folder);
  assert.deepEqual([journal, entries], [{ entries: 0, tornBytes: 0 }, 3]);
});

test("closing takes in the rest, takes the journal away, and leaves a database that earlier versions use", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  const other = await open();
  await put(store, "a", "1");
  assert.equal(versionOf(folder), 3);
  await store.close();
  assert.deepEqual(fs.readdirSync(folder).sort(), ["data.mdb", "lock.mdb", "writer.lock"]);
  assert.equal(versionOf(folder), 2);
  assert.equal((await checkDatabase(folder)).journal, undefined);
  assert.equal(await textOf(other, "a"), "1");
  // It goes on where it was used by another one, too.
  await put(other, "b", "2");
  await put(other, "c", "3");
  assert.deepEqual(await keysOf(await open()), ["a", "b", "begin", "c"]);
  assert.ok(fs.existsSync(join(folder, "journal")));
});

/** Returns the version in the mark: the newest copy of a page is the last one. */
function versionOf(folder: string): number {
  const file = fs.readFileSync(join(folder, "data.mdb"));
  const meta = [0, 4096].map((at) => file.readBigUInt64LE(at + 152));
  const root = file.readBigUInt64LE((meta[0]! > meta[1]! ? 0 : 4096) + 136);
  const page = file.subarray(Number(root) * 4096, Number(root + 1n) * 4096);
  const mark = page.indexOf(Uint8Array.of(5, 0, 0, 0x74, 0x61, 0x72, 0x6e));
  assert.ok(mark > 0);
  return page[mark + 7]!;
}

test("a store that only reads closes without a trace, and so does one that wrote nothing relaxed", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  await put(store, "a", "1");
  for (const options of [{}, { readOnly: true }]) {
    const reader = await open(options);
    assert.equal(await textOf(reader, "a"), "1");
    await reader.close();
  }
  const strict = await open();
  await put(strict, "b", "2", { relaxed: false });
  await strict.close();
  assert.ok(fs.existsSync(join(folder, "journal")), "others use it");
  await put(store, "c", "3");
  assert.deepEqual(await keysOf(await open()), ["a", "b", "begin", "c"]);
});

test("where two processes find no journal, one makes it, and the other one adds to that", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder, { relaxedForMs: NEVER });
  t.after(() => store.close());
  const database = join(folder, "data.mdb");
  const journal = new Journal(folder, true), reader = new PageReader(database, { journal });
  t.after(() => reader.close());
  const other = new JournalWriter({ journal, reader, file: new DatabaseFile(database, reader.handle) });
  assert.equal(other.write((records) => records.put(encodeKey(P, K), K), false), "refused");
  // Before its transaction begins.
  await put(store, "begin", "");
  await put(store, "a", "1");
  const made = fs.statSync(join(folder, "journal")).ino;
  const puts: string[] = [];
  other.takeIn({ get: () => undefined, put: (key) => puts.push(hex(key)) });
  assert.deepEqual(puts, [hex(encodeKey(P, utf8("a")))]);
  assert.equal(fs.statSync(join(folder, "journal")).ino, made);
});

test("what was taken away, or moved with its folder, is written to no more", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  await put(store, "a", "1");
  fs.rmSync(join(folder, "journal"));
  // It is taken into the database, with what the lost journal held.
  await put(store, "b", "2");
  assert.deepEqual(await keysOf(await open()), ["a", "b", "begin"]);
  await put(store, "c", "3");
  assert.deepEqual(await keysOf(await open()), ["a", "b", "begin", "c"]);
  fs.renameSync(folder, `${folder} moved`);
  for (let i = 0; i < 2; i++) await assert.rejects(put(store, "d", "4"), { code: "kv_moved" });
  const there = await openLmdb(`${folder} moved`, { readOnly: true });
  t.after(() => there.close());
  assert.deepEqual(await keysOf(there), ["a", "b", "begin", "c"]);
  fs.renameSync(`${folder} moved`, folder);
});

test("what could not be taken in is tried again, and relaxed writes are refused meanwhile", async (t) => {
  const { folder, store, open } = await openJournaled(t, { relaxedForMs: 20 });
  await put(store, "a", "1");
  fs.renameSync(folder, `${folder} moved`);
  await new Promise((resolve) => setTimeout(resolve, 60));
  await assert.rejects(put(store, "b", "2"), { code: "kv_moved" });
  fs.renameSync(`${folder} moved`, folder);
  for (let i = 0; (await checkDatabase(folder)).entries < 3; i++) {
    assert.ok(i < 500);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await put(store, "c", "3");
  assert.deepEqual(await keysOf(await open()), ["a", "begin", "c"]);
});

test("where no journal can be made relaxed writes are strict", async (t) => {
  const folder = temporaryFolder(t);
  fs.mkdirSync(join(folder, "journal", "in the way"), { recursive: true });
  const store = await openLmdb(folder);
  for (let i = 0; i < 3; i++) await put(store, `${i}`, "value");
  await store.set(P, K, K);
  await store.close();
  fs.rmSync(join(folder, "journal"), { recursive: true });
  assert.deepEqual(fs.readdirSync(folder).sort(), ["data.mdb", "lock.mdb", "writer.lock"]);
  const reader = await openLmdb(folder, { readOnly: true });
  assert.deepEqual(await keysOf(reader), ["0", "1", "2", "key"]);
  await reader.close();
});

test("a full journal is taken in, and writes that are too large for it are strict", async (t) => {
  const { folder, store } = await openJournaled(t);
  const value = new Uint8Array(200_000).fill(7);
  for (let i = 0; i < 60; i++) await store.setMany(P, [{ key: utf8(`big ${i}`), value }], RELAXED);
  assert.ok(fs.statSync(join(folder, "journal")).size <= MAX_JOURNAL_BYTES);
  assert.equal((await keysOf(store)).length, 61);
  const database = databaseOf(folder);
  const many = Array.from({ length: 8 }, (_, i) => ({ key: utf8(`many ${i}`), value }));
  await store.setMany(P, many, RELAXED);
  assert.notEqual(databaseOf(folder), database);
  assert.equal((await keysOf(store)).length, 69);
});

test("partitions, copies and the whole check know what is in the journal", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  for (const name of ["z", "a", "n"]) await store.setMany(utf8(name), [{ key: K, value: K }], RELAXED);
  const names: string[] = [];
  for await (const partition of (await open()).partitions()) names.push(new TextDecoder().decode(partition));
  assert.deepEqual(
    names,
    ["a", "n", "partition", "z"].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)),
  );
  assert.deepEqual((await checkDatabase(folder)).journal, { entries: 3, tornBytes: 0 });
  const copy = openMemoryKv();
  assert.equal((await copyKv(await open({ readOnly: true }), copy)).entries, 4);
});

test("a relaxed write among strict ones of the same turn keeps its place", async (t) => {
  const { store } = await openJournaled(t);
  await Promise.all([
    put(store, "a", "1"),
    put(store, "a", "2", { relaxed: false }),
    put(store, "a", "3"),
    store.delete(P, utf8("b")),
    put(store, "b", "4"),
  ]);
  assert.deepEqual([await textOf(store, "a"), await textOf(store, "b")], ["3", "4"]);
});

test("pages of a scan are whole, in order and no larger than asked, wherever the newer entries lie", async (t) => {
  const { store } = await openJournaled(t);
  const name = (i: number) => `k${String(i).padStart(3, "0")}`;
  for (let i = 0; i < 100; i += 3) await put(store, name(i), "old", { relaxed: false });
  for (let i = 0; i < 100; i += 2) await put(store, name(i), "new");
  const expected = Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 2 === 0 || i % 3 === 0);
  for (const pageSize of [1, 2, 3, 7, 16, 33, 34, 50, 66, 67, 68, 1000]) {
    const seen: string[] = [];
    for await (const page of store.scan(P, { pageSize, prefix: utf8("k") })) {
      assert.ok(page.length > 0 && page.length <= pageSize);
      seen.push(
        ...page.map(({ key, value }) => new TextDecoder().decode(key) + new TextDecoder().decode(value)),
      );
    }
    assert.deepEqual(seen, expected.map((i) => name(i) + (i % 2 === 0 ? "new" : "old")));
  }
});

test("on a network file system relaxed writes are strict, and what a journal holds is read", async (t) => {
  const { folder, store, open } = await openJournaled(t);
  await put(store, "a", "1");
  const far = await open({ allowNetwork: true });
  assert.equal(await textOf(far, "a"), "1");
  await put(far, "b", "2");
  assert.deepEqual((await checkDatabase(folder)).journal, { entries: 0, tornBytes: 0 });
  assert.equal(await textOf(store, "b"), "2");
});
