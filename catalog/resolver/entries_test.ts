import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolverOf, resolverProblems } from "./testing.ts";

const SCHEMES = `
stores:
  s3-acme: {driver: s3}
  lakefs-acme: {driver: lakefs}
schemes:
  data: {parts: [org, project], rest: path, target: "s3-acme://{org}-{project}/{ref}/{path}", ref: main, match: {org: "[a-z0-9]+", project: "[a-z0-9-]+"}}
  table: {parts: [org, env, name], target: "lakefs-acme://{org}-data/{ref}/{name}", ref: "{env}"}
`;

const CONFIG = `${SCHEMES}
entries:
  "data://acme/sales/old": "s3-acme://acme-legacy/{ref}/old"
  "data://acme/sales/raw/": "s3-acme://acme-raw/{ref}/{path}"
  "data://acme/sales/raw/deep/": "s3-acme://acme-deep/{ref}/in/{path}"
  "data://acme/sales/raw/deep/one": "lakefs-acme://one/{ref}/x"
  "data://acme/sales/both": "s3-acme://acme-both/name"
  "data://acme/sales/both/": "s3-acme://acme-both/{ref}/folder/{path}"
  "data://acme/git": "github://acme/tool/data"
  "data://acme/git/": "github://acme/tool/{path}"
  "data://globex/": "s3-acme://globex-all/{ref}/{path}"
  "table://acme/dev/t": "lakefs-acme://acme-other/{ref}/t"
  "table://acme/prod/u": "lakefs-acme://acme-fixed/v1/u"
  "data://acme/sales/caf%C3%A9": "s3-acme://acme-cafe/{ref}/x"
`;

const RESOLVED: readonly [logical: string, physical: string][] = [
  ["data://acme/sales/old", "s3-acme://acme-legacy/main/old"],
  ["data://acme/sales/old?at=branch:dev", "s3-acme://acme-legacy/dev/old"],
  ["data://acme/sales/old?at=commit:ID", "s3-acme://acme-legacy/main/old?at=commit:ID"],
  // An exact key is for one name, not for what lies under it.
  ["data://acme/sales/old/x", "s3-acme://acme-sales/main/old/x"],
  ["data://acme/sales/older", "s3-acme://acme-sales/main/older"],
  // A prefix is for all under it, and for the folder that it stands for.
  ["data://acme/sales/raw/a/b", "s3-acme://acme-raw/main/a/b"],
  ["data://acme/sales/raw/", "s3-acme://acme-raw/main/"],
  ["data://acme/sales/raw", "s3-acme://acme-raw/main/"],
  ["data://acme/sales/raw/a/", "s3-acme://acme-raw/main/a/"],
  ["data://acme/sales/rawx", "s3-acme://acme-sales/main/rawx"],
  // The longest wins.
  ["data://acme/sales/raw/deep/x", "s3-acme://acme-deep/main/in/x"],
  ["data://acme/sales/raw/deep/one", "lakefs-acme://one/main/x"],
  ["data://acme/sales/raw/deep/one/x", "s3-acme://acme-deep/main/in/one/x"],
  ["data://acme/sales/raw/deeper", "s3-acme://acme-raw/main/deeper"],
  ["data://acme/sales/both", "s3-acme://acme-both/name"],
  ["data://acme/sales/both/", "s3-acme://acme-both/main/folder/"],
  ["data://acme/sales/both/x", "s3-acme://acme-both/main/folder/x"],
  // A prefix may end before the last part; the URI must have all parts.
  ["data://globex/any/x", "s3-acme://globex-all/main/any/x"],
  // {ref} lets lakeFS take a commit.
  ["table://acme/dev/t", "lakefs-acme://acme-other/dev/t"],
  ["table://acme/dev/t?at=commit:4f0c", "lakefs-acme://acme-other/4f0c/t"],
  ["table://acme/dev/t?at=ts:2026-01-01", "lakefs-acme://acme-other/dev/t?at=ts:2026-01-01"],
  ["table://acme/prod/u", "lakefs-acme://acme-fixed/v1/u"],
  // A store that reads versions in ?at= gets them there.
  ["data://acme/git/a?at=tag:v1", "github://acme/tool/a?at=tag:v1"],
  ["data://acme/git/a", "github://acme/tool/a"],
  // Keys count as what they mean, however they are written; values are encoded.
  ["data://acme/sales/café", "s3-acme://acme-cafe/main/x"],
  ["data://acme/sales/raw/a b?at=branch:x y", "s3-acme://acme-raw/x%20y/a%20b"],
];

describe("entries", () => {
  for (const [logical, physical] of RESOLVED) {
    it(`resolve ${logical}`, async () => {
      const resolver = await resolverOf(CONFIG);
      assert.equal(resolver.resolve(logical).text, physical);
    });
  }

  it("without {ref} refuse a version that lakeFS has in its path", async () => {
    const resolver = await resolverOf(CONFIG);
    assert.throws(() => resolver.resolve("table://acme/prod/u?at=commit:4f0c"), {
      code: "selector_unusable",
    });
    assert.throws(() => resolver.resolve("data://acme/sales/both?at=branch:dev"), {
      code: "selector_unusable",
    });
  });

  it("are for names that their scheme knows: parts and patterns are checked first", async () => {
    const resolver = await resolverOf(CONFIG);
    assert.throws(() => resolver.resolve("data://globex"), { code: "invalid_uri" });
    assert.throws(() => resolver.resolve("data://globex/A_B/x"), { code: "invalid_uri" });
    assert.throws(() => resolver.resolve("data://acme/sales/raw/../old"), { code: "invalid_uri" });
  });
});

const WRONG: readonly [entry: string, says: RegExp][] = [
  ['"data:/acme/x": "s3-acme://b"', /it does not begin with a scheme/],
  ['"daat://acme/x": "s3-acme://b"', /there is no scheme "daat"/],
  ['"s3-acme://acme/x": "s3-acme://b"', /there is no scheme "s3-acme"/],
  ['"data://acme": "s3-acme://b"', /it names no project/],
  ['"data://ACME/x": "s3-acme://b"', /its org "ACME" does not match/],
  ['"data://ACME/": "s3-acme://b/{path}"', /its org "ACME" does not match/],
  ['"data:///": "s3-acme://b/{path}"', /its org is empty/],
  ['"data://acme/x?at=tag:v1": "s3-acme://b"', /it may have no \?at=/],
  ['"data://acme/x/../y": "s3-acme://b"', /"\." and "\.\." are no parts of a name/],
  ['"data://acme/x/a%2Fb": "s3-acme://b"', /holds a "\/"/],
  ['"table://acme/dev/t/x": "s3-acme://b"', /one part too many/],
  ['"table://acme/dev/t/": "s3-acme://b/{path}"', /no name can be under it; leave out the slash/],
  ['"data://acme/x": "s3-acme://b/{path}"', /only a prefix, which ends in a slash, has \{path\}/],
  ['"data://acme/x/": "s3-acme://b/x"', /the target of a prefix must have \{path\}/],
  ['"data://acme/x": "s3-acme://b/{org}"', /there is no field "\{org\}"; known are path, ref/],
  ['"data://acme/x": "s3-acme://b/{ref.x}"', /is no plain field/],
  ['"data://acme/x": "s3-{ref}://b/x"', /the name of its store may hold no field/],
  ['"data://acme/x/": "s3-acme://{path}"', /may only stand behind the first "\/"/],
  ['"data://acme/x": "s3-amce://b/x"', /the store "s3-amce", which does not exist/],
  ['"data://acme/x": "data://acme/y"', /the store "data", which does not exist/],
];

describe("an entry is checked when it is loaded", () => {
  for (const [entry, says] of WRONG) {
    it(`refuses ${entry}`, async () => {
      const problems = await resolverProblems(`${SCHEMES}entries:\n  ${entry}\n`);
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0]!, says);
      assert.match(problems[0]!, /^line 9, column 3: "entries\./);
    });
  }

  it("refuses two ways of writing one name", async () => {
    const problems = await resolverProblems(
      `${SCHEMES}entries: {"data://acme/x": "s3-acme://b", "data://acme/%78": "s3-acme://c"}\n`,
    );
    assert.match(problems.join("\n"), /the same name stands in another place: entries\."data:\/\/acme\/x"/);
  });
});

describe("a stage is checked when it is loaded", () => {
  const problemsOf = async (stages: string) =>
    (await resolverProblems(`${SCHEMES}stages: ${stages}\n`)).join("\n");
  const wrong: readonly [stages: string, says: RegExp][] = [
    ['{"data://acme": {p: "tag:v1"}}', /it names no project/],
    ['{"daat://acme/x": {p: "tag:v1"}}', /there is no scheme "daat"/],
    ['{"data://acme/x?at=tag:v1": {p: "tag:v1"}}', /it may have no \?at=/],
    ['{"data://acme/x": {p: "v1"}}', /"stages\."data:\/\/acme\/x"\.p": it must be kind:value/],
    ['{"data://acme/x": {p: "stage:q"}}', /not at another stage/],
    ['{"data://acme/x": {p: "ts:today"}}', /must look like/],
    ['{"data://acme/x": {p: "ts:dev@2026-01-01"}}', /its time holds an "@"/],
    [
      '{"data://acme/x": {p: "tag:v1"}, "data://acme/x/": {q: "tag:v1"}}',
      /the same URI stands in another place/,
    ],
  ];
  for (const [stages, says] of wrong) {
    it(`refuses ${stages}`, async () => assert.match(await problemsOf(stages), says));
  }

  it("may point at a time that has not passed; it is asked when the stage is used", async () => {
    assert.equal(await problemsOf('{"data://acme/x": {p: "ts:2999-01-01"}}'), "");
  });
});
