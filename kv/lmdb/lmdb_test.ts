import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test, type TestContext } from "node:test";
import { compareBytes, hex } from "../../base/bytes.ts";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { withLimits } from "../limits.ts";
import type { KvStore } from "../store.ts";
import { type LmdbOptions, openLmdb } from "./mod.ts";

async function openTemporary(t: TestContext, options?: LmdbOptions): Promise<KvStore> {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder, options);
  t.after(() => store.close());
  return store;
}

testKvStore("lmdb", {
  open: (t) => openTemporary(t),
  capabilities: { atomicSetMany: true, partitions: true },
});
testKvStore("lmdb whose readers make the writers wait", {
  open: (t) => openTemporary(t, { attempts: 0 }),
  capabilities: { atomicSetMany: true, partitions: true },
});
testKvStore("lmdb within limits", { open: async (t) => withLimits(await openTemporary(t)) });

test("the package's own key encoding would give other keys, in another order", async (t) => {
  const lmdb = await import("lmdb");
  const database = lmdb.open(temporaryFolder(t), { noSubdir: false });
  const keys = [[0], [0, 1], [1], [2], [5], [97], [97, 0], [97, 0, 98], [97, 97], [128], [255]].map((bytes) =>
    Uint8Array.from(bytes)
  );
  for (const key of keys) database.putSync(Buffer.from(key), "value");
  const given = [...database.getKeys({ start: Buffer.from([0]) })] as unknown[];
  const expected = [...keys].sort(compareBytes).map(hex);
  assert.notDeepEqual(given.map((key) => key instanceof Uint8Array ? hex(key) : key), expected);
  await database.close();
});
