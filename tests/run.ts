/**
 * Runs everything that is tested and ends with the line `N passed, N failed`, in which each step of the gate counts as
 * one test. Each test file runs in a process of its own, so that one that crashes takes no other with it.
 */

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import process from "node:process";
import { parseCoverage, testsWithoutReport } from "./support/coverage.ts";
import { gateSteps } from "./support/gate.ts";
import { findTestFiles, type Outcome, reportOf, runStep, runTestFile, type Step } from "./support/running.ts";

const LOGS = "dist/test-logs";
const COVERAGE = "docs/catalog_coverage.md";
/** The machine in mind has two processors; tests that start processes of their own need room too. */
const AT_ONCE = 2;

class Totals {
  passed = 0;
  failed = 0;
  skipped = 0;
  readonly reasons: string[] = [];

  add(name: string, outcome: Outcome): void {
    this.passed += outcome.passed;
    this.failed += outcome.failed;
    this.skipped += outcome.skipped;
    this.reasons.push(...outcome.reasons);
    const verdict = outcome.failed > 0 ? "FAILED" : outcome.passed > 0 ? "ok" : "skipped";
    const seconds = (outcome.milliseconds / 1000).toFixed(1);
    console.log(
      `${verdict.padEnd(8)}${name}  ${outcome.passed} passed, ${outcome.failed} failed, ${seconds} s`,
    );
    if (outcome.failed > 0) console.log(outcome.output);
  }
}

async function main(wanted: readonly string[]): Promise<number> {
  rmSync(LOGS, { recursive: true, force: true });
  mkdirSync(LOGS, { recursive: true });
  const totals = new Totals();
  if (wanted.length === 0) {
    for (const step of gateSteps(process.execPath)) totals.add(step.name, await runGate(step));
  }
  const files = findTestFiles(".").filter((file) =>
    wanted.length === 0 || wanted.some((part) => file.includes(part))
  );
  if (files.length === 0) totals.failed++;
  await runAll(files, totals);
  if (wanted.length === 0) totals.add(COVERAGE, checkCoverage(files));
  report(totals);
  return totals.failed > 0 ? 1 : 0;
}

function runGate(step: Step | { name: string; missing: string }): Promise<Outcome> {
  return "missing" in step ? Promise.resolve(skippedGate(step)) : runStep(step);
}

/** Under CI a gate that cannot be run has not held. */
function skippedGate({ name, missing }: { name: string; missing: string }): Outcome {
  const isFailure = process.env["CI"] === "true";
  return {
    passed: 0,
    failed: isFailure ? 1 : 0,
    skipped: isFailure ? 0 : 1,
    reasons: isFailure ? [] : [`${name}: ${missing}`],
    output: missing,
    milliseconds: 0,
  };
}

async function runAll(files: readonly string[], totals: Totals): Promise<void> {
  const waiting = [...files];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      totals.add(file, await runTestFile(process.execPath, { file, logs: LOGS }));
    }
  }));
}

/** The tests that the page names have run, or were skipped, which the summary tells. */
function checkCoverage(files: readonly string[]): Outcome {
  const paths = files.map((file) => [file, reportOf(file, LOGS)] as const);
  const reports = paths.filter(([, path]) => existsSync(path)).map(([file, path]) =>
    [file, readFileSync(path, "utf8")] as const
  );
  const missing = testsWithoutReport(parseCoverage(readFileSync(COVERAGE, "utf8")), new Map(reports));
  return {
    passed: missing.length === 0 ? 1 : 0,
    failed: missing.length === 0 ? 0 : 1,
    skipped: 0,
    reasons: [],
    output: ["these tests did not run:", ...missing].join("\n"),
    milliseconds: 0,
  };
}

function report({ passed, failed, skipped, reasons }: Totals): void {
  console.log("");
  if (skipped > 0) {
    console.log(`${skipped} skipped:`);
    for (const reason of reasons) console.log(`  ${reason}`);
    console.log("");
  }
  console.log(`${passed} passed, ${failed} failed`);
}

process.exitCode = await main(process.argv.slice(2));
