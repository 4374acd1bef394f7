import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  readText,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

const IF_EMPTY = { ifEmpty: true };
const NOT_EMPTY = { code: "repository_not_empty" };

describe("deleting a repository if it is empty", () => {
  it("is refused while there are objects on any branch, or tags", async () => {
    const { store } = await withRepository();
    await store.createBranch("repo", "work", "main", WHO);
    await write(store, "work", { a: "1" });
    await assert.rejects(store.deleteRepository("repo", IF_EMPTY), NOT_EMPTY);
    await store.deleteBranch("repo", "work", WHO);
    await store.createTag("repo", "v1", "main", WHO);
    await assert.rejects(store.deleteRepository("repo", IF_EMPTY), NOT_EMPTY);
    await store.deleteTag("repo", "v1", WHO);
    await store.deleteRepository("repo", IF_EMPTY);
    await assert.rejects(store.getRepository("repo"), { code: "repository_not_found" });
    await assert.rejects(store.deleteRepository("repo", IF_EMPTY), { code: "repository_not_found" });
  });

  it("finds a write that is acknowledged between the look and the deletion", async () => {
    const kv = await openMemoryKv();
    const { store, objects, clock } = testEngine({ kv });
    await store.createRepository("repo", { committer: WHO });
    let isArmed = true;
    const deleting = testEngine({
      kv: hookedKv(kv, {
        async before({ call, key }) {
          if (!isArmed || call !== "setIf" || key !== "repos/repo") return;
          isArmed = false;
          await write(store, "main", { a: "acknowledged" });
        },
      }),
      objects,
      clock,
    });
    await assert.rejects(deleting.store.deleteRepository("repo", IF_EMPTY), NOT_EMPTY);
    assert.equal(await readText(store, "main", "a"), "acknowledged");
    await write(store, "main", { b: "2" });
    assert.equal((await collect(store.listRepositories())).length, 1);
  });

  it("does not delete another repository that took the name meanwhile", async () => {
    const kv = await openMemoryKv();
    const { store, objects, clock } = testEngine({ kv });
    await store.createRepository("repo", { committer: WHO });
    let isArmed = true;
    const deleting = testEngine({
      kv: hookedKv(kv, {
        async before({ call, key }) {
          if (!isArmed || call !== "scan" || !key.startsWith("refs/")) return;
          isArmed = false;
          await store.deleteRepository("repo");
          await store.createRepository("repo", { committer: WHO });
          await write(store, "main", { a: "1" });
        },
      }),
      objects,
      clock,
    });
    await assert.rejects(deleting.store.deleteRepository("repo", IF_EMPTY), { code: "repository_not_found" });
    assert.equal(await readText(store, "main", "a"), "1");
  });
});
