import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { EMPTY_BYTES, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { byteCodec } from "./codec.ts";
import { MARK_KEY } from "./format.ts";
import { encodeKey } from "./keys.ts";
import { openLmdb } from "./mod.ts";
import { seal } from "./seal.ts";
import { loadLmdb } from "./vendor.ts";
import { checkDatabase } from "./whole_check.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/upgrade.ts", import.meta.url));
const P = utf8("partition");

/** Writes entries as they are, as versions without seals did. */
async function writePlain(
  folder: string,
  entries: readonly (readonly [Uint8Array, Uint8Array])[],
): Promise<void> {
  const lmdb = await loadLmdb(undefined);
  const database = lmdb.open(folder, {
    noSubdir: false,
    overlappingSync: false,
    maxDbs: 1,
    ...byteCodec(),
  });
  database.transactionSync(() => {
    for (const [key, value] of entries) database.put(key, value);
  });
  await database.close();
}

function valueOf(i: number): Uint8Array {
  return i === 5 ? EMPTY_BYTES : new Uint8Array(i % 100 === 99 ? 9000 : 40).fill(i);
}

async function makeOld(folder: string, count: number): Promise<void> {
  await writePlain(
    folder,
    Array.from({ length: count }, (_, i) => [encodeKey(P, utf8(`key ${i}`)), valueOf(i)] as const),
  );
}

async function assertHolds(folder: string, count: number): Promise<void> {
  const store = await openLmdb(folder, { readOnly: true });
  for (let i = 0; i < count; i++) {
    assert.deepEqual((await store.get(P, utf8(`key ${i}`)))?.value, valueOf(i));
  }
  assert.equal(await store.get(P, utf8("key")), undefined);
  let found = 0;
  for await (const page of store.scan(P)) found += page.length;
  assert.equal(found, count);
  await store.close();
}

test("an older database is read as it is, and the first write seals all of it", async (t) => {
  const folder = temporaryFolder(t);
  await makeOld(folder, 3000);
  const before = readFileSync(join(folder, "data.mdb"));
  await assertHolds(folder, 3000);
  assert.ok(readFileSync(join(folder, "data.mdb")).equals(before), "reading changes nothing");
  assert.equal((await checkDatabase(folder)).isSealed, false);
  let called = 0;
  const reader = await openLmdb(folder);
  assert.equal((await reader.get(P, utf8("key 5")))?.value.length, 0);
  const store = await openLmdb(folder, { beforeWriting: () => called++ });
  await store.set(utf8("new"), utf8("key"), utf8("value"));
  await store.set(utf8("new"), utf8("key"), utf8("value"));
  await store.close();
  assert.equal(called, 1);
  assert.deepEqual((await reader.get(P, utf8("key 7")))?.value, valueOf(7), "one that was open goes on");
  await reader.set(utf8("new"), utf8("other"), utf8("value"));
  await reader.close();
  assert.deepEqual(await checkDatabase(folder).then(({ entries, isSealed }) => [entries, isSealed]), [
    3003,
    true,
  ]);
  await assertHolds(folder, 3000);
});

test("a process that is killed while it seals leaves the database sealed whole, or as it was", async (t) => {
  const folder = temporaryFolder(t);
  await makeOld(join(folder, "old"), 5000);
  const chance = seededRandomness(7);
  let old = 0, sealed = 0;
  for (let run = 0; run < 10; run++) {
    const place = join(folder, `${run}`);
    cpSync(join(folder, "old"), place, { recursive: true });
    const isAnswered = await killedWhileSealing(place, run === 0 ? 0 : chance.fraction() * 500);
    const { isSealed } = await checkDatabase(place);
    if (isAnswered) assert.ok(isSealed);
    if (isSealed) sealed++;
    else old++;
    await assertHolds(place, 5000);
    assert.equal(spawnSync(process.execPath, [PROGRAM, place, "go"], { encoding: "utf8" }).status, 0);
    assert.equal((await checkDatabase(place)).isSealed, true);
    await assertHolds(place, 5000);
  }
  t.diagnostic(`killed ${old} times before it had landed, ${sealed} times after`);
  assert.ok(old > 0);
});

/** Kills the process some time after it has begun; `true` if its write was answered before. */
async function killedWhileSealing(folder: string, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, folder, "go"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    if (text === "") setTimeout(() => child.kill("SIGKILL"), afterMs);
    text += piece;
  });
  await new Promise((resolve) => child.on("close", resolve));
  assert.match(text, /^begins\n/);
  return text.includes("answered");
}

test("one that ends after the home was marked and before anything was sealed leaves all as it was", async (t) => {
  const folder = temporaryFolder(t);
  await makeOld(folder, 100);
  const { signal, stdout } = spawnSync(process.execPath, [PROGRAM, folder, "die"], { encoding: "utf8" });
  assert.deepEqual([signal, stdout], ["SIGKILL", "begins\n"]);
  assert.equal((await checkDatabase(folder)).isSealed, false);
  await assertHolds(folder, 100);
});

test("a database of a later version is refused, for reading and for writing", async (t) => {
  const folder = temporaryFolder(t);
  await writePlain(folder, [[MARK_KEY, seal(MARK_KEY, Uint8Array.of(4))]]);
  const before = readFileSync(join(folder, "data.mdb"));
  const store = await openLmdb(folder);
  const refusal = { code: "kv_too_new", kind: "unsupported", message: /its version is 4, and .* knows 3/ };
  await assert.rejects(store.get(P, P), refusal);
  await assert.rejects(store.set(P, P, P), refusal);
  await assert.rejects(checkDatabase(folder), refusal);
  await store.close();
  assert.ok(readFileSync(join(folder, "data.mdb")).subarray(0, before.length).equals(before));
});

test("a database whose mark was damaged is not taken for an older one", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  for (let i = 0; i < 10; i++) await store.set(P, utf8(`key ${i}`), valueOf(i));
  await store.close();
  const bytes = readFileSync(join(folder, "data.mdb"));
  for (let at = bytes.indexOf(MARK_KEY); at >= 0; at = bytes.indexOf(MARK_KEY, at + 1)) bytes[at + 2]! ^= 1;
  writeFileSync(join(folder, "data.mdb"), bytes);
  const damaged = await openLmdb(folder);
  await assert.rejects(damaged.get(P, utf8("key 1")), { code: "kv_corrupt" });
  await assert.rejects(damaged.set(P, utf8("key 1"), P), { code: "kv_corrupt" });
  await damaged.close();
});
