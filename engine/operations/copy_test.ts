import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { readText, testEngine, WHO, write } from "../../tests/support/test_engine.ts";

async function begin() {
  const { store, clock } = testEngine();
  await store.createRepository("repo", { committer: WHO });
  const writer = await store.writer("repo", "main");
  const source = await writer.put("a", utf8("bytes"), { contentType: "text/plain", metadata: { x: "1" } });
  await writer.close();
  return { store, clock, writer, source };
}

test("copy() takes metadata, content type and time from the source unless it is given others", async () => {
  const { store, clock, writer, source } = await begin();
  clock.advance(60_000);
  await writer.copy("same", { ref: "main", path: "a" });
  await writer.copy("other", { ref: "main", path: "a" }, {
    contentType: "text/csv",
    metadata: { y: "2" },
    isNew: true,
  });
  await writer.close();
  const same = await store.stat("repo", "main", "same"), other = await store.stat("repo", "main", "other");
  assert.deepEqual([same.contentType, same.metadata, same.mtimeMs], [
    "text/plain",
    { x: "1" },
    source.mtimeMs,
  ]);
  assert.deepEqual([other.contentType, other.metadata], ["text/csv", { y: "2" }]);
  assert.ok(other.mtimeMs >= source.mtimeMs + 60_000);
  assert.equal(other.physicalAddress, same.physicalAddress);
});

test("copy() keeps to conditions, and leaves the object that it did not copy alone", async () => {
  const { store, writer, source } = await begin();
  await write(store, "main", { taken: "other bytes" });
  const from = { ref: "main", path: "a" };
  await assert.rejects(writer.copy("taken", from, { ifAbsent: true }), { code: "object_exists" });
  const again = await store.writer("repo", "main");
  await assert.rejects(again.copy("taken", from, { ifMatch: [source.checksum] }), { code: "object_changed" });
  assert.equal(await readText(store, "main", "taken"), "other bytes");
  // The source's bytes are still there.
  assert.equal(await readText(store, "main", "a"), "bytes");
  const last = await store.writer("repo", "main");
  await last.copy("free", from, { ifAbsent: true });
  await last.close();
  assert.equal(await readText(store, "main", "free"), "bytes");
});

test("copy() shows the source before it stages anything", async () => {
  const { store, writer } = await begin();
  const check = () => {
    throw new Error("not this one");
  };
  await assert.rejects(writer.copy("b", { ref: "main", path: "a", check }), /not this one/);
  await writer.close();
  assert.equal(await readText(store, "main", "b"), undefined);
});
