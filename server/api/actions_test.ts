import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testRepository } from "./testing.ts";

describe("what is not kept here", () => {
  it("is answered as by a server that has none: runs of actions", async (t) => {
    const { ask, send } = await testRepository(t);
    const { json } = await ask(200, "GET", "/actions/runs?branch=main&amount=5");
    assert.deepEqual(json.results, []);
    assert.deepEqual(json.pagination, { has_more: false, next_offset: "", results: 0, max_per_page: 1000 });
    for (const path of ["", "/hooks", "/hooks/h1/output"]) {
      assert.match((await ask(404, "GET", `/actions/runs/r1${path}`)).json.message, /"r1"/);
    }
    assert.match((await send("GET", "/repositories/none/actions/runs")).json.message, /"none"/);
  });

  it("is answered as by a server that has none: statistics and usage", async (t) => {
    const { send, sendAsNobody } = await testRepository(t);
    const body = { events: [{ class: "ui", name: "click", count: 1 }] };
    assert.equal((await send("POST", "/statistics", { body })).status, 204);
    assert.equal((await send("POST", "/statistics", { body: {} })).status, 400);
    assert.equal((await sendAsNobody("POST", "/statistics", { body })).status, 401);
    assert.equal((await send("GET", "/usage-report/summary")).status, 404);
  });
});
