import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type TestRepository, testRepository } from "./testing.ts";

async function paths({ ask }: TestRepository, ref = "main"): Promise<string[]> {
  return (await ask(200, "GET", `/refs/${ref}/objects/ls`)).json.results.map(({ path }: { path: string }) =>
    path
  );
}

const headOf = async ({ ask }: TestRepository) => (await ask(200, "GET", "/branches/main")).json.commit_id;

describe("reset", () => {
  it("drops one object's changes, those under a prefix, or all", async (t) => {
    const repository = await testRepository(t);
    const { ask, put, commit } = repository;
    await commit("main", "kept", "1");
    for (const path of ["a/1", "a/2", "ab", "b"]) await put("main", path, "x");
    const at = "/branches/main";
    await ask(204, "PUT", at, { type: "object", path: "b" });
    assert.deepEqual(await paths(repository), ["a/1", "a/2", "ab", "kept"]);
    await ask(204, "PUT", at, { type: "common_prefix", path: "a/" });
    assert.deepEqual(await paths(repository), ["ab", "kept"]);
    for (const body of [{ type: "object" }, { type: "common_prefix" }, { type: "all" }, {}]) {
      await ask(400, "PUT", at, body);
    }
    await ask(204, "PUT", at, { type: "reset" });
    assert.deepEqual(await paths(repository), ["kept"]);
    await ask(404, "PUT", "/branches/none", { type: "reset" });
  });

  it("moves a branch to a commit, and drops what is staged only by force", async (t) => {
    const repository = await testRepository(t);
    const { ask, put, commit } = repository;
    const first = await commit("main", "a", "1"), second = await commit("main", "b", "1");
    const at = "/branches/main/hard_reset";
    await put("main", "staged", "1");
    assert.match((await ask(400, "PUT", `${at}?ref=main~1`)).json.message, /uncommitted changes/);
    assert.deepEqual([await headOf(repository), (await paths(repository)).length], [second, 3]);
    await ask(204, "PUT", `${at}?ref=main~1&force=true`);
    assert.deepEqual([await headOf(repository), await paths(repository)], [first, ["a"]]);
    await ask(204, "PUT", `${at}?ref=${second}`);
    assert.deepEqual(await paths(repository), ["a", "b"]);
    await ask(404, "PUT", `${at}?ref=none`);
    await ask(400, "PUT", at);
  });
});

describe("revert and cherry-pick", () => {
  it("take a commit's changes back, and make them again", async (t) => {
    const repository = await testRepository(t);
    const { ask, commit } = repository;
    const base = await commit("main", "a", "1"), changed = await commit("main", "b", "1");
    await ask(204, "POST", "/branches/main/revert", { ref: changed, parent_number: 0 });
    assert.deepEqual(await paths(repository), ["a"]);
    const reverted = (await ask(200, "GET", "/commits/main")).json;
    assert.deepEqual([reverted.message, reverted.parents], [`Revert ${changed}`, [changed]]);
    const picked = (await ask(201, "POST", "/branches/main/cherry-pick", {
      ref: changed,
      commit_overrides: { message: "again", metadata: { k: "v" } },
    })).json;
    assert.deepEqual([picked.message, picked.metadata.k], ["again", "v"]);
    assert.equal(picked.metadata["cherry-pick-origin"], changed);
    assert.deepEqual(await paths(repository), ["a", "b"]);
    const before = await headOf(repository);
    await ask(400, "POST", "/branches/main/cherry-pick", { ref: changed });
    await ask(404, "POST", "/branches/main/cherry-pick", { ref: "none" });
    await ask(400, "POST", "/branches/main/revert", { ref: base, parent_number: 2 });
    await ask(400, "POST", "/branches/main/revert", { ref: base, parent_number: -1 });
    assert.equal(await headOf(repository), before);
  });

  it("of what changes nothing are refused, but a revert may be empty", async (t) => {
    const repository = await testRepository(t);
    const { ask, commit } = repository;
    const changed = await commit("main", "a", "1");
    await commit("main", "b", "1");
    const revert = (body: object, status: number) =>
      ask(status, "POST", "/branches/main/revert", { ref: changed, parent_number: 0, ...body });
    await revert({}, 204);
    const before = await headOf(repository);
    await revert({}, 400);
    assert.equal(await headOf(repository), before);
    await revert({ allow_empty: true, commit_overrides: { message: "nothing" } }, 204);
    assert.equal((await ask(200, "GET", "/commits/main")).json.message, "nothing");
  });

  it("of a merge need a parent number (H28)", async (t) => {
    const repository = await testRepository(t);
    const { ask, commit, branch } = repository;
    await branch("topic");
    await commit("main", "a", "1");
    await commit("topic", "b", "1");
    const merge = (await ask(200, "POST", "/refs/topic/merge/main", {})).json.reference;
    for (const parent of [{}, { parent_number: 0 }]) {
      const refused = await ask(400, "POST", "/branches/main/revert", { ref: merge, ...parent });
      assert.match(refused.json.message, /give a parent number/);
      assert.equal(await headOf(repository), merge);
    }
    await ask(400, "POST", "/branches/main/cherry-pick", { ref: merge });
    await ask(204, "POST", "/branches/main/revert", { ref: merge, parent_number: 1 });
    assert.deepEqual(await paths(repository), ["a"]);
  });

  it("of what was changed again conflict, and uncommitted changes are refused", async (t) => {
    const repository = await testRepository(t);
    const { ask, put, commit } = repository;
    const changed = await commit("main", "a", "1");
    const head = await commit("main", "a", "2");
    await ask(409, "POST", "/branches/main/revert", { ref: changed, parent_number: 0 });
    await put("main", "staged", "1");
    await ask(400, "POST", "/branches/main/revert", { ref: head, parent_number: 0 });
    assert.equal(await headOf(repository), head);
  });
});

describe("hidden branches", () => {
  it("are there, and listed only when that is asked for", async (t) => {
    const { ask, commit } = await testRepository(t);
    await ask(201, "POST", "/branches", { name: "tx-1", source: "main", hidden: true });
    await commit("tx-1", "a", "1");
    const names = async (query: string) =>
      (await ask(200, "GET", `/branches?${query}`)).json.results.map(({ id }: { id: string }) => id);
    assert.deepEqual(await names(""), ["main"]);
    assert.deepEqual(await names("show_hidden=true"), ["main", "tx-1"]);
    assert.deepEqual(await names("amount=1&prefix=t"), []);
    await ask(200, "GET", "/branches/tx-1");
    await ask(200, "POST", "/refs/tx-1/merge/main", {});
    await ask(204, "DELETE", "/branches/tx-1");
  });
});
