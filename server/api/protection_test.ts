import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testRepository } from "./testing.ts";

const RULES = "/settings/branch_protection";

describe("branch protection", () => {
  it("keeps writes and commits off, with 403, and lets merges through", async (t) => {
    const { ask, put, commit, branch } = await testRepository(t);
    await commit("main", "a", "1");
    await branch("topic");
    await put("main", "staged", "1");
    await ask(204, "GET", "/branches/main/objects/stage_allowed?path=x");
    await ask(204, "PUT", RULES, [{ pattern: "ma*" }]);
    const unwritten = await ask(403, "POST", "/branches/main/objects?path=x", "x");
    assert.equal(unwritten.json.message, "cannot write to protected branch");
    await ask(403, "GET", "/branches/main/objects/stage_allowed?path=x");
    await ask(403, "DELETE", "/branches/main/objects?path=a");
    await ask(403, "POST", "/branches/main/objects/delete", { paths: ["a"] });
    await ask(403, "POST", "/branches/main/objects/copy?dest_path=x", { src_path: "a" });
    const refused = await ask(403, "POST", "/branches/main/commits", { message: "m" });
    assert.equal(refused.json.message, "cannot commit to protected branch");
    const unreset = await ask(403, "PUT", "/branches/main", { type: "reset" });
    assert.match(unreset.json.message, /Cannot reset branch "main": it is protected by the rule "ma\*"/);
    await ask(204, "PUT", RULES, [{ pattern: "ma*" }, { pattern: "topi?" }]);
    await ask(403, "DELETE", "/branches/topic");
    await ask(403, "PUT", "/branches/main/hard_reset?ref=main~1&force=true");
    await ask(404, "GET", "/branches/none/objects/stage_allowed?path=x");
    await ask(204, "PUT", RULES, []);
    await ask(204, "PUT", "/branches/main", { type: "reset" });
    await ask(204, "PUT", RULES, [{ pattern: "main" }]);
    await commit("topic", "b", "1");
    await ask(200, "POST", "/refs/topic/merge/main", {});
  });

  it("is changed only by who saw it last, when that is asked for", async (t) => {
    const { ask, send } = await testRepository(t);
    const path = `/repositories/repo${RULES}`;
    const etagOf = async () => (await ask(200, "GET", RULES)).headers.get("etag")!;
    const put = async (pattern: string, etag: string) =>
      (await send("PUT", path, { body: [{ pattern }], headers: { "if-match": etag } })).status;
    const first = await etagOf();
    assert.equal(await put("a", first), 204);
    assert.equal(await put("b", first), 412);
    const second = await etagOf();
    assert.notEqual(second, first);
    assert.equal(await put("b", second.replaceAll('"', "")), 204);
    assert.equal(await put("c", "*"), 204);
    assert.deepEqual((await ask(200, "GET", RULES)).json, [{ pattern: "c" }]);
    await ask(400, "PUT", RULES, [{ pattern: "" }]);
    await ask(400, "PUT", RULES, { pattern: "x" });
    assert.equal((await send("GET", `/repositories/none${"/settings/branch_protection"}`)).status, 404);
  });

  it("answers alike under its deprecated paths", async (t) => {
    const { ask } = await testRepository(t);
    const path = "/branch_protection";
    await ask(204, "GET", `${path}/set_allowed`);
    await Promise.all(["a", "b", "c"].map((pattern) => ask(204, "POST", path, { pattern })));
    await ask(204, "POST", path, { pattern: "a" });
    await ask(204, "DELETE", path, { pattern: "b" });
    await ask(404, "DELETE", path, { pattern: "b" });
    const patterns = (await ask(200, "GET", path)).json.map(({ pattern }: { pattern: string }) => pattern);
    assert.deepEqual(patterns.sort(), ["a", "c"]);
    assert.deepEqual((await ask(200, "GET", RULES)).json, (await ask(200, "GET", path)).json);
  });
});

describe("rules of garbage collection", () => {
  it("are kept as they are set, and gone when they are deleted", async (t) => {
    const { ask } = await testRepository(t);
    for (const path of ["/settings/gc_rules", "/gc/rules"]) {
      await ask(404, "GET", path);
      const rules = { default_retention_days: 21, branches: [{ branch_id: "main", retention_days: 28 }] };
      await ask(204, path === "/gc/rules" ? "POST" : "PUT", path, rules);
      assert.deepEqual((await ask(200, "GET", path)).json, rules);
      await ask(400, path === "/gc/rules" ? "POST" : "PUT", path, {
        default_retention_days: 0,
        branches: [],
      });
      await ask(204, "DELETE", path);
      await ask(404, "GET", path);
    }
    await ask(204, "GET", "/gc/rules/set_allowed");
    await ask(501, "POST", "/gc/prepare_commits");
  });
});
