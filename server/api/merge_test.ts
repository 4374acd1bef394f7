import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testRepository } from "./testing.ts";

const MERGE = "/refs/topic/merge/main";

describe("merging", () => {
  it("makes a commit of both sides, with the message and metadata that are given", async (t) => {
    const { ask, commit, branch } = await testRepository(t);
    await branch("topic");
    const ours = await commit("main", "a", "1"), theirs = await commit("topic", "b", "1");
    const body = { message: "together", metadata: { k: "v" } };
    const { reference } = (await ask(200, "POST", MERGE, body)).json;
    const made = (await ask(200, "GET", `/commits/${reference}`)).json;
    assert.deepEqual([made.message, made.parents, made.metadata.k], ["together", [ours, theirs], "v"]);
    assert.equal(made.committer, "admin");
    assert.equal((await ask(200, "GET", "/branches/main")).json.commit_id, reference);
    await ask(200, "GET", "/refs/main/objects/stat?path=b");
  });

  it("needs no body", async (t) => {
    const { ask, commit, branch } = await testRepository(t);
    await branch("topic");
    await commit("topic", "b", "1");
    const { reference } = (await ask(200, "POST", MERGE)).json;
    const { message } = (await ask(200, "GET", `/commits/${reference}`)).json;
    assert.equal(message, "Merge 'topic' into 'main'");
  });

  it("of a conflict answers 409 in both of its forms and changes nothing, and a strategy settles it", async (t) => {
    const { ask, commit, branch } = await testRepository(t);
    await commit("main", "a", "base");
    await branch("topic");
    const ours = await commit("main", "a", "ours");
    await commit("topic", "a", "theirs");
    const { json } = await ask(409, "POST", MERGE, {});
    assert.equal(json.reference, "");
    assert.match(json.message, /both sides changed "a"/);
    assert.equal((await ask(200, "GET", "/branches/main")).json.commit_id, ours);
    await ask(400, "POST", MERGE, { strategy: "mine" });
    await branch("second");
    await ask(200, "POST", MERGE, { strategy: "source-wins" });
    assert.equal((await ask(200, "GET", "/refs/main/objects?path=a")).text, "theirs");
    await ask(200, "POST", "/refs/topic/merge/second", { strategy: "dest-wins" });
    assert.equal((await ask(200, "GET", "/refs/second/objects?path=a")).text, "ours");
  });

  it("that brings nothing is refused, unless an empty commit is wanted", async (t) => {
    const { ask, commit, branch } = await testRepository(t);
    await commit("main", "a", "1");
    await branch("topic");
    const refused = await ask(400, "POST", MERGE, {});
    assert.match(refused.json.message, /Cannot merge "topic" into "main"/);
    // The same change on both sides; a commit without any; and the other way round.
    await commit("main", "b", "1");
    await commit("topic", "b", "1");
    await ask(400, "POST", MERGE, {});
    await ask(201, "POST", "/branches/topic/commits", { message: "empty", allow_empty: true });
    await ask(400, "POST", MERGE, {});
    for (
      const allowed of [{ allow_empty: true }, { force: true }, { allow_empty: true, squash_merge: true }]
    ) {
      const before = (await ask(200, "GET", "/branches/main")).json.commit_id;
      const { reference } = (await ask(200, "POST", MERGE, allowed)).json;
      const { parents } = (await ask(200, "GET", `/commits/${reference}`)).json;
      assert.deepEqual([parents[0], parents.length], [before, allowed.squash_merge ? 1 : 2]);
    }
    const own = (await ask(200, "POST", "/refs/main/merge/main", { allow_empty: true })).json.reference;
    assert.equal((await ask(200, "GET", `/commits/${own}`)).json.parents.length, 1);
  });

  it("into a branch with uncommitted changes is refused, squashed it has one parent", async (t) => {
    const { ask, commit, put, branch } = await testRepository(t);
    await branch("topic");
    await commit("topic", "b", "1");
    await put("main", "staged", "1");
    assert.match((await ask(400, "POST", MERGE, {})).json.message, /uncommitted changes/);
    await ask(204, "PUT", "/branches/main", { type: "reset" });
    const { reference } = (await ask(200, "POST", MERGE, { squash_merge: true })).json;
    assert.equal((await ask(200, "GET", `/commits/${reference}`)).json.parents.length, 1);
    await ask(404, "POST", "/refs/none/merge/main", {});
    await ask(404, "POST", "/refs/topic/merge/none", {});
    await ask(400, "POST", "/refs/topic/merge/main", { metadata: { n: 5 } });
  });
});
