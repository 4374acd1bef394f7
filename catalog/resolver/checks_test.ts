import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolverProblems } from "./testing.ts";

const scheme = (fields: string) => `schemes:\n  data: {parts: [org, env], ${fields}}\n`;

/** Schemes with one thing wrong, and what is said of it. */
const WRONG: readonly [fields: string, says: RegExp][] = [
  [
    'target: "file:///{name}"',
    /"schemes.data.target": there is no field "\{name\}"; known are org, env, ref, version, at/,
  ],
  ['target: "file:///{org.name}"', /"\{org\.name\}" is no plain field/],
  ['target: "file:///{org[0]}"', /"\{org\[0\]\}" is no plain field/],
  ['target: "file:///{org!r}"', /"\{org!r\}" is no plain field/],
  ['target: "file:///{org:>10}"', /"\{org:>10\}" is no plain field/],
  ['target: "file:///{}"', /"\{\}" is no plain field/],
  ['target: "file:///{0}"', /"\{0\}" is no plain field/],
  ['target: "file:///{{org}}"', /a "\{" or "\}" stands alone/],
  ['target: "file:///{org"', /a "\{" or "\}" stands alone/],
  ['target: "file:///org}"', /a "\{" or "\}" stands alone/],
  ['target: "{org}"', /it does not begin with the name of a store and :\/\//],
  ['target: "://x"', /it does not begin with the name of a store/],
  ['target: "File:///{org}"', /it is no URI/],
  ['target: "file:///{org}#x"', /it is no URI: "#" must be written as "%23"/],
  ['target: "file:///{org}?x=1"', /it is no URI/],
  ['target: "file:///{org}?at=branch:a?at=tag:b"', /it is no URI/],
  ['target: "file:///{org}?at=nothing:a"', /is no selector/],
  ['target: "file:///{org}/100%"', /it is no URI/],
  ['target: "file:///{org}/../x"', /"\." and "\.\." are no parts of a path/],
  ['target: "file:///{org}/%2e%2E/x"', /"\." and "\.\." are no parts of a path/],
  ['target: "file:///{org}/{at}"', /"\{at\}" may only stand as \?at=\{at\}/],
  ['target: "file:///{org}?at=branch:{at}"', /"\{at\}" may only stand as \?at=\{at\}/],
  ['target: "file://{rest}/x", rest: rest', /"\{rest\}" is a path, and may only stand behind the first "\/"/],
  ['target: "s3-{rest}://x", rest: rest', /"\{rest\}" is a path/],
  ['target: "file:///{org}", ref: "{rest}", rest: rest', /"schemes.data.ref": there is no field "\{rest\}"/],
  ['target: "file:///{org}", ref: "{ref}"', /"schemes.data.ref": there is no field "\{ref\}"/],
  ['target: "file:///{org}", rest: org', /"schemes.data.rest": "org" is there twice/],
  ['target: "file:///{org}", rest: ref', /"schemes.data.rest": "ref" has a meaning of its own/],
  ['target: "file:///{org}", rest: a-b', /"schemes.data.rest": a part is named by letters/],
  [
    'target: "file:///{org}", match: {name: x}',
    /"schemes.data.match.name": there is no such part; known are org, env/,
  ],
  ['target: "file:///{org}", match: {org: "["}', /"schemes.data.match.org": it is no regular expression/],
  ['target: "file:///{org}", match: {org: "a)|(b"}', /"schemes.data.match.org": it is no regular expression/],
  ['target: "file:///{org}", tenant: owner', /"schemes.data.tenant": it must be one of the parts: org, env/],
  [
    'target: "github://{org}/x?at={at}", pass_selector: true',
    /"schemes.data.pass_selector": the target has an \?at=/,
  ],
];

describe("a scheme is checked when it is loaded", () => {
  for (const [fields, says] of WRONG) {
    it(`refuses {${fields}}`, async () => {
      const problems = await resolverProblems(scheme(fields));
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0]!, says);
      assert.match(problems[0]!, /^line 2, column \d+: /);
    });
  }

  it("refuses parts that are none", async () => {
    const problemsOf = async (parts: string) =>
      (await resolverProblems(`schemes: {data: {parts: ${parts}, target: "file:///x"}}`)).join("\n");
    assert.match(await problemsOf("[]"), /"schemes.data.parts": there must be one part at least/);
    assert.match(await problemsOf("[a, a]"), /"schemes.data.parts.1": "a" is there twice/);
    assert.match(await problemsOf("[at]"), /"at" has a meaning of its own/);
    assert.match(await problemsOf("[1a]"), /a part is named by letters/);
  });

  it("takes a pattern for the whole part, and by Unicode's rules", async () => {
    assert.deepEqual(
      await resolverProblems(scheme('target: "file:///{org}", match: {org: "\\\\p{L}+|x"}')),
      [],
    );
  });

  it("tells of entries and stages of a broken scheme nothing more", async () => {
    const text = `${scheme('target: "file:///{nme}"')}entries: {"data://a/b": "file:///x"}\n` +
      `stages: {"data://a/b": {x: "tag:v1"}}\n`;
    assert.equal((await resolverProblems(text)).length, 1);
  });
});

describe("the name of a store that holds a field", () => {
  const store = (name: string, more = 'match: {org: "[a-z0-9]+"}') =>
    resolverProblems(scheme(`target: "${name}://b/{env}", ${more}`));

  it("is one field next to fixed text with a -", async () => {
    for (const name of ["s3-{org}", "lakefs.eu-{org}", "s3-{org}-eu"]) {
      assert.deepEqual(await store(name), [], name);
    }
    for (const name of ["{org}", "s3{org}", "s3-{org}x", "s3-{org}{env}", "s3-{org}-{env}", "{org}s3"]) {
      assert.match((await store(name)).join("\n"), /may hold one field, next to fixed text with a "-"/, name);
    }
  });

  it("is a part with a pattern, and the part that says whose a URI is", async () => {
    assert.match((await store("s3-{ref}", "ref: main")).join("\n"), /must be one of the parts/);
    assert.match((await store("s3-{org}", "ref: main")).join("\n"), /must have a pattern under "match"/);
    const match = 'match: {org: "[a-z0-9]+"}';
    assert.match(
      (await store("s3-{org}", `${match}, tenant: env`)).join("\n"),
      /must be "org", which picks the store/,
    );
    assert.deepEqual(await store("s3-{org}", `${match}, tenant: org`), []);
  });
});
