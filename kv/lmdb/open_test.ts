import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { KvStore } from "../store.ts";
import { kvError } from "./errors.ts";
import { type LmdbOptions, openLmdb } from "./mod.ts";

const P = utf8("partition");
const K = utf8("key");

async function open(t: TestContext, folder: string, options?: LmdbOptions): Promise<KvStore> {
  const store = await openLmdb(folder, options);
  t.after(() => store.close());
  return store;
}

test("what was stored is there when the store is opened again", async (t) => {
  const folder = temporaryFolder(t);
  const first = await openLmdb(folder);
  await first.set(P, K, utf8("value"));
  await first.close();
  const second = await open(t, folder);
  assert.deepEqual((await second.get(P, K))?.value, utf8("value"));
});

test("the folder is made private, with private files", async (t) => {
  const folder = join(temporaryFolder(t), "home", "kv");
  await open(t, folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(folder).sort(), ["data.mdb", "lock.mdb", "writer.lock"]);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test("a folder whose name looks like a file name is a folder", async (t) => {
  const folder = join(temporaryFolder(t), "kv.mdb");
  await open(t, folder);
  assert.ok(existsSync(join(folder, "data.mdb")));
});

test("two stores on one folder see each other's writes at once", async (t) => {
  const folder = temporaryFolder(t);
  const one = await open(t, folder), other = await open(t, folder);
  for (let i = 0; i < 20; i++) {
    await one.set(P, K, utf8(`${i}`));
    assert.deepEqual((await other.get(P, K))?.value, utf8(`${i}`));
  }
  const { predicate } = (await one.get(P, K))!;
  await other.set(P, K, utf8("meanwhile"));
  await assert.rejects(one.setIf(P, K, utf8("late"), predicate), { code: "predicate_failed" });
  await one.close();
  await other.set(P, K, utf8("after the other has closed"));
});

test("a store opened for reading sees later writes and refuses its own", async (t) => {
  const folder = temporaryFolder(t);
  const writer = await open(t, folder);
  const reader = await open(t, folder, { readOnly: true });
  await writer.set(P, K, utf8("value"));
  assert.deepEqual((await reader.get(P, K))?.value, utf8("value"));
  await assert.rejects(reader.set(P, K, K), { code: "kv_read_only", kind: "forbidden" });
  await assert.rejects(reader.deleteMany(P, [K]), { code: "kv_read_only" });
});

test("opening for reading makes nothing", async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(openLmdb(join(folder, "kv"), { readOnly: true }), {
    code: "kv_missing",
    kind: "not_found",
  });
  assert.deepEqual(readdirSync(folder), []);
});

test("a store within a folder that is gone is not made", async (t) => {
  const home = join(temporaryFolder(t), "home"), folder = join(home, "kv");
  await assert.rejects(openLmdb(folder, { within: home }), { code: "kv_unavailable" });
  assert.ok(!existsSync(home));
  mkdirSync(home);
  await (await openLmdb(folder, { within: home })).close();
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test("a closed store refuses, may be closed twice, and has written what it was given", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  const writing = store.set(P, K, utf8("value"));
  await store.close();
  await writing;
  await store.close();
  await assert.rejects(store.get(P, K), { code: "kv_closed" });
  await assert.rejects(store.set(P, K, K), { code: "kv_closed" });
  await assert.rejects(store.scan(P)[Symbol.asyncIterator]().next(), { code: "kv_closed" });
  assert.deepEqual((await (await open(t, folder)).get(P, K))?.value, utf8("value"));
});

test("a file that is no database, or one of another version, is refused and left as it is", async (t) => {
  const source = temporaryFolder(t);
  await (await openLmdb(source)).close();
  const newer = readFileSync(join(source, "data.mdb"));
  newer[28] = newer[4096 + 28] = 99;
  for (const content of [Buffer.alloc(20_000, "garbage"), Buffer.alloc(20_000), newer]) {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, "data.mdb"), content);
    await assert.rejects(openLmdb(folder), { code: "kv_corrupt", kind: "corrupt" });
    assert.ok(readFileSync(join(folder, "data.mdb")).equals(content));
  }
});

test("a database with the wrong page in the place of a right one is refused when that is read", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  await store.setMany(
    P,
    Array.from({ length: 2000 }, (_, i) => ({ key: utf8(`${i}`), value: utf8(`value ${i}`) })),
  );
  await store.close();
  const file = readFileSync(join(folder, "data.mdb"));
  file.fill(0, 2 * 4096);
  writeFileSync(join(folder, "data.mdb"), file);
  const damaged = await open(t, folder);
  await assert.rejects(damaged.get(P, utf8("5")), { code: "kv_corrupt", kind: "corrupt" });
});

test("a place that is no folder is refused", async (t) => {
  const file = join(temporaryFolder(t), "file");
  writeFileSync(file, "text");
  await assert.rejects(openLmdb(file), { code: "kv_no_folder", kind: "invalid" });
  await assert.rejects(openLmdb(join(file, "kv")), { code: "kv_no_folder", kind: "invalid" });
});

test("no snapshot stays open between calls or pages, so that overwriting does not make the file grow", async (t) => {
  const folder = temporaryFolder(t);
  const store = await open(t, folder);
  const entries = Array.from(
    { length: 50 },
    (_, i) => ({ key: Uint8Array.of(i), value: new Uint8Array(4000) }),
  );
  await store.setMany(P, entries);
  const pages = store.scan(P, { pageSize: 10 })[Symbol.asyncIterator]();
  await pages.next();
  await store.get(P, K);
  for (let i = 0; i < 60; i++) await store.setMany(P, entries);
  await pages.next();
  // Sixty rounds take 12 MB if a snapshot pins their pages.
  assert.ok(statSync(join(folder, "data.mdb")).size < 2_000_000);
});

test("a database that is another user's is refused", async (t) => {
  const folder = temporaryFolder(t);
  await (await openLmdb(folder)).close();
  await asAnyoneElse(folder, async () => {
    await assert.rejects(openLmdb(folder), { code: "kv_forbidden", kind: "forbidden" });
  });
});

/** Runs `body` without the right to open the folder's files; the superuser has to become somebody else for that. */
async function asAnyoneElse(folder: string, body: () => Promise<void>): Promise<void> {
  if (process.geteuid!() !== 0) {
    chmodSync(join(folder, "data.mdb"), 0);
    return await body();
  }
  chmodSync(folder, 0o755);
  process.seteuid!(65534);
  try {
    await body();
  } finally {
    process.seteuid!(0);
  }
}

test("errors of LMDB and the system become ours by their number, and keep the cause", () => {
  const table: [number | string | undefined, string, string][] = [
    [-30792, "kv_full", "unavailable"],
    [-30790, "kv_readers_full", "unavailable"],
    [-30796, "kv_corrupt", "corrupt"],
    [-30797, "kv_corrupt", "corrupt"],
    [-30793, "kv_corrupt", "corrupt"],
    [-30794, "kv_corrupt", "corrupt"],
    [-30795, "kv_unavailable", "unavailable"],
    [28, "kv_full", "unavailable"],
    ["ENOSPC", "kv_full", "unavailable"],
    [13, "kv_forbidden", "forbidden"],
    ["EACCES", "kv_forbidden", "forbidden"],
    [30, "kv_read_only", "forbidden"],
    [5, "kv_unavailable", "unavailable"],
    [undefined, "internal", "internal"],
  ];
  for (const [code, ours, kind] of table) {
    const cause = Object.assign(new Error("text"), code === undefined ? {} : { code });
    const error = kvError("Cannot write to the key-value store", cause);
    assert.deepEqual([error.code, error.kind, error.cause], [ours, kind, cause]);
    assert.ok(error.message.startsWith("Cannot write to the key-value store: "));
  }
});
