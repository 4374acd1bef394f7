import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOW, resolverOf } from "./testing.ts";

const CONFIG = `
stores:
  lakefs-acme: {driver: lakefs, profile: acme}
  lakefs-globex: {driver: lakefs, profile: globex}
  s3-acme: {driver: s3}
  docs: {driver: file, root: /srv/docs}
schemes:
  data+table: {parts: [org, domain, env, family, name], target: "lakefs-{org}://{org}-data-{domain}/{ref}/tables/{family}/{name}", ref: "{env}", match: {org: "[a-z0-9]{1,20}", domain: "[a-z0-9-]+", env: "[a-z0-9_-]{1,20}"}, tenant: org}
  model: {parts: [org, team, env, project, name], target: "lakefs-{org}://{org}-ml-{project}/{ref}/{team}/models/{name}/v{version}", ref: "{env}", match: {org: "[a-z0-9]+"}}
  code: {parts: [org, repo, env], rest: path, target: "github://{org}/{repo}/{path}", ref: "{env}", pass_selector: true}
  hub: {parts: [owner, repo], rest: path, target: "hf://datasets/{owner}/{repo}/{path}", ref: main}
  bare: {parts: [org, repo], rest: path, target: "github://{org}/{repo}/{path}?at={at}"}
  files: {parts: [org, project], rest: path, target: "s3-acme://{org}-{project}/{ref}/{path}", ref: main}
  atfiles: {parts: [org, project], rest: path, target: "s3-acme://{org}-{project}/{ref}/{path}?at={at}", ref: main}
  onefolder: {parts: [org], rest: path, target: "s3-acme://{org}/all/{path}", ref: main, pass_selector: true}
  plain: {parts: [org], rest: path, target: "docs:///{org}/{path}"}
  noref: {parts: [repo], rest: path, target: "lakefs://{repo}/{ref}/{path}"}
  whole: {parts: [repo], rest: path, target: "lakefs://{repo}/{path}", ref: main, pass_selector: true}
  branches: {parts: [org, repo], rest: path, target: "github://{org}/{repo}/{path}?at=branch:{ref}", ref: main}
  inner: {parts: [org], rest: path, target: "docs:///{org}/{path}/data.csv"}
  pinned: {parts: [org], rest: path, target: "github://{org}/fixed/{path}?at=tag:v1"}
stages:
  "data+table://acme/shared/prod/fam/t": {production: "commit:4f0c", audit: "ts:2026-03-31T23:59:59Z", work: "branch:dev", later: "ts:2027-01-01"}
  "files://acme/sales/t": {production: "commit:abc"}
`;

/** What each URI resolves to. */
const RESOLVED: readonly [logical: string, physical: string][] = [
  // Parts, rest, default refs.
  [
    "data+table://acme/shared/dev/fam/name",
    "lakefs-acme://acme-data-shared/dev/tables/fam/name",
  ],
  ["data+table://globex/x/prod/f/n", "lakefs-globex://globex-data-x/prod/tables/f/n"],
  ["files://acme/sales/t/a.csv", "s3-acme://acme-sales/main/t/a.csv"],
  ["files://acme/sales/t/", "s3-acme://acme-sales/main/t/"],
  ["files://acme/sales", "s3-acme://acme-sales/main/"],
  ["files://acme/sales/", "s3-acme://acme-sales/main/"],
  ["data+table://acme/shared/dev/fam/name/", "lakefs-acme://acme-data-shared/dev/tables/fam/name"],
  ["plain://acme/a/b", "docs:///acme/a/b"],
  ["inner://acme/a/b/", "docs:///acme/a/b/data.csv"],
  // A ref of the URI goes before the part that names the default.
  ["data+table://acme/shared/prod/fam/n?at=branch:dev", "lakefs-acme://acme-data-shared/dev/tables/fam/n"],
  ["data+table://acme/shared/prod/fam/n?at=tag:v1.0", "lakefs-acme://acme-data-shared/v1.0/tables/fam/n"],
  ["data+table://acme/shared/prod/fam/n?at=commit:4f0c", "lakefs-acme://acme-data-shared/4f0c/tables/fam/n"],
  ["noref://repo/a?at=branch:dev", "lakefs://repo/dev/a"],
  // A version keeps the default.
  [
    "model://acme/team/dev/proj/m?at=version:3",
    "lakefs-acme://acme-ml-proj/dev/team/models/m/v3",
  ],
  // A time keeps the default, and is passed on.
  [
    "data+table://acme/shared/prod/f/n?at=ts:2026-03-31",
    "lakefs-acme://acme-data-shared/prod/tables/f/n?at=ts:2026-03-31",
  ],
  ["files://acme/sales/t?at=ts:2026-03-31", "s3-acme://acme-sales/main/t?at=ts:2026-03-31"],
  // pass_selector.
  ["code://Oct-o/repo/dev/src/a.py", "github://Oct-o/repo/src/a.py?at=branch:dev"],
  ["code://org/repo/main/p?at=branch:feature/x", "github://org/repo/p?at=branch:feature/x"],
  ["code://org/repo/main/p?at=tag:v1", "github://org/repo/p?at=tag:v1"],
  ["code://org/repo/main/p?at=commit:4f0c", "github://org/repo/p?at=commit:4f0c"],
  ["code://org/repo/main/p?at=version:7", "github://org/repo/p?at=version:7"],
  ["code://org/repo/dev/p?at=ts:2026-03-31T10:00:00Z", "github://org/repo/p?at=ts:dev@2026-03-31T10:00:00Z"],
  ["hub://owner/repo/p?at=ts:2026-03-31", "hf://datasets/owner/repo/p?at=ts:main@2026-03-31"],
  ["hub://owner/repo/p", "hf://datasets/owner/repo/p"],
  ["hub://owner/repo/p?at=tag:v1", "hf://datasets/owner/repo/p?at=tag:v1"],
  ["whole://repo/a/b", "lakefs://repo/a/b?at=branch:main"],
  ["whole://repo/a?at=branch:feature/x", "lakefs://repo/a?at=branch:feature/x"],
  ["whole://repo/a?at=ts:2026-03-31", "lakefs://repo/a?at=ts:main@2026-03-31"],
  // {at}, and an ?at= of the target's own.
  ["bare://org/repo/p?at=tag:v1", "github://org/repo/p?at=tag:v1"],
  ["bare://org/repo/p?at=ts:2026-03-31", "github://org/repo/p?at=ts:2026-03-31"],
  ["branches://org/repo/p", "github://org/repo/p?at=branch:main"],
  ["branches://org/repo/p?at=branch:feature/x", "github://org/repo/p?at=branch:feature%2Fx"],
  ["pinned://org/p", "github://org/fixed/p?at=tag:v1"],
  // Buckets: the branch in the path, what is fixed in ?at=.
  ["files://acme/sales/t?at=commit:ID", "s3-acme://acme-sales/main/t?at=commit:ID"],
  ["files://acme/sales/t/a.csv?at=version:ID", "s3-acme://acme-sales/main/t/a.csv?at=version:ID"],
  ["files://acme/sales/t?at=branch:dev", "s3-acme://acme-sales/dev/t"],
  ["atfiles://acme/sales/t?at=commit:ID", "s3-acme://acme-sales/main/t?at=commit:ID"],
  ["atfiles://acme/sales/t?at=branch:dev", "s3-acme://acme-sales/dev/t"],
  ["atfiles://acme/sales/t", "s3-acme://acme-sales/main/t"],
  ["onefolder://acme/t", "s3-acme://acme/all/t"],
  ["onefolder://acme/t?at=commit:ID", "s3-acme://acme/all/t?at=commit:ID"],
  // Stages become what they point at.
  [
    "data+table://acme/shared/prod/fam/t?at=stage:production",
    "lakefs-acme://acme-data-shared/4f0c/tables/fam/t",
  ],
  [
    "data+table://acme/shared/prod/fam/t/?at=stage:audit",
    "lakefs-acme://acme-data-shared/prod/tables/fam/t?at=ts:2026-03-31T23:59:59Z",
  ],
  ["data+table://acme/shared/prod/fam/t?at=stage:work", "lakefs-acme://acme-data-shared/dev/tables/fam/t"],
  ["files://acme/sales/t?at=stage:production", "s3-acme://acme-sales/main/t?at=commit:abc"],
  // Values are encoded: all but unreserved characters.
  ["plain://a b/ü+(x)!*'~_-.,;:@&=$", "docs:///a%20b/%C3%BC%2B%28x%29%21%2A%27~_-.%2C%3B%3A%40%26%3D%24"],
  ["plain://a%3Fat=tag:x/%23%25", "docs:///a%3Fat%3Dtag%3Ax/%23%25"],
  ["files://acme/x%3F/t?at=branch:a%3Fat%3Dtag%3Ab", "s3-acme://acme-x%3F/a%3Fat%3Dtag%3Ab/t"],
  // Physical ones stay.
  ["lakefs://repo/main/a", "lakefs://repo/main/a"],
  ["lakefs://repo/feature%2Fx/a", "lakefs://repo/feature%2Fx/a"],
];

describe("TemplateResolver", () => {
  for (const [logical, physical] of RESOLVED) {
    it(`resolves ${logical}`, async () => {
      const resolver = await resolverOf(CONFIG);
      assert.equal(resolver.resolve(logical).text, physical);
    });
  }
});

/** What is refused, with its code and a word of why. */
const REFUSED: readonly [logical: string, code: string, why: RegExp][] = [
  [
    "data+table://acme/shared/dev/fam",
    "invalid_uri",
    /names no name; write data\+table:\/\/ORG\/DOMAIN\/ENV/,
  ],
  ["data+table://acme/shared/dev/fam/n/x", "invalid_uri", /"x" is one part too many/],
  ["data+table:///shared/dev/fam/n", "invalid_uri", /its org is empty/],
  ["data+table://acme//dev/fam/n", "invalid_uri", /its domain is empty/],
  [
    "data+table://acme-x/shared/dev/fam/n",
    "invalid_uri",
    /its org "acme-x" does not match \[a-z0-9\]\{1,20\}/,
  ],
  ["data+table://acme%0A/shared/dev/fam/n", "invalid_uri", /does not match/],
  ["data+table://ACME/shared/dev/fam/n", "invalid_uri", /does not match/],
  [
    "data+table://other/shared/dev/fam/n",
    "store_not_found",
    /the store "lakefs-other", which does not exist/,
  ],
  ["dat+table://acme/shared/dev/fam/n", "unknown_scheme", /neither a scheme nor a store "dat\+table"/],
  // One name has one way to be written, and none leaves its folder.
  ["plain://acme/../globex/secret", "invalid_uri", /"\." and "\.\."/],
  ["plain://acme/%2e%2e/globex", "invalid_uri", /"\." and "\.\."/],
  ["plain://../x", "invalid_uri", /"\." and "\.\."/],
  ["plain://acme/a%2Fb", "invalid_uri", /holds a "\/"/],
  ["plain://acme%2F..%2Fglobex/a", "invalid_uri", /holds a "\/"/],
  ["inner://acme", "invalid_uri", /it names no path/],
  ["inner://acme/", "invalid_uri", /it names no path/],
  // Refs that do not fit.
  ["data+table://acme/s/prod/f/n?at=branch:feature/x", "selector_unusable", /must fit into one segment/],
  ["files://acme/sales/t?at=branch:feature/x", "selector_unusable", /must fit into one segment/],
  ["model://acme/team/dev/proj/m?at=version:1/2", "selector_unusable", /must fit into one segment/],
  ["noref://repo/a?at=branch:..", "invalid_uri", /leaves its folder/],
  ["noref://repo/a", "selector_unusable", /names no branch, and its scheme has no default/],
  ["bare://org/repo/p", "selector_unusable", /names no version, and its scheme has no default/],
  ["model://acme/team/dev/proj/m", "selector_unusable", /add \?at=version:VERSION/],
  // Selectors that would be lost.
  ["plain://acme/a?at=branch:dev", "selector_unusable", /"branch:dev" has no place/],
  ["data+table://acme/s/prod/f/n?at=version:1", "selector_unusable", /"version:1" has no place/],
  ["branches://org/repo/p?at=commit:4f0c", "selector_unusable", /names its own version/],
  ["branches://org/repo/p?at=ts:2026-03-31", "selector_unusable", /names its own version/],
  ["pinned://org/p?at=tag:v2", "selector_unusable", /names its own version/],
  ["files://acme/sales/t?at=tag:v1", "selector_unusable", /a bucket has no tags/],
  ["onefolder://acme/t?at=branch:dev", "selector_unusable", /"branch:dev" has no place/],
  // Times.
  ["data+table://acme/s/prod/f/n?at=ts:dev@2026-03-31", "selector_unusable", /its time holds an "@"/],
  ["code://org/repo/dev/p?at=ts:main@2026-03-31", "selector_unusable", /its time holds an "@"/],
  ["data+table://acme/s/prod/f/n?at=ts:2026-06-01T12:00:01Z", "future_time", /it is in the future/],
  ["data+table://acme/shared/prod/fam/t?at=stage:later", "future_time", /it is in the future/],
  ["data+table://acme/s/prod/f/n?at=ts:yesterday", "invalid_time", /must look like/],
  // Stages.
  [
    "data+table://acme/shared/prod/fam/t?at=stage:prod",
    "stage_not_found",
    /its stages are production, audit/,
  ],
  ["data+table://acme/shared/dev/fam/t?at=stage:production", "stage_not_found", /it has no stages/],
  ["files://acme/sales/t/a.csv?at=stage:production", "stage_not_found", /it has no stages/],
  // More than one selector.
  ["files://acme/sales/t?at=branch:a?at=tag:b", "invalid_uri", /trailing/],
  ["files://acme/sales/t?x=1&at=tag:b", "invalid_uri", /trailing/],
];

describe("TemplateResolver refuses", () => {
  for (const [logical, code, why] of REFUSED) {
    it(`${logical}: ${code}`, async () => {
      const resolver = await resolverOf(CONFIG);
      assert.throws(() => resolver.resolve(logical), (error: { code: string; message: string }) => {
        assert.equal(error.code, code);
        assert.match(error.message, why);
        return true;
      });
    });
  }
});

it("an unknown scheme is taken for one that this version can open, or for none", async () => {
  const resolver = await resolverOf(CONFIG);
  const meant = (text: string) => {
    try {
      resolver.resolve(text);
    } catch (error) {
      return (error as { details: { suggestion?: string } }).details.suggestion;
    }
  };
  assert.deepEqual([meant("lakfs://a/b"), meant("flie://a"), meant("s9://a/b"), meant("azuer://a")], [
    "lakefs",
    "file",
    undefined,
    undefined,
  ]);
});

it("a resolution tells the stage, the selector it points at and the default ref", async () => {
  const resolver = await resolverOf(CONFIG);
  const { logical } = resolver.resolve("data+table://acme/shared/prod/fam/t?at=stage:work");
  assert.deepEqual([logical!.stage, logical!.selector, logical!.defaultRef], [
    "work",
    { kind: "branch", value: "dev" },
    "prod",
  ]);
  assert.equal(logical!.text, "data+table://acme/shared/prod/fam/t?at=stage:work");
  assert.equal(resolver.resolve("lakefs://repo/main/a").logical, undefined);
  const plain = resolver.resolve("plain://acme/a").logical!;
  assert.deepEqual([plain.selector, plain.defaultRef], [undefined, undefined]);
});

it("H42: a time counts with its zone and its fraction, and a date is its first moment in UTC", async () => {
  const resolver = await resolverOf(CONFIG);
  const at = (time: string) => resolver.resolve(`files://acme/sales/t?at=ts:${time}`).text;
  assert.match(at("2024-01-15T10:00:00-05:00"), /\?at=ts:2024-01-15T10:00:00-05:00$/);
  // Half a second and five hours decide whether a time has passed.
  assert.match(at("2026-06-01T12:00:00Z"), /ts:2026-06-01T12:00:00Z$/);
  assert.throws(() => at("2026-06-01T12:00:00.5Z"), { code: "future_time" });
  assert.throws(() => at("2026-06-01T10:00:00-05:00"), { code: "future_time" });
  assert.match(at("2026-06-01T15:00:00+05:00"), /\?at=ts:/);
  assert.match(at("2026-06-01"), /\?at=ts:2026-06-01$/);
  assert.throws(() => at("2026-06-02"), { code: "future_time" });
  assert.equal(NOW, "2026-06-01T12:00:00Z");
});

it("what is filled in parses back to the same, and adds neither a segment nor a selector", async () => {
  const resolver = await resolverOf(CONFIG);
  for (
    const value of [
      "a?at=tag:b",
      "%2e%2e",
      "a#b",
      "{org}",
      "${oc.env:HOME}",
      "a\\..\\b",
      "a\tb",
      "é/ü",
      "...",
    ]
  ) {
    const uri = { scheme: "files", place: "acme", segments: ["sales", ...value.split("/")] };
    const resolved = resolver.resolve(uri).uri;
    assert.deepEqual(resolved.segments, ["main", ...value.split("/")]);
    assert.equal(resolved.at, undefined);
  }
});
