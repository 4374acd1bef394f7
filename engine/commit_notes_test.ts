import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngineStore } from "./mod.ts";
import { testEngine, WHO } from "../tests/support/test_engine.ts";

const NOTE = { repository: "repo", branch: "feature/x", server: "s1", writers: ["ann"], beats: 0 };

test("commit notes are one a server and branch, and outlive the store that wrote them", async () => {
  const { store, context } = testEngine();
  await store.createRepository("repo", { committer: WHO });
  await store.commitNotes!.put(NOTE);
  await store.commitNotes!.put({ ...NOTE, writers: ["ann", "bob"], beats: 1 });
  await store.commitNotes!.put({ ...NOTE, server: "s2" });
  const later = openEngineStore(context);
  assert.deepEqual(await later.commitNotes!.all(), [
    { ...NOTE, writers: ["ann", "bob"], beats: 1 },
    { ...NOTE, server: "s2" },
  ]);
  await later.commitNotes!.remove(NOTE);
  assert.deepEqual(await later.commitNotes!.all(), [{ ...NOTE, server: "s2" }]);
});

test("commit notes of a repository end with it, also when another one takes its name", async () => {
  const { store } = testEngine();
  await store.createRepository("repo", { committer: WHO });
  await store.commitNotes!.put(NOTE);
  await store.deleteRepository("repo");
  await store.createRepository("repo", { committer: WHO });
  assert.deepEqual(await store.commitNotes!.all(), []);
  await assert.rejects(store.commitNotes!.put({ ...NOTE, repository: "none" }), {
    code: "repository_not_found",
  });
});
