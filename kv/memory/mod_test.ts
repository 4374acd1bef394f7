import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { withLimits } from "../limits.ts";
import { openMemoryKv } from "./mod.ts";

testKvStore("memory", { open: () => Promise.resolve(openMemoryKv()), capabilities: { partitions: true } });
testKvStore("memory within limits", { open: () => Promise.resolve(withLimits(openMemoryKv())) });

test("two memory stores share nothing, and a closed one refuses", async () => {
  const one = openMemoryKv(), other = openMemoryKv();
  await one.set(utf8("p"), utf8("k"), utf8("v"));
  assert.equal(await other.get(utf8("p"), utf8("k")), undefined);
  await one.close();
  await assert.rejects(one.get(utf8("p"), utf8("k")), { code: "kv_closed" });
});
