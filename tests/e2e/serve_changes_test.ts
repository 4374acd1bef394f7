/** What is changed through the server and seen by commands, and what outlives it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { serveAgain, type ServedHome, serveHome } from "../support/server.ts";

async function api(server: ServedHome, method: string, path: string, body?: unknown) {
  const answer = await server.fetch(
    method,
    path,
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } },
  );
  const text = await answer.text();
  return { status: answer.status, text, json: () => JSON.parse(text) };
}

async function withRepository(server: ServedHome): Promise<void> {
  const body = { name: "repo", storage_namespace: "local://repo" };
  assert.equal((await api(server, "POST", "/repositories", body)).status, 201);
  for (let i = 0; i < 50; i++) {
    const path = `/repositories/repo/branches/main/objects?path=data/${i}`;
    assert.equal((await server.fetch("POST", path, { body: `${i}` })).status, 201);
  }
}

test("a task that was begun is finished when the server is told to stop, and known to the next one", async (t) => {
  const server = await serveHome(t);
  await withRepository(server);
  const at = "/repositories/repo/branches/main/commits/async";
  const { id } = (await api(server, "POST", at, { message: "as a task" })).json();
  server.process.kill("SIGTERM");
  assert.equal(await server.ended, 0, server.log());
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = server;
  const next = await serveAgain(t, server, { credential: { access_key_id, secret_access_key } });
  const status = (await api(next, "GET", `${at}/${id}/status`)).json();
  assert.equal(status.completed, true);
  assert.equal(status.result.message, "as a task");
  const [head] = await next.json(["log", "lakefs://repo/main"]);
  assert.equal(head.id, status.result.id);
});

test("two servers on one home know each other's tasks and rules, and commands keep to the rules", async (t) => {
  const server = await serveHome(t);
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = server;
  const second = await serveAgain(t, server, { credential: { access_key_id, secret_access_key } });
  await withRepository(server);
  const at = "/repositories/repo/branches/main/commits/async";
  const { id } = (await api(server, "POST", at, { message: "m" })).json();
  let status = (await api(second, "GET", `${at}/${id}/status`)).json();
  while (!status.completed) status = (await api(second, "GET", `${at}/${id}/status`)).json();
  assert.equal(status.error, undefined);

  const rules = "/repositories/repo/settings/branch_protection";
  assert.equal((await api(server, "PUT", rules, [{ pattern: "ma*" }])).status, 204);
  assert.equal(
    (await second.fetch("POST", "/repositories/repo/branches/main/objects?path=x", { body: "x" })).status,
    403,
  );
  const refused = await server.run(["rm", "lakefs://repo/main/data/1"]);
  assert.equal(refused.code, 5, refused.stderr);
  assert.match(refused.stderr, /branch "main": it is protected by the rule "ma\*"/);
  await server.ok(["branch", "create", "lakefs://repo/topic", "lakefs://repo/main"]);
  await server.ok(["rm", "lakefs://repo/topic/data/1"]);
  await server.ok(["commit", "lakefs://repo/topic", "-m", "without 1"]);
  await server.ok(["merge", "lakefs://repo/topic", "lakefs://repo/main"]);
  assert.equal((await second.fetch("GET", "/repositories/repo/refs/main/objects?path=data/1")).status, 404);
});
