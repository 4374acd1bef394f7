import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { md5Hex } from "../../base/hashes.ts";
import type { Ending } from "../../tests/support/temporary.ts";
import { type TestServer, testServer } from "../testing.ts";

interface StagingServer extends TestServer {
  issue(path: string, branch?: string): Promise<string>;
  /** Stores bytes at an address, as its client would. */
  storeAt(address: string, text: string): Promise<void>;
  link(path: string, address: string, options?: LinkOptions): Promise<{ status: number; text: string }>;
}

interface LinkOptions {
  readonly text?: string;
  readonly branch?: string;
  readonly repository?: string;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

async function stagingServer(t: Ending): Promise<StagingServer> {
  const server = await testServer(t);
  const { send, engine } = server;
  for (const name of ["repo", "theirs"]) {
    const body = { name, storage_namespace: `local://${name}` };
    assert.equal((await send("POST", "/repositories", { body })).status, 201);
  }
  await send("POST", "/repositories/repo/branches", { body: { name: "dev", source: "main" } });
  const root = engine.objects.locate("data").slice(0, -"data".length);
  return {
    ...server,
    async issue(path, branch = "main") {
      const at = `/repositories/repo/branches/${branch}/staging/backing?path=${encodeURIComponent(path)}`;
      const answer = await send("GET", at);
      assert.equal(answer.status, 200, answer.text);
      assert.ok(answer.json.physical_address.startsWith(`${root}data/`), answer.text);
      return answer.json.physical_address;
    },
    async storeAt(address, text) {
      await engine.objects.put(address.slice(root.length), utf8(text));
    },
    async link(
      path,
      address,
      { text = "abc", branch = "main", repository = "repo", body, headers = {} } = {},
    ) {
      const at = `/repositories/${repository}/branches/${branch}/staging/backing?path=${
        encodeURIComponent(path)
      }`;
      const told = {
        staging: { physical_address: address },
        checksum: md5Hex(utf8(text)),
        size_bytes: text.length,
        ...body,
      };
      return await send("PUT", at, { body: told, headers });
    },
  };
}

describe("a physical address", () => {
  it("is given out, written to by the client, and linked to its path", async (t) => {
    const { issue, storeAt, link, send } = await stagingServer(t);
    const address = await issue("a b/é");
    await storeAt(address, "abc");
    const body = { user_metadata: { k: "v" }, content_type: "text/x" };
    const linked = await link("a b/é", address, { body });
    assert.equal(linked.status, 200, linked.text);
    const stat = await send("GET", "/repositories/repo/refs/main/objects/stat?path=a%20b%2F%C3%A9");
    assert.deepEqual(stat.json, JSON.parse(linked.text));
    const { physical_address: at, size_bytes: size, metadata, content_type: type } = stat.json;
    assert.deepEqual([at, size, metadata, type], [address, 3, { k: "v" }, "text/x"]);
    assert.equal((await send("GET", "/repositories/repo/refs/main/objects?path=a%20b%2F%C3%A9")).text, "abc");
  });

  it("is good once, also for many at once", async (t) => {
    const { issue, storeAt, link } = await stagingServer(t);
    const address = await issue("x");
    await storeAt(address, "abc");
    const answers = await Promise.all(Array.from({ length: 8 }, () => link("x", address)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(400)]);
    assert.equal((await link("x", address)).status, 400);
  });

  it("is good for its repository, branch and path alone", async (t) => {
    const { issue, storeAt, link } = await stagingServer(t);
    const address = await issue("x");
    await storeAt(address, "abc");
    assert.equal((await link("y", address)).status, 400);
    assert.equal((await link("x", address, { branch: "dev" })).status, 400);
    assert.equal((await link("x", address, { repository: "theirs" })).status, 400);
    assert.equal((await link("x", address)).status, 200);
  });

  it("expires", async (t) => {
    const { issue, storeAt, link, engine } = await stagingServer(t);
    const address = await issue("x");
    await storeAt(address, "abc");
    engine.clock.advance(24 * 60 * 60 * 1000);
    assert.equal((await link("x", address)).status, 400);
  });

  it("must hold what is told of it", async (t) => {
    const { issue, storeAt, link } = await stagingServer(t);
    assert.equal((await link("x", await issue("x"))).status, 400);
    for (const body of [{ size_bytes: 4 }, { checksum: "0".repeat(32) }, { size_bytes: -1 }]) {
      const address = await issue("x");
      await storeAt(address, "abc");
      assert.equal((await link("x", address, { body })).status, 400, JSON.stringify(body));
    }
  });

  it("is linked under a condition as an upload is", async (t) => {
    const { issue, storeAt, link } = await stagingServer(t);
    const status = async (headers: Record<string, string>) => {
      const address = await issue("x");
      await storeAt(address, "abc");
      return (await link("x", address, { headers })).status;
    };
    assert.equal(await status({ "if-match": "*" }), 412);
    assert.equal(await status({ "if-none-match": "*" }), 200);
    assert.equal(await status({ "if-none-match": "*" }), 412);
    assert.equal(await status({ "if-match": `"${md5Hex(utf8("abc"))}"` }), 200);
    assert.equal(await status({ "if-match": '"other"' }), 412);
  });

  it("is not given out for what is no branch or no path, or with a signature", async (t) => {
    const { send } = await stagingServer(t);
    const status = async (branch: string, query: string) =>
      (await send("GET", `/repositories/repo/branches/${branch}/staging/backing?${query}`)).status;
    assert.equal(await status("none", "path=x"), 404);
    assert.equal(await status("main", "path="), 400);
    assert.equal(await status("main", ""), 400);
    assert.equal(await status("main", "path=x&presign=true"), 501);
  });
});

describe("the attack of linking an address that was not issued", () => {
  it("reaches no other object, file or repository", async (t) => {
    const { issue, storeAt, link, send, engine } = await stagingServer(t);
    const secret = await send("POST", "/repositories/theirs/branches/main/objects?path=secret", {
      body: "abc",
    });
    const own = await send("POST", "/repositories/repo/branches/main/objects?path=own", { body: "abc" });
    await send("POST", "/repositories/repo/branches/main/commits", { body: { message: "m" } });
    const issued = await issue("x");
    await storeAt(issued, "abc");
    const id = issued.slice(issued.lastIndexOf("/") + 1);
    const root = engine.objects.locate("data").slice(0, -"data".length);
    const metaRange = (await send("GET", "/repositories/repo/branches/main")).json.commit_id;
    const { meta_range_id: range } = (await send("GET", `/repositories/repo/commits/${metaRange}`)).json;
    const attacks = [
      secret.json.physical_address,
      own.json.physical_address,
      `${root}_lakefs/${range}`,
      `${root}_lakefs/${id}`,
      `${root}data/../_lakefs/${range}`,
      issued.replace("/data/", "/data/./"),
      issued.replace("/data/", "/data/x/../"),
      issued.replace("/data/", "/data/%2e%2e/data/"),
      issued.replace("/data/", "//data/"),
      `${issued}/`,
      `${issued}?x`,
      `${issued}#x`,
      ` ${issued}`,
      issued.slice(root.length),
      `s3://bucket/${id}`,
      `local:///etc/${id}`,
      id,
      "/etc/passwd",
      "local:///etc/passwd",
      "x".repeat(100_000),
      "\0",
      "..",
    ];
    for (const address of attacks) {
      const answer = await link("x", address);
      assert.equal(answer.status, 400, address.slice(0, 100));
      assert.ok(!answer.text.includes("etc"), answer.text);
    }
    assert.equal((await send("GET", "/repositories/repo/refs/main/objects/stat?path=x")).status, 404);
    // None of them has used it up.
    assert.equal((await link("x", issued)).status, 200);
  });

  it("has no other way in: none is staged that was not given out, and none is imported", async (t) => {
    const { send, issue, storeAt } = await stagingServer(t);
    const secret = await send("POST", "/repositories/theirs/branches/main/objects?path=secret", {
      body: "abc",
    });
    const body = { physical_address: secret.json.physical_address, checksum: "x", size_bytes: 3 };
    const staged = await send("PUT", "/repositories/repo/branches/main/objects?path=x", { body });
    assert.equal(staged.status, 400, staged.text);
    const own = { physical_address: await issue("x"), checksum: md5Hex(utf8("abc")), size_bytes: 3 };
    await storeAt(own.physical_address, "abc");
    const path = "/repositories/repo/branches/main/objects?path=x";
    const done = await send("PUT", path, { body: { ...own, metadata: { k: "v" } } });
    assert.deepEqual([done.status, done.json.metadata], [201, { k: "v" }], done.text);
    assert.equal((await send("PUT", path, { body: own })).status, 400);
    const imported = {
      paths: [{ path: secret.json.physical_address, destination: "x", type: "object" }],
      commit: { message: "m" },
    };
    assert.equal(
      (await send("POST", "/repositories/repo/branches/main/import", { body: imported })).status,
      501,
    );
  });
});
