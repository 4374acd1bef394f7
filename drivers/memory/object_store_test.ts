import assert from "node:assert/strict";
import test from "node:test";
import { testObjectStore } from "../../tests/conformance/object_store_suite.ts";
import { openMemoryObjectStore } from "./mod.ts";

testObjectStore("memory", {
  open: () => openMemoryObjectStore(),
  capabilities: { anyKey: true, writesInPlaces: true },
});

test("memory: times come from the clock that was given", async () => {
  let now = 1000;
  const store = openMemoryObjectStore({ clock: { now: () => now, sleep: async () => {} } });
  assert.equal((await store.put("a", new Uint8Array(1))).modifiedMs, 1000);
  now = 2000;
  assert.equal((await store.put("b", new Uint8Array(1))).modifiedMs, 2000);
  assert.equal((await store.head("a"))?.modifiedMs, 1000);
});

test("memory: locate() begins with the address that was given", () => {
  assert.equal(openMemoryObjectStore({ address: "mem://x" }).locate("data/a b"), "mem://x/data/a%20b");
});
