import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { exchange, signed } from "../../server/gateway/testing.ts";
import { type Home, openHome } from "../support/home.ts";
import { serveAgain, type ServedHome } from "../support/server.ts";
import type { Ending } from "../support/temporary.ts";

type Credential = Parameters<typeof serveAgain>[2]["credential"];

async function begin(t: Ending, s3: string): Promise<{ home: Home; credential: Credential }> {
  const home = openHome(t);
  const credential = await home.json(["auth", "setup", "ann"]);
  await home.ok(["repo", "create", "lakefs://data"]);
  writeFileSync(join(home.path, "config.yaml"), `s3: {${s3}}\n`);
  return { home, credential };
}

async function put(server: ServedHome, target: string, body: string): Promise<void> {
  const port = Number(server.url.split(":").at(-1));
  const request = signed({ method: "PUT", target, port, credential: server, nowMs: Date.now() }, { body });
  const answer = await exchange(port, { method: "PUT", ...request, body: new TextEncoder().encode(body) });
  assert.equal(answer.status, 200, answer.text);
}

/** Returns the commits of the default branch but the first, newest first. */
async function commits(home: Home): Promise<{ message: string; committer: string }[]> {
  return (await home.json(["log", "lakefs://data/main"])).slice(0, -1);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("it never came");
}

describe("what is written through S3 is committed by itself", () => {
  it("when nothing was written for a while, in the name of the key's owner", async (t) => {
    const { home, credential } = await begin(t, "buckets: branch, auto_commit: idle 1");
    const server = await serveAgain(t, home, { credential });
    await put(server, "/data/a", "a");
    await put(server, "/data/b", "b");
    // Where a second passes between the two, each has a commit.
    await until(async () => (await home.run(["cat", "lakefs://data/main@/b"])).code === 0);
    assert.equal(await home.text(["cat", "lakefs://data/main@/b"]), "b");
    assert.deepEqual([...new Set((await commits(home)).map(({ committer }) => committer))], ["ann"]);
  });

  it("by the next server, when one was killed", async (t) => {
    const { home, credential } = await begin(t, "buckets: branch, auto_commit: idle 3600");
    const killed = await serveAgain(t, home, { credential });
    await put(killed, "/data/a", "a");
    killed.process.kill("SIGKILL");
    await killed.ended;
    assert.deepEqual(await commits(home), []);
    await serveAgain(t, home, { credential });
    await until(async () => (await commits(home)).length === 1);
    assert.equal((await commits(home))[0]!.committer, "ann");
  });

  it("when the server stops", async (t) => {
    const { home, credential } = await begin(t, "auto_commit: every 3600");
    const server = await serveAgain(t, home, { credential });
    await put(server, "/data/main/a", "a");
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 0);
    assert.equal((await commits(home)).length, 1);
  });

  it("never, if that is not set", async (t) => {
    const { home, credential } = await begin(t, "buckets: branch");
    const server = await serveAgain(t, home, { credential });
    await put(server, "/data/a", "a");
    server.process.kill("SIGTERM");
    await server.ended;
    assert.deepEqual(await commits(home), []);
    assert.equal(await home.text(["cat", "lakefs://data/main/a"]), "a");
  });
});
