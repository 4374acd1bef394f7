import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lossyText } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { testClock, testEngine } from "../../tests/support/test_engine.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { basic, type SendOptions, testServer } from "../testing.ts";
import { Auth, SESSION_COOKIE } from "./mod.ts";
import { LoginThrottle } from "./throttle.ts";

describe("set-up", () => {
  const body = { username: "first" };

  it("works once, from this machine and without an origin", async (t) => {
    const { sendAsNobody } = await testServer(t, { isBare: true });
    assert.equal((await sendAsNobody("GET", "/setup_lakefs")).json.state, "not_initialized");
    const made = await sendAsNobody("POST", "/setup_lakefs", { body });
    assert.equal(made.status, 200, made.text);
    const authorization = basic(made.json.access_key_id, made.json.secret_access_key);
    const user = await sendAsNobody("GET", "/user", { headers: { authorization } });
    assert.equal(user.json.user.id, "first");
    const state = (await sendAsNobody("GET", "/setup_lakefs")).json;
    assert.equal(state.state, "initialized");
    // Older SDKs fail at an RBAC of "none".
    assert.ok(!("RBAC" in state.login_config) && state.login_config.login_url, JSON.stringify(state));
    assert.equal((await sendAsNobody("POST", "/setup_lakefs", { body })).status, 409);
  });

  it("is refused to pages, to other machines, and behind a proxy, unless they hold the printed token", async (t) => {
    const { sendAsNobody, context } = await testServer(t, { isBare: true });
    const elsewhere: readonly SendOptions[] = [
      { headers: { origin: "http://localhost:8000" } },
      { headers: { origin: "null" } },
      { address: "192.0.2.7" },
      { headers: { "x-forwarded-for": "127.0.0.1" } },
      { headers: { "x-tarn-setup-token": "guessed" } },
    ];
    for (const from of elsewhere) {
      const answer = await sendAsNobody("POST", "/setup_lakefs", { body, ...from });
      assert.equal(answer.status, 403, JSON.stringify(from));
    }
    const headers = { origin: "http://localhost:8000", "x-tarn-setup-token": context.setupToken };
    const made = await sendAsNobody("POST", "/setup_lakefs", { body, headers, address: "192.0.2.7" });
    assert.equal(made.status, 200);
    assert.equal((await sendAsNobody("POST", "/setup_lakefs", { body, headers })).status, 409);
  });

  it("takes a credential of the client's own, but no short secret", async (t) => {
    const { sendAsNobody } = await testServer(t, { isBare: true });
    const key = { access_key_id: "OWNKEY", secret_access_key: "short" };
    assert.equal((await sendAsNobody("POST", "/setup_lakefs", { body: { ...body, key } })).status, 400);
    const longer = { ...key, secret_access_key: "a-longer-secret-of-mine" };
    assert.equal(
      (await sendAsNobody("POST", "/setup_lakefs", { body: { ...body, key: longer } })).status,
      200,
    );
    const headers = { authorization: basic("OWNKEY", "a-longer-secret-of-mine") };
    assert.equal((await sendAsNobody("GET", "/user", { headers })).status, 200);
  });

  it("of two at once makes one user", async (t) => {
    const { auth } = await testServer(t, { isBare: true });
    const results = await Promise.allSettled([auth.users.setUp("one"), auth.users.setUp("two")]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal((await auth.users.list({ amount: 10 })).items.length, 1);
  });

  it("that was killed half-way is finished by whoever looks next", async (t) => {
    const engine = testEngine();
    const options = {
      kv: engine.kv,
      clock: engine.clock,
      randomness: seededRandomness(1),
      secretKeyFile: join(temporaryFolder(t), "k"),
    };
    const set = engine.kv.set;
    engine.kv.set = () => Promise.reject(new Error("killed"));
    await assert.rejects(new Auth(options).users.setUp("first"), /killed/);
    engine.kv.set = set;
    const { users } = new Auth(options);
    assert.equal(await users.isSetUp(), true);
    assert.equal((await users.listCredentials("first", { amount: 10 })).items.length, 1);
  });
});

describe("credentials", () => {
  it("open nothing when key, secret, scheme or form are wrong", async (t) => {
    const { sendAsNobody, admin } = await testServer(t);
    const { accessKeyId, secretAccessKey } = admin;
    const wrong = [
      basic(accessKeyId, `${secretAccessKey}x`),
      basic(accessKeyId, ""),
      basic("", ""),
      basic("x".repeat(5000), secretAccessKey),
      "Basic",
      "Basic !!",
      "Bearer",
      "Bearer a.b.c",
      `Digest ${secretAccessKey}`,
    ];
    for (const authorization of wrong) {
      const answer = await sendAsNobody("GET", "/user", { headers: { authorization } });
      assert.equal(answer.status, 401, authorization.slice(0, 50));
      assert.match(answer.headers.get("www-authenticate")!, /^Basic /);
    }
  });

  it("lie sealed: the key-value store holds no secret, and the key's file is its owner's alone", async (t) => {
    const { engine, admin, auth } = await testServer(t);
    const more = await auth.users.createCredential("admin");
    let all = "";
    for await (const page of engine.kv.scan(new TextEncoder().encode("tarn-auth"))) {
      for (const { key, value } of page) all += lossyText(key) + lossyText(value);
    }
    assert.ok(all.includes(admin.accessKeyId) && all.includes(more.accessKeyId));
    assert.ok(!all.includes(admin.secretAccessKey) && !all.includes(more.secretAccessKey));
  });

  it("end when they are deleted, at once, with their tokens", async (t) => {
    const { send, sendAsNobody } = await testServer(t);
    const made = (await send("POST", "/auth/users/admin/credentials")).json;
    const headers = { authorization: basic(made.access_key_id, made.secret_access_key) };
    const login = await sendAsNobody("POST", "/auth/login", { body: made });
    const bearer = { authorization: `Bearer ${login.json.token}` };
    assert.equal((await sendAsNobody("GET", "/user", { headers })).status, 200);
    assert.equal((await sendAsNobody("GET", "/user", { headers: bearer })).status, 200);
    const path = `/auth/users/admin/credentials/${made.access_key_id}`;
    assert.deepEqual((await send("GET", path)).json.access_key_id, made.access_key_id);
    assert.equal((await send("DELETE", path)).status, 204);
    assert.equal((await send("GET", path)).status, 404);
    assert.equal((await sendAsNobody("GET", "/user", { headers })).status, 401);
    assert.equal((await sendAsNobody("GET", "/user", { headers: bearer })).status, 401);
  });

  it("of a deleted user are none of a later one's of that name", async (t) => {
    const { send, sendAsNobody } = await testServer(t);
    assert.equal((await send("POST", "/auth/users", { body: { id: "eve" } })).status, 201);
    assert.equal((await send("POST", "/auth/users", { body: { id: "eve" } })).status, 409);
    const made = (await send("POST", "/auth/users/eve/credentials")).json;
    const { token } = (await sendAsNobody("POST", "/auth/login", { body: made })).json;
    assert.equal((await send("DELETE", "/auth/users/eve")).status, 204);
    await send("POST", "/auth/users", { body: { id: "eve" } });
    for (const authorization of [basic(made.access_key_id, made.secret_access_key), `Bearer ${token}`]) {
      assert.equal((await sendAsNobody("GET", "/user", { headers: { authorization } })).status, 401);
    }
    assert.deepEqual((await send("GET", "/auth/users/eve/credentials")).json.results, []);
  });

  it("are listed in pages, users too", async (t) => {
    const { send } = await testServer(t);
    for (const id of ["b", "c", "d"]) await send("POST", "/auth/users", { body: { id } });
    const first = (await send("GET", "/auth/users?amount=2")).json;
    assert.deepEqual(first.results.map(({ id }: { id: string }) => id), ["admin", "b"]);
    assert.deepEqual(first.pagination, { has_more: true, next_offset: "b", results: 2, max_per_page: 1000 });
    const rest = (await send("GET", "/auth/users?amount=2&after=b")).json;
    assert.deepEqual(rest.results.map(({ id }: { id: string }) => id), ["c", "d"]);
    assert.equal(rest.pagination.has_more, false);
  });
});

describe("login", () => {
  it("gives a token and a cookie that no script reads and no other site sends", async (t) => {
    const { sendAsNobody, admin } = await testServer(t);
    const body = { access_key_id: admin.accessKeyId, secret_access_key: admin.secretAccessKey };
    const login = await sendAsNobody("POST", "/auth/login", { body });
    const cookie = login.headers.get("set-cookie")!;
    assert.match(cookie, /; HttpOnly; SameSite=Strict; /);
    const headers = { cookie: cookie.split(";")[0]! };
    assert.equal((await sendAsNobody("GET", "/user", { headers })).json.user.id, "admin");
  });

  it("by cookie writes only from our own origin", async (t) => {
    const { sendAsNobody, admin } = await testServer(t);
    const body = { access_key_id: admin.accessKeyId, secret_access_key: admin.secretAccessKey };
    const { token } = (await sendAsNobody("POST", "/auth/login", { body })).json;
    const cookie = `x=1; ${SESSION_COOKIE}=${token}`;
    const write = async (origin: Record<string, string>) =>
      (await sendAsNobody("POST", "/auth/users", { body: { id: "new" }, headers: { cookie, ...origin } }))
        .status;
    for (
      const origin of [
        "http://evil.example",
        "null",
        "http://localhost:8001",
        "http://localhost:8000.evil.example",
      ]
    ) {
      assert.equal(await write({ origin }), 403, origin);
    }
    assert.equal(await write({}), 403);
    assert.equal(await write({ origin: "http://localhost:8000" }), 201);
  });

  it("does not take a token of another key, algorithm, audience or time", async (t) => {
    const { sendAsNobody, admin, engine } = await testServer(t);
    const body = { access_key_id: admin.accessKeyId, secret_access_key: admin.secretAccessKey };
    const { token } = (await sendAsNobody("POST", "/auth/login", { body })).json;
    const status = async (text: string) =>
      (await sendAsNobody("GET", "/user", { headers: { authorization: `Bearer ${text}` } })).status;
    const [header, payload, signature] = token.split(".");
    const none = btoa(JSON.stringify({ alg: "none", typ: "JWT" })).replaceAll("=", "");
    assert.equal(await status(token), 200);
    assert.equal(await status(`${none}.${payload}.`), 401);
    assert.equal(await status(`${none}.${payload}.${signature}`), 401);
    assert.equal(
      await status(`${header}.${payload}.${signature.replace(/^./, (c: string) => c === "A" ? "B" : "A")}`),
      401,
    );
    assert.equal(await status(`${header}.${payload}`), 401);
    engine.clock.advance(8 * 24 * 3600 * 1000);
    assert.equal(await status(token), 401);
  });

  it("is slowed down after failures, for that key and address alone", async (t) => {
    const { sendAsNobody, admin } = await testServer(t);
    const attempt = async (secret: string, address: string) => {
      const headers = { authorization: basic(admin.accessKeyId, secret) };
      return await sendAsNobody("GET", "/user", { headers, address });
    };
    const failed = [];
    for (let i = 0; i < 8; i++) failed.push((await attempt("wrong", "192.0.2.1")).status);
    assert.deepEqual(failed, [401, 401, 401, 401, 401, 401, 429, 429]);
    const right = await attempt(admin.secretAccessKey, "192.0.2.1");
    assert.equal(right.status, 429);
    assert.match(right.headers.get("retry-after")!, /^[1-9]$/);
    assert.equal((await attempt(admin.secretAccessKey, "192.0.2.2")).status, 200);
  });
});

describe("LoginThrottle", () => {
  it("lets an address wait that fails with many keys, and remembers a bounded number", () => {
    const throttle = new LoginThrottle(testClock());
    for (let i = 0; i < 51; i++) throttle.failed(`key${i}`, "a");
    assert.throws(() => throttle.check("fresh", () => "a"), { code: "too_many_logins" });
    throttle.check("fresh", () => "b");
    for (let i = 0; i < 20_000; i++) throttle.failed(`key${i}`, `address${i}`);
    throttle.check("fresh", () => "a");
  });
});

describe("the key of sealed secrets", () => {
  it("must be there, whole, the right one, and its owner's alone", async (t) => {
    const kv = openMemoryKv();
    const secretKeyFile = join(temporaryFolder(t), "secret.key");
    const options = { kv, clock: testClock(), randomness: seededRandomness(3), secretKeyFile };
    await new Auth(options).checkKey();
    const { accessKeyId, secretAccessKey } = await new Auth(options).users.setUp("admin");
    assert.equal(statSync(secretKeyFile).mode & 0o777, 0o600);
    const authorization = basic(accessKeyId, secretAccessKey);
    const identify = () => new Auth(options).identify({ authorization, cookie: null, address: () => "a" });
    assert.equal((await identify())?.user.id, "admin");
    const text = readFileSync(secretKeyFile, "utf8");
    writeFileSync(secretKeyFile, text.replaceAll(/[0-9a-f]/g, "0"));
    await assert.rejects(identify(), { code: "secret_key_wrong" });
    writeFileSync(secretKeyFile, "short");
    await assert.rejects(new Auth(options).checkKey(), { code: "secret_key_invalid" });
    writeFileSync(secretKeyFile, text);
    chmodSync(secretKeyFile, 0o640);
    await assert.rejects(new Auth(options).checkKey(), { code: "secret_key_exposed" });
    await assert.rejects(new Auth({ ...options, secretKeyFile: `${secretKeyFile}2` }).checkKey(), {
      code: "secret_key_missing",
    });
  });
});

describe("Host", () => {
  it("must be this machine, the listen address or a configured name", async (t) => {
    const { sendAsNobody, context } = await testServer(t);
    const status = async (host: string) =>
      (await sendAsNobody("GET", "//_health", { headers: { host } })).status;
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "127.1.2.3", "[::1]:8000"]) {
      assert.equal(await status(host), 200, host);
    }
    for (
      const host of [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "[::2]",
        "a b",
        "localhost:x",
      ]
    ) {
      assert.equal(await status(host), 421, host);
    }
    (context.hosts as Set<string>).add("data.example");
    assert.equal(await status("Data.Example:80"), 200);
  });
});
