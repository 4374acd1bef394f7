import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { contents, testEngine, WHO } from "../../tests/support/test_engine.ts";

async function dataKeys(objects: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of objects.pages({ prefix: "data/" })) {
    keys.push(...page.objects.map(({ key }) => key));
  }
  return keys;
}

async function begin() {
  const { store, objects } = testEngine();
  await store.createRepository("repo", { committer: WHO });
  const stop = new AbortController();
  const writer = await store.writer("repo", "main", { signal: stop.signal });
  return { store, stop, writer, keys: () => dataKeys(objects) };
}

test("abandon() takes away what was stored and not staged, and nothing else", async () => {
  const { store, writer, keys } = await begin();
  await writer.put("a", utf8("staged"));
  await writer.putMany([{ path: "b", body: utf8("staged, too") }]);
  await writer.flush();
  await writer.put("a", utf8("not staged"));
  await writer.put("a", utf8("not staged either"));
  await writer.putMany([{ path: "c", body: utf8("nor this") }]);
  assert.equal((await keys()).length, 5);
  await Promise.all([writer.abandon(), writer.abandon()]);
  assert.equal((await keys()).length, 2);
  assert.deepEqual(await contents(store, "main"), { a: "staged", b: "staged, too" });
  await assert.rejects(writer.put("d", utf8("late")), { code: "canceled" });
  await assert.rejects(writer.close(), { code: "canceled" });
  assert.equal((await keys()).length, 2);
});

test("abandon() waits for an upload that its signal stops", async () => {
  const { stop, writer, keys } = await begin();
  async function* endless() {
    yield utf8("begun");
    await new Promise(() => {});
  }
  const put = assert.rejects(writer.put("a", endless()), { code: "canceled" });
  stop.abort();
  await writer.abandon();
  await put;
  assert.deepEqual(await keys(), []);
});

test("what is being staged when abandon() is called is staged whole, or not at all", async () => {
  const outcomes = new Set<boolean>();
  for (let turns = 0; turns < 40; turns++) {
    const { store, writer, keys } = await begin();
    await writer.put("a", utf8("bytes"));
    const closed = writer.close().then(() => true, () => false);
    for (let i = 0; i < turns; i++) await Promise.resolve();
    await writer.abandon();
    const isStaged = await closed;
    assert.deepEqual(await contents(store, "main"), isStaged ? { a: "bytes" } : {});
    assert.equal((await keys()).length, isStaged ? 1 : 0, `${turns} turns`);
    outcomes.add(isStaged);
  }
  assert.deepEqual([...outcomes].sort(), [false, true]);
});
