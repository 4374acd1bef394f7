import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testServer } from "../testing.ts";
import { BUILT_OPERATIONS } from "./mod.ts";
import { type OperationId, OPERATIONS } from "./operations.ts";

describe("the API", () => {
  it("answers 501 in its own form for every operation that is not built, and nothing else does", async (t) => {
    const { send } = await testServer(t);
    for (const id of Object.keys(OPERATIONS) as OperationId[]) {
      const [method, template] = OPERATIONS[id];
      const answer = await send(method, template.replaceAll(/\{\w+\}/g, "xyz"));
      if (BUILT_OPERATIONS.has(id)) {
        assert.notEqual(answer.text, `{"message":"operation ${id} is not built"}`, id);
      } else {assert.deepEqual([answer.status, answer.json], [501, {
          message: `operation ${id} is not built`,
        }], id);}
    }
  });

  it("answers 404 as JSON under an unknown path", async (t) => {
    const { send, sendAsNobody } = await testServer(t);
    for (const path of ["/nothing", "/repositories/r/nothing/else", "//", "//nothing", "//api/v2/config"]) {
      for (const one of [send, sendAsNobody]) {
        const answer = await one("GET", path);
        assert.equal(answer.status, 404, path);
        assert.equal(typeof answer.json.message, "string");
        assert.match(answer.headers.get("content-type")!, /^application\/json/);
      }
    }
  });

  it("lets nobody in without credentials but where it says so", async (t) => {
    const { sendAsNobody } = await testServer(t);
    for (const id of Object.keys(OPERATIONS) as OperationId[]) {
      if (BUILT_OPERATIONS.get(id)?.isPublic) continue;
      const [method, template] = OPERATIONS[id];
      const answer = await sendAsNobody(method, template.replaceAll(/\{\w+\}/g, "xyz"));
      assert.equal(answer.status, 401, id);
    }
    const open = [...BUILT_OPERATIONS.values()].filter(({ isPublic }) => isPublic).map(({ id }) => id).sort();
    assert.deepEqual(open, [
      "getAuthCapabilities",
      "getSetupState",
      "healthCheck",
      "login",
      "setup",
      "setupCommPrefs",
    ]);
  });

  it("refuses queries and bodies that are not what an operation takes", async (t) => {
    const { send } = await testServer(t);
    const bad: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ["GET", "/repositories?amount=1001"],
      ["GET", "/repositories?amount=x"],
      ["GET", "/repositories?prefix=a&prefix=b"],
      ["GET", "/repositories?prefix=%ff"],
      ["GET", "/repositories/%ff"],
      ["POST", "/repositories", "not JSON"],
      ["POST", "/repositories"],
      ["POST", "/repositories", { name: 5, storage_namespace: "local://x" }],
      ["POST", "/repositories", { name: "repo" }],
    ];
    for (const [method, path, body] of bad) {
      const answer = await send(method, path, { body });
      assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
    }
  });

  it("refuses a body that is too large, whether its length is told or not", async (t) => {
    const { send, context } = await testServer(t);
    const body = new Uint8Array(context.limits.bodyBytes + 1).fill(32);
    const told = await send("POST", "/repositories", {
      body,
      headers: { "content-length": String(body.length) },
    });
    const untold = await send("POST", "/repositories", { body });
    assert.deepEqual([told.status, untold.status], [413, 413]);
  });

  it("takes a request's ID over if it is harmless, and logs under it no secret and no query", async (t) => {
    const { send, admin, logged } = await testServer(t);
    const own = await send("GET", "/user?path=hidden", { headers: { "x-request-id": "abc-1" } });
    const made = await send("GET", "/user", { headers: { "x-request-id": 'a" evil' } });
    assert.equal(own.headers.get("x-request-id"), "abc-1");
    assert.match(made.headers.get("x-request-id")!, /^[0-9a-f]{24}$/);
    const lines = logged().trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ request_id: id }) => id), ["abc-1", made.headers.get("x-request-id")]);
    assert.deepEqual([lines[0].operation, lines[0].status, lines[0].user], ["getCurrentUser", 200, "admin"]);
    assert.ok(!logged().includes(admin.secretAccessKey) && !logged().includes("hidden"));
  });

  it("tells of a failure of its own only the code, and logs the rest", async (t) => {
    const { send, logged } = await testServer(t, {
      around: (store) =>
        new Proxy(store, {
          get(target, name) {
            if (name === "getRepository") {
              return async () => {
                throw new Error("/secret/folder is gone");
              };
            }
            const value = Reflect.get(target, name);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
    });
    const answer = await send("GET", "/repositories/repo");
    assert.deepEqual([answer.status, answer.json], [500, { message: "internal error" }]);
    assert.match(logged(), /\/secret\/folder is gone/);
  });

  it("counts what it answers, for who may know", async (t) => {
    const { send, sendAsNobody } = await testServer(t);
    await send("GET", "/config");
    assert.equal((await sendAsNobody("GET", "//metrics")).status, 401);
    const { text } = await send("GET", "//metrics");
    assert.match(text, /^tarn_requests_total\{operation="getConfig",status="200"\} 1$/m);
    assert.match(text, /^tarn_requests_in_flight 1$/m);
    assert.match(text, /^process_resident_memory_bytes [1-9][0-9]+$/m);
  });
});
