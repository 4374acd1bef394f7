import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Send, type TestServer, testServer } from "../testing.ts";
import type { Ending } from "../../tests/support/temporary.ts";

async function withRepository(t: Ending): Promise<TestServer> {
  const server = await testServer(t);
  const body = { name: "repo", storage_namespace: "local://repo" };
  assert.equal((await server.send("POST", "/repositories", { body })).status, 201);
  return server;
}

async function commit(send: Send, path: string, message: string) {
  await send("POST", `/repositories/repo/branches/main/objects?path=${path}`, { body: message });
  const made = await send("POST", "/repositories/repo/branches/main/commits", { body: { message } });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

const ids = (answer: { json: { results: { id: string }[] } }) => answer.json.results.map(({ id }) => id);

describe("repositories", () => {
  it("are made, listed in pages, searched and deleted", async (t) => {
    const { send } = await testServer(t);
    for (const name of ["one", "two", "twofold"]) {
      const body = { name, storage_namespace: `local://${name}`, default_branch: "trunk" };
      const made = await send("POST", "/repositories", { body });
      assert.deepEqual([made.status, made.json.id, made.json.default_branch], [201, name, "trunk"]);
      assert.equal(made.json.storage_namespace, `local://${name}`);
    }
    assert.deepEqual(ids(await send("GET", "/repositories")), ["one", "two", "twofold"]);
    assert.deepEqual(ids(await send("GET", "/repositories?amount=1&after=one")), ["two"]);
    assert.deepEqual(ids(await send("GET", "/repositories?prefix=two")), ["two", "twofold"]);
    assert.deepEqual(ids(await send("GET", "/repositories?search=fol")), ["twofold"]);
    assert.equal((await send("DELETE", "/repositories/two")).status, 204);
    assert.equal((await send("GET", "/repositories/two")).status, 404);
    assert.equal((await send("DELETE", "/repositories/two")).status, 404);
  });

  it("carry metadata, changed pair by pair and gone with them", async (t) => {
    const { send } = await withRepository(t);
    const path = "/repositories/repo/metadata";
    assert.deepEqual((await send("GET", path)).json, {});
    const set = (metadata: Record<string, unknown>) => send("POST", path, { body: { metadata } });
    assert.equal((await set({ a: "1", b: "2" })).status, 204);
    await Promise.all(["c", "d", "e"].map((key) => set({ [key]: key })));
    assert.equal((await send("DELETE", path, { body: { keys: ["a", "none"] } })).status, 204);
    assert.deepEqual((await send("GET", path)).json, { b: "2", c: "c", d: "d", e: "e" });
    assert.equal((await set({ n: 5 })).status, 400);
    assert.equal((await set({ n: "x".repeat(70_000) })).status, 400);
    await send("DELETE", "/repositories/repo");
    assert.equal((await send("GET", path)).status, 404);
    await send("POST", "/repositories", { body: { name: "repo", storage_namespace: "local://again" } });
    assert.deepEqual((await send("GET", path)).json, {});
  });

  it("are refused when the name is taken or bad, or what is wanted is not built", async (t) => {
    const { send } = await withRepository(t);
    const status = async (body: Record<string, unknown>, query = "") =>
      (await send("POST", `/repositories${query}`, { body: { storage_namespace: "local://x", ...body } }))
        .status;
    assert.equal(await status({ name: "repo" }), 409);
    for (const name of ["", "a", "A-name", "-x-", "with_underscore"]) {
      assert.equal(await status({ name }), 400, name);
    }
    assert.equal(await status({ name: "bare" }, "?bare=true"), 501);
    assert.equal(await status({ name: "reading", read_only: true }), 501);
    assert.equal(await status({ name: "nowhere", storage_namespace: "local:///" }), 400);
  });

  it("lie in the home's storage, however many slashes a client writes", async (t) => {
    const { send } = await testServer(t);
    const body = { name: "slashed", storage_namespace: "local:///etc/x" };
    assert.equal((await send("POST", "/repositories", { body })).json.storage_namespace, "local://etc/x");
    const same = { name: "other", storage_namespace: "local://etc/x" };
    assert.equal((await send("POST", "/repositories", { body: same })).status, 400);
  });
});

describe("branches and tags", () => {
  it("are made, listed, shown and deleted, whatever is in their names", async (t) => {
    const { send } = await withRepository(t);
    const { id } = await commit(send, "a", "first");
    const made = await send("POST", "/repositories/repo/branches", { body: { name: "f/x", source: "main" } });
    assert.deepEqual([made.status, made.text], [201, id]);
    assert.deepEqual((await send("GET", "/repositories/repo/branches/f%2Fx")).json, {
      id: "f/x",
      commit_id: id,
    });
    assert.deepEqual(ids(await send("GET", "/repositories/repo/branches?amount=1")), ["f/x"]);
    const again = await send("POST", "/repositories/repo/branches", {
      body: { name: "f/x", source: "main" },
    });
    assert.equal(again.status, 409);
    assert.equal((await send("DELETE", "/repositories/repo/branches/main")).status, 400);
    assert.equal((await send("DELETE", "/repositories/repo/branches/f%2Fx")).status, 204);
    assert.equal((await send("GET", "/repositories/repo/branches/f%2Fx")).status, 404);

    const tagged = await send("POST", "/repositories/repo/tags", { body: { id: "v.1", ref: "main~0" } });
    assert.deepEqual([tagged.status, tagged.json], [201, { id: "v.1", commit_id: id }]);
    assert.deepEqual(ids(await send("GET", "/repositories/repo/tags?prefix=v")), ["v.1"]);
    assert.equal(
      (await send("POST", "/repositories/repo/tags", { body: { id: "v.1", ref: "main" } })).status,
      409,
    );
    assert.equal((await send("GET", "/repositories/repo/refs/v.1/objects?path=a")).text, "first");
    assert.equal((await send("DELETE", "/repositories/repo/tags/v.1")).status, 204);
    assert.equal((await send("GET", "/repositories/repo/tags/v.1")).status, 404);
  });
});

describe("commits", () => {
  it("carry message, metadata, date and who is logged in", async (t) => {
    const { send } = await withRepository(t);
    await send("POST", "/repositories/repo/branches/main/objects?path=a", { body: "1" });
    const body = { message: "m", metadata: { k: "v" }, date: 1_700_000_000 };
    const { json } = await send("POST", "/repositories/repo/branches/main/commits", { body });
    const { message, metadata, creation_date: date, committer, version, generation } = json;
    assert.deepEqual([message, metadata, date, committer], ["m", { k: "v" }, 1_700_000_000, "admin"]);
    assert.deepEqual([version, generation], [1, 2]);
    assert.deepEqual((await send("GET", `/repositories/repo/commits/${json.id}`)).json, json);
    assert.equal((await send("GET", "/repositories/repo/commits/none")).status, 404);
  });

  it("of nothing are refused unless that is wanted", async (t) => {
    const { send } = await withRepository(t);
    const path = "/repositories/repo/branches/main/commits";
    assert.equal((await send("POST", path, { body: { message: "m" } })).status, 400);
    assert.equal((await send("POST", path, { body: { message: "m", allow_empty: true } })).status, 201);
  });
});

describe("the log", () => {
  it("comes in pages, and only of what was asked for", async (t) => {
    const { send } = await withRepository(t);
    const made = [];
    for (const path of ["a", "d/b", "d/c", "a"]) {
      made.unshift((await commit(send, path, `of ${path} ${made.length}`)).id);
    }
    const log = async (query: string) =>
      ids(await send("GET", `/repositories/repo/refs/main/commits?${query}`));
    const all = await log("");
    assert.deepEqual(all.slice(0, 4), made);
    const paged: string[] = [];
    for (let after = ""; paged.length < 10;) {
      const { json } = await send("GET", `/repositories/repo/refs/main/commits?amount=2&after=${after}`);
      paged.push(...json.results.map(({ id }: { id: string }) => id));
      after = json.pagination.next_offset;
      if (!json.pagination.has_more) break;
    }
    assert.deepEqual(paged, all);
    assert.deepEqual(await log("objects=a"), [made[0], made[3]]);
    assert.deepEqual(await log("prefixes=d/&first_parent=true"), [made[1], made[2]]);
    assert.deepEqual(await log("objects=a&objects=d/b"), [made[0], made[2], made[3]]);
    assert.deepEqual(await log(`stop_at=${made[2]}`), [made[0], made[1], made[2]]);
    const limited = await send("GET", "/repositories/repo/refs/main/commits?amount=1&limit=true");
    assert.equal(limited.json.pagination.has_more, false);
    assert.equal((await send("GET", "/repositories/repo/refs/main/commits?since=junk")).status, 400);
    assert.deepEqual(await log("objects=&prefixes="), all);
    assert.deepEqual(await log("since=2100-01-01T00:00:00Z"), []);
    assert.equal((await send("GET", "/repositories/repo/refs/none/commits")).status, 404);
  });
});
