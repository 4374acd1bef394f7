import assert from "node:assert/strict";
import { test } from "node:test";
import { testRepository } from "./testing.ts";

test("pull requests are none, and cannot be made", async (t) => {
  const { ask, send } = await testRepository(t);
  const { json } = await ask(200, "GET", "/pulls?status=open&amount=5");
  assert.deepEqual([json.results, json.pagination.has_more], [[], false]);
  assert.match((await ask(404, "GET", "/pulls/p1")).json.message, /"p1"/);
  await ask(404, "PUT", "/pulls/p1/merge");
  await ask(501, "POST", "/pulls", { title: "t", source_branch: "dev", destination_branch: "main" });
  assert.match((await send("GET", "/repositories/none/pulls")).json.message, /"none"/);
});
