import { type TestContext } from "node:test";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { withLimits } from "../limits.ts";
import type { KvStore } from "../store.ts";
import { openLmdb } from "./lmdb.ts";

async function openTemporary(t: TestContext): Promise<KvStore> {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  t.after(() => store.close());
  return store;
}

testKvStore("lmdb", { open: openTemporary, capabilities: { atomicSetMany: true } });
testKvStore("lmdb within limits", { open: async (t) => withLimits(await openTemporary(t)) });
