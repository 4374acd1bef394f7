import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { serveAgain, serveHome } from "../support/server.ts";
import { openHome } from "../support/home.ts";

const JSON_TYPE = { "content-type": "application/json" };

describe("tarn serve", () => {
  it("and the command line work on one home at once", async (t) => {
    const server = await serveHome(t);
    const body = JSON.stringify({ name: "repo", storage_namespace: "local://repo" });
    const made = await server.fetch("POST", "/repositories", { body, headers: JSON_TYPE });
    assert.equal(made.status, 201, await made.clone().text());
    await server.ok(["put", "lakefs://repo/main/from-cli", "-"], { stdin: "by the command line" });
    const read = await server.fetch("GET", "/repositories/repo/refs/main/objects?path=from-cli");
    assert.equal(await read.text(), "by the command line");
    await server.fetch("POST", "/repositories/repo/branches/main/objects?path=from-api", {
      body: "by the API",
    });
    assert.equal(await server.text(["cat", "lakefs://repo/main/from-api"]), "by the API");
    await server.ok(["commit", "lakefs://repo/main", "-m", "both"]);
    const log = await (await server.fetch("GET", "/repositories/repo/refs/main/commits")).json();
    assert.deepEqual(log.results.map((one: { message: string }) => one.message), [
      "both",
      "Repository created",
    ]);
  });

  it("moves large objects in streams, and tells a client whose upload broke off nothing good", async (t) => {
    const server = await serveHome(t, { args: ["--log-level", "warn"] });
    await server.ok(["repo", "create", "lakefs://repo"]);
    const piece = new Uint8Array(1024 * 1024).map((_, i) => i % 251);
    const pieces = 16;
    const body = new ReadableStream<Uint8Array>({
      start: () => {},
      pull: ((sent) => (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (sent++ < pieces) controller.enqueue(piece.slice());
        else controller.close();
      })(0),
    });
    const objects = "/repositories/repo/branches/main/objects";
    const init = { body, duplex: "half" } as RequestInit;
    const made = await server.fetch("POST", `${objects}?path=large`, init);
    assert.equal(made.status, 201);
    assert.equal((await made.json()).size_bytes, pieces * piece.length);
    const read = await server.fetch("GET", "/repositories/repo/refs/main/objects?path=large");
    let at = 0;
    for await (const part of read.body!) {
      for (const byte of part) if (byte !== piece[at++ % piece.length]) assert.fail(`byte ${at - 1} differs`);
    }
    assert.equal(at, pieces * piece.length);

    await breakOff(server.url, [
      `POST /api/v1${objects}?path=cut HTTP/1.1`,
      "Host: localhost",
      `Authorization: Basic ${btoa(`${server.accessKeyId}:${server.secretAccessKey}`)}`,
      "Content-Length: 1000000",
    ]);
    await breakOff(server.url, [
      `POST /api/v1${objects}?path=cut HTTP/1.1`,
      "Host: localhost",
      `Authorization: Basic ${btoa(`${server.accessKeyId}:${server.secretAccessKey}`)}`,
      "Transfer-Encoding: chunked",
    ]);
    const stat = await server.fetch("GET", "/repositories/repo/refs/main/objects/stat?path=cut");
    assert.equal(stat.status, 404);
  });

  it("keeps a path with dots and slashes as it is, and gives no way out of the home", async (t) => {
    const server = await serveHome(t);
    await server.ok(["repo", "create", "lakefs://repo"]);
    const objects = "/repositories/repo/branches/main/objects";
    for (const path of ["../../evil", "/etc/passwd", "a/./b", "a//b"]) {
      const query = `path=${encodeURIComponent(path)}`;
      assert.equal((await server.fetch("POST", `${objects}?${query}`, { body: path })).status, 201, path);
      const read = await server.fetch("GET", `/repositories/repo/refs/main/objects?${query}`);
      assert.equal(await read.text(), path);
    }
    const namespaces = [
      "local:///",
      "local:///../outside",
      "local://..",
      "local://a/../../x",
      "local://%2e%2e/x",
      "local://a%2f..%2fx",
      "local://a@b",
      "local://a?b",
      "local://a#b",
      "local://",
      "s3://bucket/x",
      "/etc",
    ];
    for (const [i, namespace] of namespaces.entries()) {
      const body = JSON.stringify({ name: `bad-${i}`, storage_namespace: namespace });
      const answer = await server.fetch("POST", "/repositories", { body, headers: JSON_TYPE });
      assert.equal(answer.status, 400, namespace);
      const { message } = await answer.json();
      assert.ok(!message.includes(server.path), message);
    }
    const outside = join(server.folder, "outside");
    const body = JSON.stringify({ name: "inside", storage_namespace: `local://${outside}` });
    assert.equal((await server.fetch("POST", "/repositories", { body, headers: JSON_TYPE })).status, 201);
    const written = await server.fetch("POST", "/repositories/inside/branches/main/objects?path=x", {
      body: "x",
    });
    assert.equal(written.status, 201);
    assert.ok(!existsSync(outside));
  });

  it("refuses equal and nested namespaces", async (t) => {
    const server = await serveHome(t);
    const create = async (name: string, namespace: string) => {
      const body = JSON.stringify({ name, storage_namespace: `local://${namespace}` });
      return (await server.fetch("POST", "/repositories", { body, headers: JSON_TYPE })).status;
    };
    assert.equal(await create("one", "a/b"), 201);
    for (const namespace of ["a/b", "a/b/", "a", "a/b/c", "a/%62"]) {
      assert.equal(await create("two", namespace), 400);
    }
    assert.equal(await create("two", "a/bc"), 201);
  });

  it("finishes what it has begun when it is told to stop, and ends well", async (t) => {
    const server = await serveHome(t);
    await server.ok(["repo", "create", "lakefs://repo"]);
    let send!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) });
    send.enqueue(new Uint8Array(1000));
    const init = { body, duplex: "half" } as RequestInit;
    const upload = server.fetch("POST", "/repositories/repo/branches/main/objects?path=slow", init);
    // The server has the request once it says so in its counts.
    const metrics = async () => await (await server.fetch("GET", "/../../metrics")).text();
    while (!(await metrics()).includes("tarn_requests_in_flight 2")) {
      await new Promise((done) => setTimeout(done, 5));
    }
    // As timeout does: to the process, and to its group.
    server.process.kill("SIGTERM");
    server.process.kill("SIGTERM");
    while (!server.log().includes('"stopping"')) await new Promise((done) => setTimeout(done, 5));
    await assert.rejects(
      fetch(`${server.url}/_health`, { headers: { connection: "close" } }).then(async (answer) => {
        if (answer.status === 503) throw new Error("stopping");
      }),
    );
    send.enqueue(new Uint8Array(1000));
    send.close();
    assert.equal((await upload).status, 201);
    assert.equal(await server.ended, 0);
    const { size_bytes: size } = await server.json(["stat", "lakefs://repo/main/slow"]);
    assert.equal(size, 2000);
  });

  it("ends at once when it is asked again later", async (t) => {
    const server = await serveHome(t);
    await server.ok(["repo", "create", "lakefs://repo"]);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(9)),
    });
    const init = { body, duplex: "half" } as RequestInit;
    const upload = server.fetch("POST", "/repositories/repo/branches/main/objects?path=slow", init);
    upload.catch(() => {});
    const metrics = async () => await (await server.fetch("GET", "/../../metrics")).text();
    while (!(await metrics()).includes("tarn_requests_in_flight 2")) {
      await new Promise((done) => setTimeout(done, 5));
    }
    server.process.kill("SIGTERM");
    while (!server.log().includes('"stopping"')) await new Promise((done) => setTimeout(done, 5));
    await new Promise((done) => setTimeout(done, 1000));
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 143);
    await assert.rejects(upload);
  });

  it("does not listen where others come from before there are credentials", async (t) => {
    const home = openHome(t);
    const refused = await home.run(["serve", "--listen", "0.0.0.0:0"]);
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /there are no credentials yet/);
  });

  it("says what is wrong with an address", async (t) => {
    const home = openHome(t);
    for (const address of ["8000", "localhost", "a b:1", "127.0.0.1:99999", "::1:80"]) {
      assert.equal((await home.run(["serve", "--listen", address])).code, 2, address);
    }
    const server = await serveHome(t);
    const taken = await home.run(["serve", "--listen", server.url.slice("http://".length)]);
    assert.equal(taken.code, 8, taken.stderr);
    assert.match(taken.stderr, /another program listens there/);
  });

  it("logs neither secrets nor its own folders, and seals what it keeps", async (t) => {
    const server = await serveHome(t);
    await server.fetch("GET", "/user");
    await fetch(`${server.url}/api/v1/user`, { headers: { authorization: "Basic eDp3cm9uZy1zZWNyZXQ=" } });
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 0);
    const log = server.log();
    for (const hidden of [server.secretAccessKey, "wrong-secret", server.folder, "Basic"]) {
      assert.ok(!log.includes(hidden), hidden);
    }
    for (const line of log.trim().split("\n")) assert.equal(typeof JSON.parse(line).level, "string");
    const database = readFileSync(`${server.path}/kv/data.mdb`);
    assert.ok(database.includes(server.accessKeyId) && !database.includes(server.secretAccessKey));
  });

  it("lets the owner of a home make another key when a secret is lost", async (t) => {
    const first = await serveHome(t);
    const again = await first.run(["auth", "setup", "other"]);
    assert.equal(again.code, 4);
    const credential = await first.json(["auth", "key", "admin"]);
    const server = await serveAgain(t, first, { credential });
    const { user } = await (await server.fetch("GET", "/user")).json();
    assert.equal(user.id, "admin");
    assert.equal((await first.run(["auth", "key", "nobody"])).code, 3);
  });

  it("shares a home with other servers: what one does, the others know at once", async (t) => {
    const first = await serveHome(t);
    const credential = { access_key_id: first.accessKeyId, secret_access_key: first.secretAccessKey };
    const second = await serveAgain(t, first, { credential });
    const body = JSON.stringify({ name: "repo", storage_namespace: "local://repo" });
    await first.fetch("POST", "/repositories", { body, headers: JSON_TYPE });
    const objects = "/repositories/repo/branches/main/objects?path=a";
    assert.equal((await second.fetch("POST", objects, { body: "by the second" })).status, 201);
    const read = await first.fetch("GET", "/repositories/repo/refs/main/objects?path=a");
    assert.equal(await read.text(), "by the second");
    assert.equal(
      (await second.fetch("DELETE", `/auth/users/admin/credentials/${first.accessKeyId}`)).status,
      204,
    );
    assert.equal((await first.fetch("GET", "/user")).status, 401);
  });

  it("sends no damaged bytes as the whole, though it has sent the object before", async (t) => {
    const server = await serveHome(t);
    await server.ok(["repo", "create", "lakefs://repo"]);
    const body = new Uint8Array(3 * 1024 * 1024).fill(7);
    await server.fetch("POST", "/repositories/repo/branches/main/objects?path=a", { body });
    const read = () => server.fetch("GET", "/repositories/repo/refs/main/objects?path=a");
    const whole = await read();
    assert.equal(whole.headers.get("content-length"), String(body.length));
    assert.deepEqual(new Uint8Array(await whole.arrayBuffer()), body);
    const stored = readdirSync(join(server.path, "storage"), { recursive: true, withFileTypes: true })
      .find((entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size === body.length)!;
    const file = join(stored.parentPath, stored.name);
    chmodSync(file, 0o600);
    writeFileSync(file, body.fill(8, 2_000_000));
    const refused = await read();
    assert.deepEqual([refused.status, await refused.json()], [500, {
      message: "internal error: checksum_mismatch",
    }]);
    while (!server.log().includes("checksum_mismatch")) await new Promise((done) => setTimeout(done, 5));
    assert.ok(!server.log().includes(server.path));
  });

  it("takes the key of sealed secrets from another file", async (t) => {
    const home = openHome(t);
    const env = { TARN_SECRET_KEY_FILE: `${home.folder}/elsewhere.key` };
    const credential = await home.json(["auth", "setup", "admin"], { env });
    const refused = await home.run(["serve", "--listen", "127.0.0.1:0"]);
    assert.equal(refused.code, 8);
    const server = await serveAgain(t, home, { credential, env });
    assert.equal((await server.fetch("GET", "/user")).status, 200);
  });
});

/** Sends the head of a request and a little of its body, then ends the connection. */
async function breakOff(url: string, head: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head.join("\r\n")}\r\n\r\n3\r\nabc\r\n`, () => setTimeout(() => socket.destroy(), 100));
    });
    socket.on("error", reject).on("close", () => resolve());
  });
}
