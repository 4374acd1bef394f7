/** What the tests of the API begin with. */

import assert from "node:assert/strict";
import type { Ending } from "../../tests/support/temporary.ts";
import { type Answer, type TestServer, testServer, type TestServerOptions } from "../testing.ts";

export interface TestRepository extends TestServer {
  /** Sends to a path below `/repositories/repo`, and holds the answer to a status. */
  ask(status: number, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Stages an object. */
  put(branch: string, path: string, text: string): Promise<void>;
  /** Stages an object and commits it; returns the commit ID. */
  commit(branch: string, path: string, text: string): Promise<string>;
  branch(name: string, source?: string): Promise<void>;
}

/** Opens a server with an empty repository `repo`. */
export async function testRepository(t: Ending, options: TestServerOptions = {}): Promise<TestRepository> {
  const server = await testServer(t, options);
  const body = { name: "repo", storage_namespace: "local://repo" };
  assert.equal((await server.send("POST", "/repositories", { body })).status, 201);
  const ask: TestRepository["ask"] = async (status, method, path, sent) => {
    const answer = await server.send(
      method,
      `/repositories/repo${path}`,
      sent === undefined ? {} : { body: sent },
    );
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    return answer;
  };
  const put = async (branch: string, path: string, text: string) => {
    await ask(
      201,
      "POST",
      `/branches/${encodeURIComponent(branch)}/objects?path=${encodeURIComponent(path)}`,
      text,
    );
  };
  return {
    ...server,
    ask,
    put,
    async commit(branch, path, text) {
      await put(branch, path, text);
      const at = `/branches/${encodeURIComponent(branch)}/commits`;
      return (await ask(201, "POST", at, { message: `${path}=${text}` })).json.id;
    },
    async branch(name, source = "main") {
      await ask(201, "POST", "/branches", { name, source });
    },
  };
}
