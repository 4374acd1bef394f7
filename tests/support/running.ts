/** Runs one step or one test file as a process, and tells what came of it. */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import process from "node:process";
import { SKIP_MARK } from "./requires.ts";

export interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why tests were skipped, as they told it. */
  readonly reasons: readonly string[];
  readonly output: string;
  readonly milliseconds: number;
}

/** No single test may take longer, and no file. */
const TEST_TIMEOUT_MS = 10 * 60_000;
const FILE_TIMEOUT_MS = 30 * 60_000;

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", ".git"]);

/** Returns the test files below a folder, in order of their paths. */
export function findTestFiles(folder: string): string[] {
  const files: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) {
      files.push(...findTestFiles(join(folder, entry.name)));
    } else if (entry.isFile() && entry.name.endsWith("_test.ts")) files.push(join(folder, entry.name));
  }
  return files.map((file) => file.replaceAll(sep, "/")).sort();
}

/** Runs a command; it passes if it ends with 0. */
export async function runStep({ command }: Step): Promise<Outcome> {
  const { exitCode, output, milliseconds } = await runProcess(command, { ...process.env, NO_COLOR: "1" });
  const passed = exitCode === 0 ? 1 : 0;
  return { passed, failed: 1 - passed, skipped: 0, reasons: [], output, milliseconds };
}

/** Returns where the report of a test file is written. */
export function reportOf(file: string, logs: string): string {
  return join(logs, `${logName(file)}.xml`);
}

function logName(file: string): string {
  return file.replaceAll("/", "__");
}

/** Runs a test file and counts its tests by the report that Bun writes of them. */
export async function runTestFile(
  bun: string,
  { file, logs }: { file: string; logs: string },
): Promise<Outcome> {
  const reportFile = reportOf(file, logs);
  const timeout = ["--timeout", String(TEST_TIMEOUT_MS)];
  const reporter = ["--reporter=junit", `--reporter-outfile=${reportFile}`];
  const { exitCode, output, milliseconds } = await runProcess([
    bun,
    "test",
    ...timeout,
    ...reporter,
    `./${file}`,
  ]);
  writeFileSync(join(logs, `${logName(file)}.log`), output);
  const counts = existsSync(reportFile) ? countTests(readFileSync(reportFile, "utf8")) : undefined;
  const reasons = skipReasons(output);
  if (!counts || counts.tests === 0) {
    return { passed: 0, failed: 1, skipped: 0, reasons, output: `${output}\nno test was run`, milliseconds };
  }
  const { tests, failures, skipped } = counts;
  // Something outside of the tests may have failed too, such as the file's own code or a promise that nobody awaited.
  const failed = exitCode !== 0 && failures === 0 ? 1 : failures;
  return { passed: tests - failures - skipped, failed, skipped, reasons, output, milliseconds };
}

/** Returns what the first element of a JUnit report counts, or `undefined` for what is no such report. */
export function countTests(report: string): { tests: number; failures: number; skipped: number } | undefined {
  const element = /<testsuites\b[^>]*>/.exec(report)?.[0];
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(element ?? "")?.[1] ?? NaN);
  const [tests, failures, skipped] = [count("tests"), count("failures"), count("skipped")];
  return Number.isInteger(tests + failures + skipped) ? { tests, failures, skipped } : undefined;
}

/** Returns what the lines of skipped tests say (`requires.ts`). */
export function skipReasons(output: string): string[] {
  return output.split("\n").filter((line) => line.startsWith(SKIP_MARK)).map((line) =>
    line.slice(SKIP_MARK.length).trim()
  );
}

function runProcess(
  [program, ...args]: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ exitCode: number | null; output: string; milliseconds: number }> {
  const started = performance.now();
  return new Promise((resolve) => {
    const pieces: string[] = [];
    const child = spawn(program!, args, {
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: FILE_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (piece: string) => pieces.push(piece));
    }
    const end = (exitCode: number | null) =>
      resolve({ exitCode, output: pieces.join(""), milliseconds: performance.now() - started });
    child.on("error", (error) => {
      pieces.push(String(error));
      end(null);
    });
    child.on("close", (code) => end(code));
  });
}
