/** Configurations in a real etcd: the layout, what a tenant's reader asks for, users, TLS, and pushes that race. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { etcdctl, requireEtcd, sharedEtcd, startEtcd } from "../../tests/services/services.ts";
import { type Ending, temporaryFolder } from "../../tests/support/temporary.ts";
import { parseEtcdAddress } from "./etcd_address.ts";
import { EtcdClient } from "./etcd_client.ts";
import { keysOf } from "./etcd_layout.ts";
import { openEtcdConfig } from "./etcd_source.ts";
import type { RawConfig } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

const CONFIG = `stores:
  lakefs-acme: {driver: lakefs, endpoint_url: "http://\${oc.env:HOST,localhost}:8000"}
schemes:
  data: {parts: [org], rest: path, target: "lakefs-{org}://{org}-data/{ref}/{path}", ref: main, match: {org: "[a-z0-9]+"}, tenant: org}
entries:
hooks: [provcat.log]
tenants:
  globex: {stores: {lakefs-globex: {driver: lakefs}}, cache: {root: /globex}}
  initech:
admin: {stores: {lakefs: {driver: lakefs}}}
`;

const reader = { variable: () => undefined, userFolder: "/home/ann" };
const variable = (name: string) => ({ ROOT_PASSWORD: "toor", READER_PASSWORD: "wolf" })[name];

function open(address: string, options: { tenant?: string; folder?: string } = {}) {
  const { folder = "/", tenant } = options;
  const places = { workingFolder: folder, userConfigFolder: folder, userName: String };
  return openEtcdConfig(address, { places, variable, ...(tenant === undefined ? {} : { tenant }) });
}

const treeOf = async (text: string) => (await parseYaml(text, { origin: "x", folder: "/" })).tree;

let prefixes = 0;

/** An address in the etcd that all tests of this file share, with a prefix of its own. */
async function address(t: TestContext): Promise<{ port: number; prefix: string; url: string } | undefined> {
  if (!requireEtcd(t)) return undefined;
  const { port } = await sharedEtcd();
  const prefix = `/test/${prefixes++}`;
  return { port, prefix, url: `etcd+http://127.0.0.1:${port}${prefix}` };
}

describe("EtcdConfig", () => {
  it("keeps each section as JSON under its key, as it was written", async (t) => {
    const at = await address(t);
    if (!at) return;
    const pushed = await open(at.url).push(await treeOf(CONFIG));
    assert.deepEqual(pushed, {
      written: [
        "/stores",
        "/schemes",
        "/tenants",
        "/tenants/globex/name",
        "/tenants/globex/stores",
        "/tenants/globex/cache",
        "/tenants/initech/name",
        "/admin/stores",
      ],
      deleted: [],
    });
    const keys = etcdctl(at.port, ["get", "--prefix", "--keys-only", at.prefix]).split(/\s+/);
    assert.deepEqual(keys, [...pushed.written].map((key) => `${at.prefix}${key}`).sort());
    const value = (key: string) => etcdctl(at.port, ["get", "--print-value-only", `${at.prefix}${key}`]);
    assert.deepEqual(JSON.parse(value("/stores")), {
      "lakefs-acme": { driver: "lakefs", endpoint_url: "http://${oc.env:HOST,localhost}:8000" },
    });
    assert.equal(value("/tenants"), '["globex","initech"]');
    assert.equal(value("/tenants/initech/name"), '"initech"');
  });

  it("raw() gives what was pushed, and load() fills it in from the reader's environment", async (t) => {
    const at = await address(t);
    if (!at) return;
    const source = open(at.url);
    await source.push(await treeOf(CONFIG));
    const { tree } = await source.raw();
    assert.deepEqual(Object.keys(tree), ["stores", "schemes", "tenants", "admin"]);
    assert.deepEqual(tree["tenants"], {
      globex: { stores: { "lakefs-globex": { driver: "lakefs" } }, cache: { root: "/globex" } },
      initech: {},
    });
    const config = await source.load(reader);
    assert.equal(config.stores.get("lakefs-acme")!.options["endpoint_url"], "http://localhost:8000");
    assert.ok(config.stores.has("lakefs-globex"));
    assert.equal(config.isTrusted, true);
    // Where there is nothing, there are the built-in stores.
    assert.equal((await open(`${at.url}/none`).load(reader)).stores.size, 7);
  });

  it("deletes what a later push has not, and leaves keys that are none of a configuration", async (t) => {
    const at = await address(t);
    if (!at) return;
    const source = open(at.url);
    await source.push(await treeOf(CONFIG));
    const others = ["/notes", "/tenants/globex/notes", "/tenants/globex/x/stores", "0"];
    for (const key of others) etcdctl(at.port, ["put", `${at.prefix}${key}`, "mine"]);
    const { written, deleted } = await source.push(
      await treeOf("cache: {root: /c}\ntenants: {initech: {}}\n"),
    );
    assert.deepEqual(written, ["/cache", "/tenants", "/tenants/initech/name"]);
    assert.deepEqual([...deleted].sort(), [
      "/admin/stores",
      "/schemes",
      "/stores",
      "/tenants/globex/cache",
      "/tenants/globex/name",
      "/tenants/globex/stores",
    ]);
    const left = etcdctl(at.port, ["get", "--prefix", "--keys-only", at.prefix]).split(/\s+/);
    assert.deepEqual(left.sort(), [...written, ...others].map((key) => `${at.prefix}${key}`).sort());
  });

  it("pushes in one transaction: no reader ever sees half of one", async (t) => {
    const at = await address(t);
    if (!at) return;
    const trees = [
      await treeOf("cache: {root: /a}\nstores: {s3-a: {driver: s3}}\nadmin: {cache: {root: /a}}\n"),
      await treeOf("cache: {root: /b}\nentries: {}\nadmin: {cache: {root: /b}}\n"),
    ];
    const source = open(at.url);
    await source.push(trees[0]!);
    let isDone = false;
    const pushing = (async () => {
      for (let i = 1; i <= 60; i++) await source.push(trees[i % 2]!);
      isDone = true;
    })();
    let reads = 0;
    const other = open(at.url);
    while (!isDone) {
      const { tree } = await other.raw();
      assert.ok(trees.some((whole) => JSON.stringify(whole["cache"]) === JSON.stringify(tree["cache"])));
      assert.deepEqual(tree["admin"], { cache: tree["cache"]! });
      assert.equal("stores" in tree, (tree["cache"] as { root: string }).root === "/a");
      reads++;
    }
    await pushing;
    assert.ok(reads > 5);
  });

  it("pushes that race leave one of them whole", async (t) => {
    const at = await address(t);
    if (!at) return;
    const { port, prefix, url } = at;
    const text = (n: number) =>
      `cache: {root: /${n}}\ntenants: {t${n}: {cache: {root: /${n}}}}\nadmin: {cache: {root: /${n}}}\n`;
    for (let round = 0; round < 5; round++) {
      const results: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(
        Array.from({ length: 6 }, async (_, n) => await open(url).push(await treeOf(text(n)))),
      );
      for (const result of results) {
        if (result.status === "rejected") assert.equal(result.reason.code, "config_changed");
      }
      const left: RawConfig = await open(url).raw();
      const { root } = left.tree["cache"] as { readonly root: string };
      const whole = await treeOf(text(Number(root.slice(1))));
      assert.deepEqual(left.tree, whole);
      // Keys that no reader would look at are not left behind either.
      const keys = etcdctl(port, ["get", "--prefix", "--keys-only", prefix]).split(/\s+/);
      assert.deepEqual(keys, [...keysOf(whole).keys()].map((key) => `${prefix}${key}`).sort());
    }
  });

  it("says what etcd says when a push is more than it takes at once", async (t) => {
    const at = await address(t);
    if (!at) return;
    const tenants = Array.from({ length: 150 }, (_, n) => `t${n}: {}`).join(", ");
    await assert.rejects(open(at.url).push(await treeOf(`tenants: {${tenants}}`)), {
      kind: "invalid",
      code: "etcd_refused",
      message: /too many operations/,
    });
    assert.deepEqual((await open(at.url).raw()).tree, {});
  });

  it("refuses keys that do not hold what they must, naming them", async (t) => {
    const at = await address(t);
    if (!at) return;
    const wrong: readonly [key: string, value: string, says: RegExp, tenant?: string][] = [
      ["/stores", "{", /its key "\/stores": it is no JSON/],
      ["/stores", '{"__proto__": {}}', /its key "\/stores": it is no JSON/],
      ["/stores", "[]", /"stores": it must be names with values/],
      ["/tenants", "{}", /its key "\/tenants": it must be a list of names/],
      [
        "/tenants/acme/name",
        '"globex"',
        /its key "\/tenants\/acme\/name": it must hold the tenant's name/,
        "acme",
      ],
      ["/cache", '{"root": "relative"}', /"cache.root": it must be absolute/],
    ];
    for (const [n, [key, value, says, tenant]] of wrong.entries()) {
      etcdctl(at.port, ["put", `${at.prefix}/${n}${key}`, value]);
      await assert.rejects(open(`${at.url}/${n}`, { tenant }).load(reader), {
        code: "invalid_configuration",
        message: says,
      });
    }
  });

  it("names the tenants by their list, and believes a part only with its name", async (t) => {
    const at = await address(t);
    if (!at) return;
    await open(at.url).push(await treeOf(CONFIG));
    etcdctl(at.port, ["put", `${at.prefix}/tenants/unlisted/name`, '"unlisted"']);
    etcdctl(at.port, ["put", `${at.prefix}/tenants/nameless/stores`, "{}"]);
    assert.deepEqual(Object.keys((await open(at.url).raw()).tree["tenants"] as object), [
      "globex",
      "initech",
    ]);
    for (const tenant of ["nameless", "acme", "globex/stores", "glob", ""]) {
      await assert.rejects(open(at.url, { tenant }).load(reader), { code: "tenant_not_found" }, tenant);
    }
    assert.equal((await open(at.url, { tenant: "initech" }).load(reader)).stores.size, 8);
  });
});

describe("etcd's own users", () => {
  /** An etcd with users: `root`, and `reader`, who may read the shared sections and one tenant's part. */
  async function guarded(t: TestContext): Promise<number | undefined> {
    if (!requireEtcd(t)) return undefined;
    const server = await startEtcd();
    t.after(() => server.stop());
    const { port } = server;
    const root = open(`etcd+http://127.0.0.1:${port}/tarn`);
    await root.push(await treeOf(CONFIG.replace("globex: {", "globex2: {}\n  globex: {")));
    etcdctl(port, ["user", "add", "root:toor"]);
    etcdctl(port, ["user", "grant-role", "root", "root"]);
    etcdctl(port, ["user", "add", "reader:wolf"]);
    etcdctl(port, ["role", "add", "globex"]);
    for (const section of ["schemes", "stores", "stages", "entries", "cache"]) {
      etcdctl(port, ["role", "grant-permission", "globex", "read", `/tarn/${section}`]);
    }
    etcdctl(port, ["role", "grant-permission", "--prefix=true", "globex", "read", "/tarn/tenants/globex/"]);
    etcdctl(port, ["user", "grant-role", "reader", "globex"]);
    etcdctl(port, ["auth", "enable"]);
    return port;
  }

  it("a tenant's reader needs the shared keys and that tenant's only", async (t) => {
    const port = await guarded(t);
    if (port === undefined) return;
    const as = (user: string, name: string) =>
      `etcd+http://127.0.0.1:${port}/tarn?user=${user}&password_env=${name}`;
    const own = open(as("reader", "READER_PASSWORD"), { tenant: "globex" });
    const config = await own.load(reader);
    assert.ok(config.stores.has("lakefs-globex"));
    assert.equal(config.cache.root, "/globex");
    // Neither the list of tenants, nor another's part, nor one whose name begins alike, nor a write.
    const denied = { kind: "forbidden", code: "etcd_forbidden" };
    await assert.rejects(open(as("reader", "READER_PASSWORD")).raw(), denied);
    for (const tenant of ["initech", "globex2", "glob"]) {
      await assert.rejects(open(as("reader", "READER_PASSWORD"), { tenant }).raw(), denied);
    }
    await assert.rejects(own.push({}), denied);
    const admin = await open(as("root", "ROOT_PASSWORD")).load(reader);
    assert.ok(admin.stores.has("lakefs-globex"));

    const unknown = { kind: "unauthenticated", code: "etcd_unauthenticated" };
    await assert.rejects(open(`etcd+http://127.0.0.1:${port}/tarn`).raw(), unknown);
    await assert.rejects(open(as("reader", "ROOT_PASSWORD")).raw(), (error: Error & { code: string }) => {
      assert.equal(error.code, "etcd_unauthenticated");
      assert.ok(!/toor|wolf/.test(error.message + String(error.cause)));
      return true;
    });
    await assert.rejects(open(as("nobody", "ROOT_PASSWORD")).raw(), unknown);
    assert.throws(() => open(as("reader", "NO_SUCH")), unknown);
  });

  it("a token that has ended is asked for again", async (t) => {
    const port = await guarded(t);
    if (port === undefined) return;
    const source = open(`etcd+http://127.0.0.1:${port}/tarn?user=root&password_env=ROOT_PASSWORD`);
    await source.raw();
    const ctl = ["--user", "root:toor"];
    // Every token ends when users are asked for no longer; with other users it begins anew.
    etcdctl(port, [...ctl, "auth", "disable"]);
    etcdctl(port, ["auth", "enable"]);
    assert.ok((await source.raw()).tree["stores"]);
  });
});

describe("etcd over TLS", () => {
  it("takes a CA and a certificate of one's own, and nothing less", async (t) => {
    if (!requireEtcd(t)) return;
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "pki"));
    const server = await startEtcd(join(folder, "pki"));
    t.after(() => server.stop());
    const at = (query: string, host = "127.0.0.1") =>
      open(`etcd+https://${host}:${server.port}/tarn${query}`, { folder });
    const whole = "?ca_file=pki/ca.pem&cert_file=pki/client.pem&key_file=pki/client.key";
    await at(whole).push(await treeOf(CONFIG));
    assert.ok((await at(whole).raw()).tree["stores"]);
    const unreachable = { kind: "unavailable", code: "etcd_unavailable" };
    // Nobody vouches for the server; the client shows no certificate, or a stranger's.
    await assert.rejects(at("").raw(), unreachable);
    await assert.rejects(at("?ca_file=pki/stranger.pem").raw(), unreachable);
    await assert.rejects(at("?ca_file=pki/ca.pem").raw(), unreachable);
    await assert.rejects(
      at("?ca_file=pki/ca.pem&cert_file=pki/stranger.pem&key_file=pki/stranger.key").raw(),
      unreachable,
    );
    await assert.rejects(
      open(`etcd+http://127.0.0.1:${server.port}/tarn`).raw(),
      unreachable,
    );
    assert.throws(() => at("?ca_file=pki/none.pem"), { code: "etcd_unauthenticated", message: /none\.pem/ });
  });
});

describe("a server that is no etcd", () => {
  async function serve(t: Ending, answer: http.RequestListener): Promise<string> {
    const server = http.createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => void server.close());
    return `etcd+http://127.0.0.1:${(server.address() as { port: number }).port}/tarn`;
  }
  const unavailable = { kind: "unavailable", code: "etcd_unavailable" };

  it("is told from one, and gets no second chance with the password", async (t) => {
    const page = await serve(t, (_, response) => void response.end("<html>"));
    await assert.rejects(open(page).raw(), { ...unavailable, message: /status 200, and not as etcd does/ });
    const asked: string[] = [];
    const elsewhere = await serve(t, (request, response) => {
      asked.push(request.url!);
      response.writeHead(307, { location: "http://127.0.0.1:1/stolen" }).end();
    });
    await assert.rejects(open(`${elsewhere}?user=root&password_env=ROOT_PASSWORD`).raw(), unavailable);
    assert.deepEqual(asked, ["/v3/auth/authenticate"]);
    await assert.rejects(open("etcd+http://127.0.0.1:1/tarn").raw(), unavailable);
  });

  it("does not keep anybody waiting who says nothing, or too little at a time", async (t) => {
    const limits = { idleMs: 300, wholeMs: 900 };
    const ask = (address: string) =>
      new EtcdClient(parseEtcdAddress(address, "/"), {}, limits).transaction([]);
    const silent = await serve(t, () => {});
    await assert.rejects(ask(silent), { ...unavailable, message: /nothing came for 300 ms/ });
    const slow = await serve(t, (_, response) => {
      const timer = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(timer));
    });
    await assert.rejects(ask(slow), { ...unavailable, message: /it takes longer than 900 ms/ });
  });

  it("cannot fill the memory", async (t) => {
    const endless = await serve(t, (_, response) => {
      const piece = new Uint8Array(1024 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      more();
    });
    await assert.rejects(open(endless).raw(), { ...unavailable, message: /too large/ });
  });
});

describe("parseEtcdAddress()", () => {
  it("reads host, port, prefix and what is named", () => {
    assert.deepEqual(parseEtcdAddress("etcd+http://localhost/a/b/", "/w"), {
      shown: "etcd+http://localhost:2379/a/b",
      host: "localhost",
      port: 2379,
      prefix: "/a/b",
    });
    const text = "etcd+https://[::1]:1234/a%20b?user=u&password_file=p&ca_file=/ca";
    assert.deepEqual(parseEtcdAddress(text, "/w"), {
      shown: "etcd+https://[::1]:1234/a b",
      host: "::1",
      port: 1234,
      prefix: "/a b",
      user: "u",
      passwordFile: "/w/p",
      tls: { caFile: "/ca" },
    });
  });

  it("refuses what is malformed or would show a password, and repeats none of it", () => {
    const bad = [
      "etcd+https://host",
      "etcd+https://host/",
      "etcd+https://host//",
      "etcd://host/a",
      "etcd+https://user:secret@host/a",
      "etcd+https://host:0/a",
      "etcd+https://host:99999/a",
      "etcd+https://host/a?password=secret",
      "etcd+https://host/a?secret",
      "etcd+https://host/a?user=u",
      "etcd+https://host/a?password_env=secret",
      "etcd+https://host/a?user=u&password_env=A&password_file=B",
      "etcd+https://host/a?cert_file=c",
      "etcd+https://host/a?user=u&user=v&password_env=A",
      "etcd+https://host/a#secret",
      "etcd+https://host/100%",
      "etcd+http://host/a?ca_file=c",
      "etcd+http://etcd.example/a?user=u&password_env=A",
    ];
    for (const text of bad) {
      assert.throws(() => parseEtcdAddress(text, "/"), (error: Error & { code: string }) => {
        assert.equal(error.code, "invalid_etcd_address", text);
        assert.ok(!error.message.includes("secret"));
        return true;
      }, text);
    }
  });
});

it("a file that holds a password is read without its line end", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "password"), "toor\n");
  const server = http.createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    response.end(JSON.stringify(request.url!.includes("auth") ? { token: text } : { header: {}, code: 7 }));
    assert.ok(
      request.url!.includes("auth") || request.headers.authorization === '{"name":"root","password":"toor"}',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  const { port } = server.address() as { port: number };
  const source = open(`etcd+http://127.0.0.1:${port}/tarn?user=root&password_file=password`, { folder });
  await assert.rejects(source.raw(), { code: "etcd_forbidden" });
});
