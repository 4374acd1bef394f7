/** What keeps tenants apart: for each rule an attack that fails. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadText } from "../config/testing.ts";
import { resolverOf, resolverProblems } from "./testing.ts";

const CONFIG = `
stores:
  github: {driver: github}
  lakefs-shared: {driver: lakefs}
schemes:
  data: {parts: [org, domain], rest: path, target: "lakefs-{org}://{org}-data-{domain}/{ref}/{path}", ref: main, match: {org: "[a-z0-9]{1,20}", domain: "[a-z0-9-]+"}, tenant: org}
  late: {parts: [domain, org], rest: path, target: "github://{org}/{domain}/{path}", tenant: org}
  code: {parts: [org, repo, env], rest: path, target: "github://{org}/{repo}/{path}", ref: "{env}", pass_selector: true}
cache: {root: /shared, max_size: 1GB}
tenants:
  acme:
    stores: {lakefs-acme: {driver: lakefs, profile: acme}, s3-acme: {driver: s3}}
    stages: {"data://acme/x/t": {production: "tag:v1"}}
    entries: {"data://acme/x/old": "s3-acme://acme-old/{ref}/t"}
    cache: {root: /acme}
  globex:
    stores: {lakefs-globex: {driver: lakefs, profile: "\${oc.env:GLOBEX_SECRET}"}}
    stages: {"data://globex/x/t": {production: "tag:v9"}}
    cache: {root: /globex}
admin:
  stores: {lakefs: {driver: lakefs, profile: root}}
  cache: {root: /admin}
`;

describe("a tenant's view", () => {
  it("holds the shared sections and the tenant's part, and nothing of others", async () => {
    const config = await loadText(CONFIG, { tenant: "acme" });
    assert.ok(config.stores.has("lakefs-acme") && config.stores.has("lakefs-shared"));
    assert.ok(!config.stores.has("lakefs-globex"));
    // The admin's store is not there; what is built in under that name is.
    assert.equal(config.stores.get("lakefs")!.driver, "graveler");
    assert.deepEqual(config.stages.map(({ uri }) => uri), ["data://acme/x/t"]);
    assert.deepEqual(config.cache, { root: "/acme", maxBytes: 1e9 });
  });

  it("is cut before anything is filled in: another part's variables and mistakes are not met", async () => {
    await loadText(CONFIG, { tenant: "acme" });
    await assert.rejects(loadText(CONFIG, { tenant: "globex" }), /GLOBEX_SECRET/);
    await assert.rejects(loadText(CONFIG), /GLOBEX_SECRET/);
    const broken = CONFIG.replace("cache: {root: /globex}", "cahce: {rot: 1}\n    stores: 5");
    await loadText(broken.replace(/^ {4}stores: \{lakefs-globex.*$/m, ""), { tenant: "acme" });
  });

  it("of the admin holds every part", async () => {
    const config = await loadText(CONFIG, { variables: { GLOBEX_SECRET: "globex" } });
    for (const name of ["lakefs-acme", "lakefs-globex", "lakefs", "s3-acme"]) {
      assert.ok(config.stores.has(name));
    }
    assert.equal(config.stores.get("lakefs")!.driver, "lakefs");
    assert.equal(config.stages.length, 2);
    assert.deepEqual(config.cache, { root: "/admin", maxBytes: 1e9 });
  });

  it("of nobody is refused, and tells no other names", async () => {
    for (const tenant of ["acne", "", "__proto__", "constructor", "acme/", "Acme"]) {
      await assert.rejects(loadText(CONFIG, { tenant }), (error: { code: string; message: string }) => {
        assert.equal(error.code, "tenant_not_found", tenant);
        assert.ok(!error.message.includes("globex"));
        return true;
      });
    }
  });

  it("refuses a URI of another org, and takes those of schemes that serve every tenant", async () => {
    const resolver = await resolverOf(CONFIG, { tenant: "acme" });
    assert.equal(resolver.resolve("data://acme/x/a").text, "lakefs-acme://acme-data-x/main/a");
    for (const uri of ["data://globex/x/a", "data://globex/x/t?at=stage:production", "data://acm%65x/x/a"]) {
      assert.throws(() => resolver.resolve(uri), { kind: "forbidden", code: "other_tenant" }, uri);
    }
    assert.equal(
      resolver.resolve("code://globex/repo/main/a").text,
      "github://globex/repo/a?at=branch:main",
    );
  });

  it("resolves an org without a store to none", async () => {
    const variables = { GLOBEX_SECRET: "globex" };
    const admin = await resolverOf(CONFIG, { variables });
    assert.throws(() => admin.resolve("data://initech/x/a"), { code: "store_not_found" });
    // Nothing but the part in the name of the store decides.
    assert.equal(admin.resolve("data://acme/globex/a").uri.scheme, "lakefs-acme");
  });
});

describe("the field in a store's name takes a plain value only", () => {
  const wide = CONFIG.replace('org: "[a-z0-9]{1,20}"', 'org: ".*"');

  it("so that no two values give one store, and none a built-in one", async () => {
    const resolver = await resolverOf(wide, { variables: { GLOBEX_SECRET: "globex" } });
    for (
      const org of ["ACME", "acme-x", "acm%C3%A9", "acme.", "acme+", "a%20b", "shared%00x".slice(0, 6) + "_"]
    ) {
      assert.throws(
        () => resolver.resolve(`data://${org}/x/a`),
        /must be lowercase letters and digits only/,
        org,
      );
    }
    assert.throws(() => resolver.resolve("data://shared/x/a?at=tag:a/b"), { code: "selector_unusable" });
  });
});

const part = (of: string, lines: string) =>
  CONFIG.replace(/tenants:[\s\S]*?admin:/, `tenants:\n  ${of}:\n${lines.replace(/^/gm, "    ")}\nadmin:`);

/** A tenant's part that would pass for another's, and what is said of it. */
const ATTACKS: readonly [name: string, lines: string, says: RegExp][] = [
  ["defines another's store", "stores: {lakefs-globex: {driver: lakefs}}", /must end with "-acme"/],
  [
    "defines a store with its name inside",
    "stores: {acme-lakefs: {driver: lakefs}}",
    /must end with "-acme"/,
  ],
  [
    "defines a store whose name ends alike",
    "stores: {lakefs-notacme: {driver: lakefs}}",
    /must end with "-acme"/,
  ],
  ["defines a built-in store", "stores: {lakefs: {driver: lakefs}}", /must end with "-acme"/],
  [
    "points another's stage",
    'stages: {"data://globex/x/t": {production: "tag:v1"}}',
    /its org must be "acme"/,
  ],
  ["points a stage of nobody", 'stages: {"code://acme/r/main": {p: "tag:v1"}}', /are nobody's/],
  [
    "leads another's name",
    'entries: {"data://globex/x/t": "lakefs-acme://acme-x/{ref}/t"}',
    /its org must be "acme"/,
  ],
  [
    "leads another's names",
    'entries: {"data://globex/": "lakefs-acme://acme-x/{ref}/{path}"}',
    /its org must be "acme"/,
  ],
  [
    "leads names that end before the org",
    'entries: {"late://x/": "lakefs-acme://acme-x/{path}"}',
    /its org must be "acme"/,
  ],
  ["leads names of nobody", 'entries: {"code://acme/r/main/x": "lakefs-acme://acme-x/t"}', /are nobody's/],
  [
    "leads to a shared store",
    'entries: {"data://acme/x/t": "lakefs-shared://acme-x/t"}',
    /must be named …-acme/,
  ],
  ["leads to a built-in store", 'entries: {"data://acme/x/t": "s3://acme-x/t"}', /must be named …-acme/],
  [
    "leads to another's bucket",
    'entries: {"data://acme/x/t": "lakefs-acme://globex-x/t"}',
    /must be named acme or acme-…/,
  ],
  [
    "leads to a bucket named alike",
    'entries: {"data://acme/x/t": "lakefs-acme://acmeglobex/t"}',
    /must be named acme or acme-…/,
  ],
  [
    "hides a bucket's name",
    'entries: {"data://acme/x/t": "lakefs-acme://%67lobex/t"}',
    /must be named acme or acme-…/,
  ],
  [
    "leaves its bucket",
    'entries: {"data://acme/x/t": "lakefs-acme://acme-x/../globex-x/t"}',
    /"\." and "\.\."/,
  ],
  [
    "lets a ref pick the bucket",
    'entries: {"data://acme/x/t": "lakefs-acme://acme-{ref}/t"}',
    /must be named acme or acme-…/,
  ],
  [
    "lets a variable pick the place",
    'entries: {"data://acme/x/t": "lakefs-acme://acme-x/${oc.env:X,a}"}',
    /no \$\{…\}/,
  ],
];

describe("a tenant's part is refused that", () => {
  for (const [name, lines, says] of ATTACKS) {
    it(name, async () => {
      const text = part(
        "acme",
        `${lines.startsWith("stores") ? "" : "stores: {lakefs-acme: {driver: lakefs}}\n"}${lines}`,
      );
      // In the tenant's own view and in the admin's.
      for (const tenant of ["acme", undefined]) {
        const problems = await resolverProblems(text, { tenant });
        assert.match(problems.join("\n"), says);
        assert.match(problems.join("\n"), /"tenants\.acme\./);
      }
    });
  }

  it("is named so that another's stores could end alike", async () => {
    assert.match(
      (await resolverProblems(part("a-acme", "stores: {}"))).join("\n"),
      /lowercase letters and digits/,
    );
  });
});

describe("one name has one place", () => {
  const both = (section: string, shared: string, own: string) =>
    resolverProblems(
      `${
        CONFIG.replace(/tenants:[\s\S]*$/, "").replace(
          /^stores:\n/m,
          "stores:\n  lakefs-acme: {driver: lakefs}\n",
        )
      }${section === "stores" ? "" : `${section}: {${shared}}\n`}tenants: {acme: {${section}: {${own}}}}\n`,
    );

  it("a store, stage or entry in two parts is refused", async () => {
    assert.match(
      (await both("stores", "", "lakefs-acme: {driver: s3}")).join("\n"),
      /stands in another part: stores.lakefs-acme/,
    );
    const stage = '"data://acme/x/t": {p: "tag:v1"}';
    assert.match((await both("stages", stage, stage)).join("\n"), /stands in another part: stages/);
    const entry = '"data://acme/x/t": "lakefs-acme://acme-x/t"';
    assert.match((await both("entries", entry, entry)).join("\n"), /stands in another part: entries/);
  });

  it("however the name is written", async () => {
    const stage = (uri: string) => `"${uri}": {p: "tag:v1"}`;
    const slash = await both("stages", stage("data://acme/x/t"), stage("data://acme/x/t/"));
    assert.match(slash.join("\n"), /the same URI stands in another place/);
    const encoded = await both("stages", stage("data://acme/x/t"), stage("data://acm%65/x/%74"));
    assert.match(encoded.join("\n"), /the same URI stands in another place/);
    const entry = await both(
      "entries",
      '"data://acme/x/t": "lakefs-acme://acme-x/t"',
      '"data://acme/x/%74": "lakefs-acme://acme-y/t"',
    );
    assert.match(entry.join("\n"), /the same name stands in another place/);
  });
});
