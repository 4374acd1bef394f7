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

test("copy() and setMetadata() make metadata of what the object has then", async () => {
  const { store, writer } = await begin();
  const more = ({ metadata }: { metadata: Readonly<Record<string, string>> }) => ({ ...metadata, y: "2" });
  await writer.copy("b", { ref: "main", path: "a" }, { metadata: more });
  await writer.setMetadata("a", more);
  await writer.close();
  for (const path of ["a", "b"]) {
    assert.deepEqual((await store.stat("repo", "main", path)).metadata, { x: "1", y: "2" });
  }
  const many = () => ({ big: "x".repeat(70_000) });
  await assert.rejects(writer.setMetadata("a", many), { code: "limit_exceeded" });
  await assert.rejects(writer.copy("b", { ref: "main", path: "a" }, { metadata: many }), {
    code: "limit_exceeded",
  });
});

test("delete() under a condition takes the object that was meant, and no other", async () => {
  const { store, writer, source } = await begin();
  await assert.rejects(writer.delete("a", { ifMatch: ["other"] }), { code: "object_changed" });
  await assert.rejects(writer.delete("none", { ifMatch: "any" }), { code: "object_changed" });
  assert.equal(await readText(store, "main", "a"), "bytes");
  await store.commit("repo", "main", { message: "a", committer: WHO });
  const other = await store.writer("repo", "main");
  await other.delete("a", { ifMatch: [source.checksum] });
  assert.equal(await readText(store, "main", "a"), undefined);
  await store.commit("repo", "main", { message: "gone", committer: WHO });
  assert.equal(await readText(store, "main", "a"), undefined);
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
