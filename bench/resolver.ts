/**
 * What resolving one logical URI takes, in a configuration of 10,000 entries and 10,000 stages:
 *
 *   bun bench/resolver.ts
 */

import { loadConfig } from "../catalog/config/mod.ts";
import { parseYaml } from "../catalog/config/yaml.ts";
import { TemplateResolver } from "../catalog/resolver/mod.ts";

const NAMES = 10_000;
const ROUNDS = 20_000;

const lines = (line: (n: number) => string) => Array.from({ length: NAMES }, (_, n) => line(n)).join("");
const text = `stores: {s3-acme: {driver: s3}}
schemes:
  data: {parts: [org, project], rest: path, target: "s3-{org}://{org}-{project}/{ref}/{path}", ref: main, match: {org: "[a-z0-9]+", project: "[a-z0-9-]+"}, tenant: org}
entries:
${lines((n) => `  "data://acme/p${n}/raw/": "s3-acme://acme-raw-${n}/{ref}/{path}"\n`)}stages:
${lines((n) => `  "data://acme/p${n}/t": {production: "commit:4f0c"}\n`)}`;

function timed<T>(what: string, count: number, work: () => T): T {
  const start = performance.now();
  const result = work();
  const micros = (performance.now() - start) * 1000 / count;
  console.log(`${what.padEnd(32)}${micros.toFixed(1).padStart(12)} µs`);
  return result;
}

const start = performance.now();
const raw = await parseYaml(text, { origin: "tarn.yaml", folder: "/" });
console.log(
  `${"reading YAML, once".padEnd(32)}${((performance.now() - start) * 1000).toFixed(1).padStart(12)} µs`,
);
const reader = { variable: () => undefined, userFolder: "/" };
const resolver = timed("loading and checking, once", 1, () => {
  return new TemplateResolver(loadConfig(raw, { reader, isTrusted: true }), { clock: { now: () => 1e15 } });
});
for (
  const [what, uri] of [
    ["by the scheme's template", "data://acme/sales/a/b/c.csv"],
    ["by an entry", "data://acme/p77/raw/a/b/c.csv"],
    ["by a stage", "data://acme/p77/t?at=stage:production"],
  ] as const
) {
  timed(`resolving ${what}`, ROUNDS, () => {
    for (let i = 0; i < ROUNDS; i++) resolver.resolve(uri);
  });
}
