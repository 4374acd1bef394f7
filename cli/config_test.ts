import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { testCli } from "./testing.ts";

const CONFIG = `stores:
  lakefs-acme: {driver: lakefs, profile: acme}
  files: {driver: file, root: "\${oc.env:DATA,/srv/data}"}
schemes:
  data: {parts: [org], rest: path, target: "lakefs-{org}://{org}-data/{ref}/{path}", ref: main, match: {org: "[a-z0-9]+"}, tenant: org}
tenants:
  globex: {stores: {lakefs-globex: {driver: lakefs, profile: "\${oc.env:GLOBEX,globex}"}}}
  initech: {}
`;

describe("config check", () => {
  it("says that all is in order, and how much there is", async (t) => {
    const cli = testCli(t);
    writeFileSync(join(cli.folder, "ok.yaml"), CONFIG);
    const { code, out } = await cli.run("config", "check", "--config", "ok.yaml");
    assert.equal(code, 0);
    assert.equal(out, "ok.yaml is in order: 3 stores, 1 scheme, 0 entries, stages of 0 names, 2 tenants\n");
    const tenant = await cli.run("config", "check", "--config", "ok.yaml", "--tenant", "initech");
    assert.match(tenant.out, /2 stores/);
  });

  it("says every problem with file, line and column, and the near name, and exits with 1", async (t) => {
    const cli = testCli(t);
    writeFileSync(
      join(cli.folder, "bad.yaml"),
      `stores:
  s3-acme: {driver: s3, regoin: eu}
schemes:
  data: {parts: [org], target: "s3-acme://{og}/x"}
  more: {parts: [org], target: "s3-amce://{org}/x"}
tenants:
  acme: {stores: {lakefs-globex: {driver: lakefs, profile: "\${oc.env:NONE}"}}}
`,
    );
    const { code, out, err } = await cli.run("config", "check", "--config", "bad.yaml");
    assert.equal(code, 1);
    assert.equal(err, "");
    assert.deepEqual(out.replaceAll(/known are [^\n]*/g, "…").split("\n"), [
      'bad.yaml:7:19: "tenants.acme.stores.lakefs-globex": the name of a store in the part of "acme" must end with "-acme"',
      'bad.yaml:2:25: "stores.s3-acme.regoin": there is no such key; …',
      '  Did you mean "region"?',
      'bad.yaml:7:51: "tenants.acme.stores.lakefs-globex.profile": ' +
      'it reads the variable "NONE", which is not set, and gives no default',
      'bad.yaml:4:24: "schemes.data.target": there is no field "{og}"; …',
      '  Did you mean "org"?',
      'bad.yaml:5:24: "schemes.more.target": it names the store "s3-amce", which does not exist',
      '  Did you mean "s3-acme"?',
      "",
    ]);
    const json = await cli.json(["config", "check", "--config", "bad.yaml"], 1) as { problems: object[] };
    assert.deepEqual(json.problems[1], {
      line: 2,
      column: 25,
      key: "stores.s3-acme.regoin",
      why: "there is no such key; known are driver, endpoint_url, profile, region, path_style",
      suggestion: "region",
    });
  });

  it("names line and column where the file is no YAML", async (t) => {
    const cli = testCli(t);
    writeFileSync(join(cli.folder, "bad.yaml"), "a: 1\na: 2\n");
    const { code, err } = await cli.run("config", "check", "--config", "bad.yaml");
    assert.equal(code, 2);
    assert.match(err, /^tarn: Cannot use "bad.yaml": line 2, column 1: /);
  });

  it("is fine without a configuration", async (t) => {
    const { code, out } = await testCli(t).run("config", "check");
    assert.deepEqual([code, out], [0, "There is no configuration; the built-in stores work without one\n"]);
  });
});

describe("config trust", () => {
  it("is asked for by who met a configuration that could do harm, and again when it changes", async (t) => {
    const cli = testCli(t);
    const path = join(cli.folder, "tarn.yaml");
    writeFileSync(path, 'hooks: [provcat.log]\ncache: {root: "/tmp/${oc.env:USER,x}"}\n');
    const before = await cli.run("config", "check");
    assert.equal(before.code, 1);
    assert.deepEqual(before.out.split("\n"), [
      'tarn.yaml: "hooks": it names hooks; it must be trusted first',
      'tarn.yaml: "cache.root": it puts a variable into a host, an endpoint or a path; it must be trusted first',
      "  Read it, then run: tarn config trust tarn.yaml",
      "",
    ]);
    const refused = await cli.run("config", "show", "--resolved");
    assert.equal(refused.code, 5);
    assert.match(
      refused.err,
      /nobody has said that it is to be trusted\n {2}Read it, then run: tarn config trust tarn.yaml/,
    );
    // What it says as it is may be read.
    assert.match((await cli.run("config", "show")).out, /\$\{oc\.env:USER,x\}/);

    const trusted = await cli.run("config", "trust", "tarn.yaml");
    assert.equal(trusted.code, 0);
    assert.match(trusted.out, /"hooks": it names hooks\n[^]*Trusted tarn.yaml as it is now/);
    assert.equal((await cli.run("config", "check")).code, 0);
    assert.match((await cli.run("config", "show", "--resolved")).out, /root: \/tmp\/x/);

    writeFileSync(path, "hooks: [provcat.log, ./another]\n");
    assert.equal((await cli.run("config", "check")).code, 1);
  });

  it("refuses a file that is not there, or that it could not read", async (t) => {
    const cli = testCli(t);
    assert.equal((await cli.run("config", "trust", "none.yaml")).code, 3);
    writeFileSync(join(cli.folder, "bad.yaml"), "a: [");
    assert.equal((await cli.run("config", "trust", "bad.yaml")).code, 2);
  });
});

describe("config show", () => {
  it("shows all parts together as they were written, or one tenant's view", async (t) => {
    const cli = testCli(t);
    writeFileSync(join(cli.folder, "tarn.yaml"), CONFIG);
    const show = async (...more: string[]) =>
      await cli.json(["config", "show", "--config", "tarn.yaml", ...more]) as Record<
        string,
        Record<string, unknown>
      >;
    const all = await show();
    assert.deepEqual(Object.keys(all["stores"]!), ["lakefs-acme", "files", "lakefs-globex"]);
    assert.deepEqual(all["stores"]!["files"], { driver: "file", root: "${oc.env:DATA,/srv/data}" });
    const one = await show("--tenant", "initech");
    assert.deepEqual(Object.keys(one["stores"]!), ["lakefs-acme", "files"]);
    const filled = await show("--tenant", "globex", "--resolved");
    assert.deepEqual(filled["stores"]!["lakefs-globex"], { driver: "lakefs", profile: "globex" });
    const { code, err } = await cli.run("config", "show", "--config", "tarn.yaml", "--tenant", "other");
    assert.equal(code, 3);
    assert.match(err, /^tarn: Cannot find tenant "other"/);
  });

  it("shows text that is a configuration itself", async (t) => {
    const cli = testCli(t);
    writeFileSync(join(cli.folder, "tarn.yaml"), CONFIG);
    const { out } = await cli.run("config", "show", "--config", "tarn.yaml");
    writeFileSync(join(cli.folder, "again.yaml"), out);
    assert.deepEqual(
      await cli.json(["config", "show", "--config", "again.yaml"]),
      await cli.json(["config", "show", "--config", "tarn.yaml"]),
    );
    assert.equal((await cli.run("config", "show")).code, 0);
  });
});
