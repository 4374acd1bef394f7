/** Python with packages of clients, in a folder that is kept between runs. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { requireTool } from "../../support/requires.ts";
import { keptFolder, type ProgramRun, runProgram } from "./programs.ts";

/**
 * Returns a Python interpreter that has the packages (each `name==version`), which are installed if they are not yet; if
 * they cannot be, the test is skipped, or fails under CI.
 */
export function pythonWith(t: TestContext, packages: readonly string[]): string | undefined {
  if (!requireTool(t, "python3")) return undefined;
  const folder = keptFolder(t, packages, (partial) => install(partial, packages));
  return folder && join(folder, "bin", "python");
}

/** A virtual environment is found by its interpreter's path alone, so it may be moved as long as that is what is run. */
function install(folder: string, packages: readonly string[]): string | undefined {
  const venv = spawnSync("python3", ["-m", "venv", folder], { encoding: "utf8" });
  if (venv.status !== 0) return venv.stdout + venv.stderr;
  const args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages];
  const pip = spawnSync(join(folder, "bin", "python"), args, { encoding: "utf8" });
  return pip.status === 0 ? undefined : pip.stdout + pip.stderr;
}

/** Runs a Python program to its end; returns its exit code and what it printed. */
export async function runPython(python: string, args: readonly string[]): Promise<ProgramRun> {
  return await runProgram(python, ["-W", "error::ResourceWarning", ...args]);
}
