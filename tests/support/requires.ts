/**
 * What a test needs of the machine. A test whose need is not met is skipped with its reason, which the runner lists
 * (`tests/run.ts`); under `CI=true` it fails, since a suite that was skipped did not pass.
 */

import assert from "node:assert/strict";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";

/** Begins each line on standard error that tells of a skipped test. */
export const SKIP_MARK = "tarn-test-skipped:";

/** Returns whether a program is there; if not, the test is skipped, or fails under CI. */
export function requireTool(t: TestContext, tool: string): boolean {
  return requireThat(t, findTool(tool) !== undefined, `${tool} is not installed`);
}

/** Returns `condition`; if it does not hold, the test is skipped with `reason`, or fails under CI. */
export function requireThat(t: TestContext, condition: boolean, reason: string): boolean {
  if (condition) return true;
  assert.notEqual(process.env["CI"], "true", `a required test cannot run: ${reason}`);
  console.error(`${SKIP_MARK} ${t.name}: ${reason}`);
  t.skip(reason);
  return false;
}

/** Returns the path of a program found in `PATH`. */
export function findTool(tool: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, tool);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
