import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serveAgain, type ServedHome, serveHome } from "../support/server.ts";

const CLIENTS = 12;
const KILLED_AFTER = 150;

/** Has clients write until the server is killed; returns the contents that were answered, by path. */
async function writeUntilKilled(server: ServedHome): Promise<Map<string, string>> {
  const answered = new Map<string, string>();
  let isKilled = false;
  const client = async (number: number) => {
    for (let i = 0; !isKilled; i++) {
      const path = `client ${number}/${i}`, body = `${path} `.repeat(20);
      try {
        const at = `/repositories/repo/branches/main/objects?path=${encodeURIComponent(path)}`;
        const answer = await server.fetch("POST", at, { body });
        if (answer.status !== 201) throw new Error(await answer.text());
        answered.set(path, body);
        // A commit amid the writes moves them from one place to the other.
        if (number === 0 && i % 20 === 19) await commit(server);
      } catch (error) {
        if (!isKilled) throw error;
      }
      if (answered.size >= KILLED_AFTER && !isKilled) {
        isKilled = true;
        server.process.kill("SIGKILL");
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)));
  await server.ended;
  return answered;
}

async function commit(server: ServedHome): Promise<void> {
  const init = { body: JSON.stringify({ message: "m" }), headers: { "content-type": "application/json" } };
  await server.fetch("POST", "/repositories/repo/branches/main/commits", init);
}

describe("a server that is killed under load", () => {
  for (const durability of ["strict", "relaxed"]) {
    it(`has lost no ${durability} write that it answered, and the next one goes on`, async (t) => {
      const args = ["--durability", durability, "--log-level", "error"];
      const server = await serveHome(t, { args });
      await server.ok(["repo", "create", "lakefs://repo"]);
      const answered = await writeUntilKilled(server);
      assert.ok(answered.size >= KILLED_AFTER);
      const credential = { access_key_id: server.accessKeyId, secret_access_key: server.secretAccessKey };
      const next = await serveAgain(t, server, { credential, args });
      for (let turn = 0; turn < 2; turn++) {
        for (const [path, body] of answered) {
          const at = `/repositories/repo/refs/main/objects?path=${encodeURIComponent(path)}`;
          assert.equal(await (await next.fetch("GET", at)).text(), body, path);
        }
        await next.ok(["commit", "lakefs://repo/main", "-m", "what is left", "--allow-empty"]);
      }
    });
  }
});
