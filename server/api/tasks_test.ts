import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type TestRepository, testRepository } from "./testing.ts";

async function ended({ ask }: TestRepository, path: string) {
  for (let look = 0; look < 1000; look++) {
    const { json } = await ask(200, "GET", path);
    if (json.completed) return json;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("the task does not end");
}

describe("commits and merges as tasks", () => {
  it("answer with an ID at once, and then with what the operation would have answered", async (t) => {
    const repository = await testRepository(t);
    const { ask, put, branch, commit } = repository;
    await branch("topic");
    await put("topic", "a", "1");
    const at = "/branches/topic/commits/async";
    const { id } = (await ask(202, "POST", at, { message: "as a task", metadata: { k: "v" } })).json;
    const done = await ended(repository, `${at}/${id}/status`);
    assert.deepEqual([done.task_id, done.error, done.status_code], [id, undefined, undefined]);
    assert.ok(!Number.isNaN(Date.parse(done.update_time)));
    assert.deepEqual(done.result, (await ask(200, "GET", "/commits/topic")).json);
    assert.equal(done.result.committer, "admin");
    await commit("main", "b", "1");
    const merge = "/refs/topic/merge/main/async";
    const started = (await ask(202, "POST", merge)).json.id;
    const { result } = await ended(repository, `${merge}/${started}/status`);
    assert.deepEqual(result, { reference: (await ask(200, "GET", "/branches/main")).json.commit_id });
  });

  it("fail with the status and message of the operation", async (t) => {
    const repository = await testRepository(t);
    const { ask, commit, branch } = repository;
    await commit("main", "a", "base");
    await branch("topic");
    await commit("main", "a", "ours");
    await commit("topic", "a", "theirs");
    const fails = async (path: string, body: unknown) => {
      const { id } = (await ask(202, "POST", path, body)).json;
      const failed = await ended(repository, `${path}/${id}/status`);
      assert.equal(failed.result, undefined);
      return [failed.status_code, failed.error.message];
    };
    const commits = "/branches/main/commits", merge = "/refs/topic/merge/main";
    const nothing = (await ask(400, "POST", commits, { message: "m" })).json.message;
    assert.deepEqual(await fails(`${commits}/async`, { message: "m" }), [400, nothing]);
    const conflict = (await ask(409, "POST", merge, {})).json.message;
    assert.deepEqual(await fails(`${merge}/async`, {}), [409, conflict]);
  });

  it("are refused at once where nothing can be begun, and shown only under their own path", async (t) => {
    const repository = await testRepository(t);
    const { ask, put, branch } = repository;
    await branch("topic");
    await put("topic", "a", "1");
    await ask(404, "POST", "/branches/none/commits/async", { message: "m" });
    await ask(404, "POST", "/refs/none/merge/main/async");
    await ask(400, "POST", "/branches/topic/commits/async", {});
    await ask(501, "POST", "/branches/topic/commits/async?source_metarange=x", { message: "m" });
    const { id } = (await ask(202, "POST", "/branches/topic/commits/async", { message: "m" })).json;
    await ended(repository, `/branches/topic/commits/async/${id}/status`);
    await ask(404, "GET", `/branches/main/commits/async/${id}/status`);
    await ask(404, "GET", `/refs/topic/merge/main/async/${id}/status`);
    await ask(404, "GET", "/branches/topic/commits/async/..%2F..%2Frefs/status");
  });
});
