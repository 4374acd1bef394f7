/** The mapping of the seed's example: which place each kind of name leads to, and what keeps the places apart. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolverOf } from "./testing.ts";

const ORG = '"[a-z0-9]{1,20}"';
const ENV = '"[a-z0-9_-]{1,20}"';

/** An org of 20, "-data-" and a domain of 37 make the 63 characters that a repository's name may have; so do "-ml-" and 39. */
const PROJECT = `match: {org: ${ORG}, env: ${ENV}, project: "[a-z0-9-]{1,39}"}, tenant: org`;
const project = (place: string) =>
  `{parts: [org, team, env, project, name], target: "lakefs-{org}://{org}-ml-{project}/{ref}/{team}/${place}", ` +
  `ref: "{env}", ${PROJECT}}`;

const CONFIG = `
stores:
  lakefs-acme: {driver: lakefs, profile: acme}
  lakefs-globex: {driver: lakefs, profile: globex}
  lakefs-${"a".repeat(20)}: {driver: lakefs}
schemes:
  data+table: {parts: [org, domain, env, family, name], target: "lakefs-{org}://{org}-data-{domain}/{ref}/tables/{family}/{name}", ref: "{env}", match: {org: ${ORG}, domain: "[a-z0-9-]{1,37}", env: ${ENV}}, tenant: org}
  experiment: ${project("experiments/{name}")}
  model: ${project("models/{name}/v{version}")}
  artifact+prompt: ${project("prompts/{name}")}
  artifact+card: ${project("cards/{name}")}
  code: {parts: [org, repo, env], rest: path, target: "github://{org}/{repo}/{path}", ref: "{env}", pass_selector: true, match: {org: "[A-Za-z0-9](-?[A-Za-z0-9]){0,38}", repo: "[A-Za-z0-9._-]{1,100}", env: "[A-Za-z0-9._-]+"}}
  weights: {parts: [owner, name], rest: path, target: "hf://datasets/{owner}/{name}/{path}", ref: main}
  corpus: {parts: [owner, name], rest: path, target: "hf://models/{owner}/{name}/{path}", ref: main}
`;

const MAPPING: readonly [logical: string, physical: string][] = [
  ["data+table://acme/sales/dev/orders/daily", "lakefs-acme://acme-data-sales/dev/tables/orders/daily"],
  ["experiment://acme/ads/dev/ctr/run", "lakefs-acme://acme-ml-ctr/dev/ads/experiments/run"],
  ["model://acme/ads/prod/ctr/net?at=version:3", "lakefs-acme://acme-ml-ctr/prod/ads/models/net/v3"],
  ["artifact+prompt://acme/ads/dev/ctr/ask", "lakefs-acme://acme-ml-ctr/dev/ads/prompts/ask"],
  ["artifact+card://acme/ads/dev/ctr/about", "lakefs-acme://acme-ml-ctr/dev/ads/cards/about"],
  ["code://Oct-Org/tool/dev/src/a.py", "github://Oct-Org/tool/src/a.py?at=branch:dev"],
];

describe("the mapping of the seed", () => {
  for (const [logical, physical] of MAPPING) {
    it(`leads ${logical} to its place`, async () => {
      assert.equal((await resolverOf(CONFIG)).resolve(logical).text, physical);
    });
  }

  it("gives two orgs no repository in common, whatever their names and domains", async () => {
    const resolver = await resolverOf(CONFIG);
    const placeOf = (uri: string) => resolver.resolve(uri).uri.place;
    // A domain and a project of one name are two repositories, and the first "-" always ends the org.
    assert.equal(placeOf("data+table://acme/x/dev/f/n"), "acme-data-x");
    assert.equal(placeOf("experiment://acme/t/dev/x/n"), "acme-ml-x");
    assert.equal(placeOf("data+table://acme/data-x/dev/f/n"), "acme-data-data-x");
    for (const org of ["acme-data", "Acme", "a".repeat(21)]) {
      assert.throws(() => resolver.resolve(`data+table://${org}/x/dev/f/n`), { code: "invalid_uri" }, org);
    }
  });

  it("gives lakeFS no name that it does not take", async () => {
    const resolver = await resolverOf(CONFIG);
    const org = "a".repeat(20);
    for (
      const uri of [
        `data+table://${org}/${"d".repeat(37)}/e/f/n`,
        `experiment://${org}/t/e/${"p".repeat(39)}/n`,
      ]
    ) {
      assert.equal(resolver.resolve(uri).uri.place.length, 63);
    }
    for (
      const uri of [
        `data+table://${org}/${"d".repeat(38)}/e/f/n`,
        `experiment://${org}/t/e/${"p".repeat(40)}/n`,
        "data+table://acme/under_score/dev/f/n",
        "data+table://acme/x/Dev/f/n",
        `data+table://acme/x/${"e".repeat(21)}/f/n`,
      ]
    ) assert.throws(() => resolver.resolve(uri), { code: "invalid_uri" }, uri);
  });

  it("leads code of every org to the one store, by GitHub's own rules for names", async () => {
    const resolver = await resolverOf(CONFIG);
    for (const org of ["acme", "Oct-Org", "globex"]) {
      assert.equal(resolver.resolve(`code://${org}/r/main/p`).uri.scheme, "github");
    }
    for (const org of ["-acme", "acme-", "a--b", "a_b", "a".repeat(40)]) {
      assert.throws(() => resolver.resolve(`code://${org}/r/main/p`), { code: "invalid_uri" }, org);
    }
    // GitHub takes both for one owner; here they are two names.
    assert.notEqual(
      resolver.resolve("code://Octocat/r/main/p").text,
      resolver.resolve("code://octocat/r/main/p").text,
    );
  });

  it("takes the first segment of a URI of the old form for its environment", async () => {
    const resolver = await resolverOf(CONFIG);
    assert.equal(resolver.resolve("code://org/repo/src/a.py").text, "github://org/repo/a.py?at=branch:src");
  });

  it("lets a name of either scheme lead to any kind of repository of Hugging Face", async () => {
    const resolver = await resolverOf(CONFIG);
    assert.equal(resolver.resolve("weights://o/n/a").text, "hf://datasets/o/n/a");
    assert.equal(resolver.resolve("corpus://o/n/a").text, "hf://models/o/n/a");
  });
});
