/**
 * The public tests of S3 clients that come with versitygw, run against the executable with buckets as branches:
 *
 *     bun tests/interop/s3_suite/run.ts [PATTERN]
 *
 * Needs `go`, which fetches them and builds them; takes two minutes. Prints what fails, then what docs/s3_suite.md has wrong,
 * which says why each of them does; the exit code is 1 if there is something.
 */

import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openHome } from "../../support/home.ts";
import { serveAgain, type ServedHome } from "../../support/server.ts";
import type { Ending } from "../../support/temporary.ts";

const MODULE = "github.com/versity/versitygw";
const VERSION = "v1.8.0";
const SETTINGS = "s3:\n  buckets: branch\n  auto_commit: idle 5\n";

interface Outcome {
  readonly name: string;
  /** `undefined` when it passed. */
  readonly failure: string | undefined;
}

async function main(pattern: RegExp): Promise<number> {
  const endings: (() => unknown)[] = [];
  const t: Ending = { after: (ending) => void endings.unshift(ending) };
  try {
    const home = openHome(t);
    const credential = await home.json(["auth", "setup", "admin"]);
    writeFileSync(join(home.path, "config.yaml"), SETTINGS);
    const program = build(join(home.folder, "suite"), pattern);
    const outcomes = await run(program, await serveAgain(t, home, { credential }));
    return report(outcomes, pattern);
  } finally {
    for (const ending of endings) await ending();
  }
}

/** Builds the program of the tests; returns its path. */
function build(folder: string, pattern: RegExp): string {
  mkdirSync(folder);
  const go = (...args: string[]) => runGo(folder, args);
  go("mod", "init", "suite");
  go("get", `${MODULE}/tests/integration@${VERSION}`);
  const source = go("list", "-m", "-f", "{{.Dir}}", MODULE).trim();
  const groups = readFileSync(join(source, "tests/integration/group-tests.go"), "utf8");
  const names = testsOf(groups, "TestFullFlow").filter((name) => pattern.test(name));
  const lines = names.map((name) => `\t{"${name}", integration.${name}},\n`).join("");
  copyFileSync(fileURLToPath(new URL("main.go", import.meta.url)), join(folder, "main.go"));
  writeFileSync(
    join(folder, "tests.go"),
    `package main\n\nimport "${MODULE}/tests/integration"\n\nvar tests = []test{\n${lines}}\n`,
  );
  go("build", "-o", "suite", ".");
  return join(folder, "suite");
}

function runGo(cwd: string, args: readonly string[]): string {
  const env = { ...process.env, GOFLAGS: "-mod=mod" };
  const { status, stdout, stderr, error } = spawnSync("go", args, { cwd, env, encoding: "utf8" });
  if (error) throw error;
  if (status !== 0) throw new Error(`go ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Returns the tests that a group of them runs, in order: `ts.Run(X)`, `ts.Sync(X)`, `TestGroup(ts)`, under conditions. */
function testsOf(source: string, group: string): string[] {
  const [, body = ""] =
    new RegExp(`^func ${group}\\(ts \\*TestState\\) \\{\\n(.*?)^\\}`, "ms").exec(source) ?? [];
  const names: string[] = [], conditions: boolean[] = [];
  for (const line of body.split("\n").map((one) => one.trim())) {
    const condition = /^if (.*) \{$/.exec(line)?.[1];
    if (condition !== undefined) conditions.push(holds(condition));
    else if (line === "}") conditions.pop();
    else if (line === "} else {") conditions.push(!conditions.pop());
    if (conditions.includes(false)) continue;
    const [, test, inner] = /^(?:ts\.(?:Run|Sync)\((\w+)\)|(Test\w+)\(ts\))$/.exec(line) ?? [];
    if (test) names.push(test);
    if (inner) names.push(...testsOf(source, inner));
  }
  return names;
}

/** Whether a condition holds of a server of which nothing special was said: `!ts.conf.azureTests && …`. */
function holds(condition: string): boolean {
  return condition.split(" && ").every((one) => one.startsWith("!"));
}

async function run(
  program: string,
  { url, accessKeyId, secretAccessKey, folder }: ServedHome,
): Promise<Outcome[]> {
  const child = spawn(program, [], {
    // Apart from what these tests read of the environment themselves, such as AWS_CA_BUNDLE.
    env: { ENDPOINT: url, ACCESS_KEY: accessKeyId, SECRET_KEY: secretAccessKey, PATH: process.env["PATH"] },
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
  const code = await new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));
  if (code !== 0) throw new Error(`the tests ended with ${code}: ${output.slice(-2000)}`);
  return output.split(/^=== /m).slice(1).map(outcomeOf);
}

function outcomeOf(text: string): Outcome {
  const [name = "", ...lines] = text.split("\n");
  const failure = lines.find((line) => line.startsWith("--- failed"));
  return { name, failure: failure?.slice("--- failed ".length) };
}

/** Prints what failed, and where the page is wrong; returns the exit code. */
function report(outcomes: readonly Outcome[], pattern: RegExp): number {
  const page = readFileSync(new URL("../../../docs/s3_suite.md", import.meta.url), "utf8");
  const known = new Set([...page.matchAll(/`([A-Z]\w*_\w+|Router\w+)`/g)].map(([, name]) => name!));
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  for (const { name, failure } of failed) console.log(`${name}: ${failure}`);
  console.log(`${outcomes.length - failed.length} of ${outcomes.length} pass`);
  const names = new Set(failed.map(({ name }) => name));
  const faults = [
    ...[...names].filter((name) => !known.has(name)).map((name) => `fails, and is not on the page: ${name}`),
    ...[...known].filter((name) => pattern.test(name) && !names.has(name))
      .map((name) => `is on the page, and does not fail: ${name}`),
  ];
  for (const fault of faults) console.log(fault);
  return faults.length === 0 ? 0 : 1;
}

process.exitCode = await main(new RegExp(process.argv[2] ?? ""));
