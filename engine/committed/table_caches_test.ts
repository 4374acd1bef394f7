import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedTableCaches } from "./table_caches.ts";

test("repositories share the room of the caches, and never each other's tables", () => {
  const shared = new SharedTableCaches();
  const [ours, theirs] = [shared.of("ours"), shared.of("theirs")];
  assert.equal(ours.blocks, theirs.blocks);
  ours.recordIds.set("id", Uint8Array.of(1), 1);
  theirs.recordIds.set("id", Uint8Array.of(2), 1);
  assert.deepEqual(ours.recordIds.get("id"), Uint8Array.of(1));
  theirs.recordIds.delete("id");
  assert.deepEqual(ours.recordIds.get("id"), Uint8Array.of(1));
  // What others need makes what is not used give way.
  for (let i = 0; i < 100; i++) theirs.recordIds.set(`${i}`, new Uint8Array(0), 1024 * 1024);
  assert.equal(ours.recordIds.get("id"), undefined);
});
