import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadText, placedProblemsOf, problemsOf } from "./testing.ts";

/** The whole example of the specification, its forms as they are fixed. */
const WHOLE = `stores:
  files: {driver: file, root: /srv/data}
  lakefs: {driver: graveler}
  lakefs-acme: {driver: lakefs, endpoint_url: https://lakefs.acme.example, profile: acme}
  s3-acme: {driver: s3, profile: acme, region: eu-west-1}
schemes:
  data: {parts: [org, project], rest: path, target: "s3-{org}://{org}-{project}/{ref}/{path}", ref: main, match: {org: "[a-z0-9]+", project: "[a-z0-9-]+"}, tenant: org}
stages:
  "data://acme/sales/t": {production: "commit:4f0c", audit: "ts:2026-03-31T23:59:59Z"}
entries:
  "data://acme/sales/old": "s3-acme://acme-legacy/{ref}/old"
  "data://acme/sales/raw/": "s3-acme://acme-raw/{ref}/{path}"
cache: {root: ~/.cache/tarn, max_size: 20GB}
hooks: [provcat.log]
tenants: {acme: {stores: {}, stages: {}, entries: {}, cache: {}}}
admin: {stores: {}}
`;

describe("loadConfig()", () => {
  it("loads the whole example", async () => {
    const config = await loadText(WHOLE);
    assert.deepEqual([...config.stores.keys()].sort(), [
      "azure",
      "file",
      "files",
      "gcs",
      "github",
      "hf",
      "lakefs",
      "lakefs-acme",
      "s3",
      "s3-acme",
    ]);
    assert.deepEqual(config.stores.get("s3-acme"), {
      name: "s3-acme",
      driver: "s3",
      options: { profile: "acme", region: "eu-west-1" },
      path: ["stores", "s3-acme"],
    });
    const scheme = config.schemes.get("data")!;
    assert.deepEqual([scheme.parts, scheme.rest, scheme.ref, scheme.tenant], [
      ["org", "project"],
      "path",
      "main",
      "org",
    ]);
    assert.deepEqual(config.stages.map(({ uri, selectors }) => [uri, [...selectors.keys()]]), [
      ["data://acme/sales/t", ["production", "audit"]],
    ]);
    assert.deepEqual(config.entries.map(({ key }) => key), [
      "data://acme/sales/old",
      "data://acme/sales/raw/",
    ]);
    assert.deepEqual(config.cache, { root: "/home/ann/.cache/tarn", maxBytes: 20_000_000_000 });
    assert.deepEqual(config.hooks, ["provcat.log"]);
  });

  it("is fine with nothing at all: the built-in stores are there", async () => {
    for (
      const text of ["", "# nothing\n", "---\n", "stores:\nschemes:\ncache:\nhooks:\ntenants:\nadmin:\n"]
    ) {
      const config = await loadText(text);
      assert.equal(config.stores.get("lakefs")?.driver, "graveler", JSON.stringify(text));
      assert.equal(config.stores.size, 7);
    }
  });

  it("fills in each value from the reader's environment, and names never", async () => {
    const text = `stores:
  s3-acme: {driver: s3, endpoint_url: "https://\${oc.env:HOST}", region: "\${oc.env:REGION,null}", path_style: "\${oc.env:STYLE}"}
  hf-slow: {driver: hf, timeout: "\${oc.env:SECONDS,90}"}
entries: {}
cache: {root: "\${oc.env:CACHE,\${oc.env:TMP}/cache}"}
`;
    const config = await loadText(text, {
      variables: { HOST: "s3.example", STYLE: "true", TMP: "/tmp" },
    });
    assert.deepEqual(config.stores.get("s3-acme")!.options, {
      endpoint_url: "https://s3.example",
      path_style: true,
    });
    assert.deepEqual(config.stores.get("hf-slow")!.options, { timeout: 90 });
    assert.equal(config.cache.root, "/tmp/cache");
    const [named] = await problemsOf('stores: {"${oc.env:X}": {driver: file}}', {
      variables: { X: "files" },
    });
    assert.match(named!, /such a name is lowercase letters/);
  });

  it("names the variable and the key where a variable without a default is not set", async () => {
    const text = 'stores:\n  files:\n    driver: file\n    root: "${oc.env:DATA}/x"\n';
    await assert.rejects(loadText(text), {
      kind: "invalid",
      code: "invalid_configuration",
      message: 'Cannot use "tarn.yaml": line 4, column 5: "stores.files.root": ' +
        'it reads the variable "DATA", which is not set, and gives no default',
    });
    // One problem, not another one for what the text would be as a path.
    assert.equal((await problemsOf(text)).length, 1);
  });

  it("takes relative paths from the configuration's folder, and ~ as the user's", async () => {
    const rootOf = async (root: string) =>
      (await loadText(`stores: {f: {driver: file, root: ${root}}}`)).stores.get("f")!.options["root"];
    assert.equal(await rootOf("data/../x"), "/place/x");
    assert.equal(await rootOf('"~"'), "/home/ann");
    assert.equal(await rootOf('"~/a"'), "/home/ann/a");
    assert.equal(await rootOf("/srv/"), "/srv");
    assert.match(
      (await problemsOf('stores: {f: {driver: file, root: "~bob/x"}}'))[0]!,
      /only ~ alone and ~\//,
    );
  });
});

/** Configurations with one thing wrong, and what is said of it. */
const WRONG: readonly [text: string, says: RegExp, suggestion?: string][] = [
  ["store: {}", /^line 1, column 1: "store": there is no such section; known are stores,/, "stores"],
  ["a: 1", /^line 1, column 1: "a": there is no such section/],
  ["stores: []", /"stores": it must be names with values/],
  ["stores: {s: 1}", /"stores.s": it must be a driver with its options/],
  ["stores: {s: {}}", /"stores.s.driver": it is missing; this version has graveler and file/],
  ["stores: {s: {driver: s4}}", /"stores.s.driver": there is no such driver/],
  ["stores: {s: {driver: flie}}", /"stores.s.driver": there is no such driver/, "file"],
  ["stores: {S3: {driver: s3}}", /"stores.S3": such a name is lowercase letters/],
  [
    "stores:\n  s3-acme:\n    driver: s3\n    regoin: eu\n",
    /^line 4, column 5: "stores.s3-acme.regoin": there is no such key; known are driver, endpoint_url, profile/,
    "region",
  ],
  ["stores: {s: {driver: s3, region: 1}}", /"stores.s.region": it must be text; put it in quotes/],
  ["stores: {s: {driver: s3, path_style: yes}}", /"stores.s.path_style": it must be true or false/],
  ["stores: {s: {driver: s3, endpoint_url: s3.example}}", /must look like https:\/\/HOST/],
  ["stores: {s: {driver: s3, endpoint_url: 'https://a:b@s3.example'}}", /no user and no password/],
  ["stores: {s: {driver: s3, endpoint_url: 'https://s3.example?x=1'}}", /must look like/],
  ["stores: {s: {driver: s3, endpoint_url: 'https://s3.example:70000'}}", /must look like/],
  ["stores: {s: {driver: hf, endpoint: 'http://hub.example'}}", /must begin with https:\/\//],
  ["stores: {s: {driver: hf, timeout: -1}}", /it must be seconds/],
  ["stores: {s: {driver: github, lfs_hosts: lfs.example}}", /it must be a list/],
  ["stores: {s: {driver: github, lfs_hosts: [1]}}", /each item must be text/],
  ["stores: {s: {driver: file, root: ''}}", /"stores.s.root": it is empty/],
  ["stores: {s: {driver: graveler, kv: 'postgres://u:secret@h/d'}}", /a password may not stand in it/],
  ["stores: {s: {driver: graveler, kv: 'mysql://h/d'}}", /address of a key-value store/],
  ["schemes: {data: {}}", /"schemes.data.parts": it is missing/],
  ["schemes: {data: {parts: [a]}}", /"schemes.data.target": it is missing/],
  ["schemes: {data: {parts: [a], target: 'file://{a}', pas_selector: true}}", /no such key/, "pass_selector"],
  [
    "schemes: {data: {parts: [a], target: 'file://{a}', match: [x]}}",
    /"schemes.data.match": it must be names/,
  ],
  ["schemes: {s3: {parts: [a], target: 'file://{a}'}}", /"schemes.s3": "s3" is the name of a store/],
  ["schemes: {Data: {parts: [a], target: 'file://{a}'}}", /such a name is lowercase letters/],
  ["stages: {'data://a': x}", /"stages."data:\/\/a"": it must be names of stages/],
  ["entries: {'data://a': 1}", /"entries."data:\/\/a"": it must be text/],
  ["cache: {size: 1}", /"cache.size": there is no such key; known are root, max_size/],
  ["cache: {max_size: 20 GX}", /"cache.max_size": it must be a size such as 20GB/],
  ["hooks: provcat.log", /"hooks": it must be a list/],
  ["tenants: [acme]", /"tenants": it must be names of tenants/],
  ["tenants: {acme: {schemes: {}}}", /"tenants.acme.schemes": a part has no "schemes"/],
  ["tenants: {acme: {hooks: [x]}}", /"tenants.acme.hooks": a part has no "hooks"/],
  ["tenants: {acme: {sotres: {}}}", /"tenants.acme.sotres": there is no such section/, "stores"],
  ["tenants: {a-b: {}}", /"tenants.a-b": the name of a tenant is 1 to 63 lowercase letters and digits/],
  ["admin: 1", /"admin": it must be sections/],
];

describe("what is wrong with a configuration", () => {
  for (const [text, says, suggestion] of WRONG) {
    it(`is told with its place: ${text.replaceAll("\n", "⏎")}`, async () => {
      const problems = await placedProblemsOf(text);
      assert.match((await problemsOf(text)).join("\n"), says);
      assert.ok(problems.every(({ line, column }) => line! > 0 && column! > 0));
      assert.equal(problems.find((problem) => problem.suggestion !== undefined)?.suggestion, suggestion);
      await assert.rejects(loadText(text), { kind: "invalid", code: "invalid_configuration" });
    });
  }

  it("is told all at once to who asks, and counted in the error", async () => {
    const text = "stores: {A: {driver: file, rot: x}}\ncache: {max_size: no}\n";
    assert.equal((await problemsOf(text)).length, 3);
    await assert.rejects(loadText(text), { message: /\(and 2 more\)$/ });
  });

  it("suggests the nearest known key in the error's details", async () => {
    await assert.rejects(loadText("stores: {s: {driver: s3, regoin: x}}"), (error: { details: object }) => {
      assert.deepEqual(error.details, {
        file: "tarn.yaml",
        key: "stores.s.regoin",
        line: 1,
        column: 26,
        suggestion: "region",
        isCatalog: true,
      });
      return true;
    });
  });
});
