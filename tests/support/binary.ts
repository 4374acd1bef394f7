/** The compiled executable, which tests run as a user would. `./compile.sh` builds it; nothing is built here. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const NAME = process.platform === "win32" ? "tarn.exe" : "tarn";

/** Returns the path of the executable; fails if it has not been built. */
export function binaryPath(): string {
  const path = fileURLToPath(new URL(`../../dist/${NAME}`, import.meta.url));
  assert.ok(existsSync(path), "dist/tarn is not there: run ./compile.sh first (./test.sh does)");
  return path;
}

export interface BinaryRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an executable to its end in `folder`, with no environment variable but those that are given. */
export function runBinary(
  args: readonly string[],
  options: { folder: string; environment?: Record<string, string>; program?: string; input?: string },
): BinaryRun {
  const { status, stdout, stderr, error } = spawnSync(options.program ?? binaryPath(), args, {
    cwd: options.folder,
    env: options.environment ?? {},
    input: options.input ?? "",
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  if (error) throw error;
  return { exitCode: status, stdout, stderr };
}
