import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { hex, utf8 } from "../../base/bytes.ts";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { ListedKvStore } from "../store.ts";
import { openLmdb } from "./mod.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/process.ts", import.meta.url));
const P = utf8("partition");
const PAGE = 4096;

/** A store that only reads, and beside it one that writes. */
async function openBoth(
  t: TestContext,
): Promise<{ folder: string; reader: ListedKvStore; writer: ListedKvStore }> {
  const folder = temporaryFolder(t);
  const writer = await openLmdb(folder);
  const reader = await openLmdb(folder);
  t.after(async () => {
    await reader.close();
    await writer.close();
  });
  return { folder, reader, writer };
}

testKvStore("lmdb, where one store writes and another reads", {
  open: async (t) => {
    const { reader, writer } = await openBoth(t);
    return {
      get: (...key) => reader.get(...key),
      scan: (...range) => reader.scan(...range),
      partitions: () => reader.partitions(),
      set: (...entry) => writer.set(...entry),
      setMany: (...entries) => writer.setMany(...entries),
      setIf: (...entry) => writer.setIf(...entry),
      delete: (...key) => writer.delete(...key),
      deleteMany: (...keys) => writer.deleteMany(...keys),
      close: () => reader.close(),
    } satisfies ListedKvStore as ListedKvStore;
  },
  capabilities: { atomicSetMany: true, partitions: true },
});

test("where there is no database yet, one is made", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(join(folder, "kv"));
  await store.set(P, utf8("key"), utf8("value"));
  await store.close();
  writeFileSync(join(folder, "data.mdb"), "");
  const beside = await openLmdb(folder);
  assert.equal(await beside.get(P, utf8("key")), undefined);
  await beside.close();
});

test("reading leaves no trace: no lock is taken, and none is made", async (t) => {
  const folder = temporaryFolder(t);
  const writer = await openLmdb(folder);
  await writer.set(P, utf8("key"), utf8("value"));
  await writer.close();
  for (const name of readdirSync(folder)) if (name !== "data.mdb") rmSync(join(folder, name));
  const store = await openLmdb(folder);
  assert.deepEqual((await store.get(P, utf8("key")))?.value, utf8("value"));
  assert.deepEqual(await all(store), [[hex(utf8("key")), hex(utf8("value"))]]);
  await store.close();
  assert.deepEqual(readdirSync(folder), ["data.mdb"]);
});

test("while another process writes without end, each page that is read is of one moment, and none goes back", async (t) => {
  const folder = temporaryFolder(t);
  await (await openLmdb(folder)).close();
  const child = spawn(process.execPath, [PROGRAM, "rounds", folder, "400"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  const store = await openLmdb(folder);
  t.after(() => store.close());
  let last = -1, seen = 0;
  while (child.exitCode === null) {
    for await (const page of store.scan(P)) {
      const rounds = new Set(
        page.map(({ value }) => new DataView(value.buffer, value.byteOffset).getUint32(0)),
      );
      assert.equal(rounds.size, 1, `rounds ${[...rounds]} in one page`);
      const [round] = rounds;
      assert.ok(round! >= last, `round ${round} after ${last}`);
      assert.equal(page.length, 300);
      if (round !== last) seen++;
      last = round!;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await ended, [0, null]);
  assert.ok(seen > 20, `only ${seen} rounds were seen`);
});

test("a file cut short while it is open is an error", async (t) => {
  const { folder, reader, writer } = await openBoth(t);
  await writer.setMany(
    P,
    Array.from({ length: 200 }, (_, i) => ({ key: utf8(`${i}`), value: new Uint8Array(200) })),
  );
  const place = temporaryFolder(t);
  copyFileSync(join(folder, "data.mdb"), join(place, "data.mdb"));
  const store = await openLmdb(place);
  t.after(() => store.close());
  assert.equal((await all(store)).length, 200);
  assert.equal((await all(reader)).length, 200);
  writeFileSync(join(place, "data.mdb"), readFileSync(join(place, "data.mdb")).subarray(0, 2 * PAGE));
  await assert.rejects(all(store), { code: "kv_corrupt", kind: "corrupt" });
});

async function all(
  store: ListedKvStore,
  options?: { start?: Uint8Array; pageSize?: number },
): Promise<[string, string][]> {
  const entries: [string, string][] = [];
  for await (const page of store.scan(P, options)) {
    for (const { key, value } of page) entries.push([hex(key), hex(value)]);
  }
  return entries;
}
