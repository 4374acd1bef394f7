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

/**
 * Returns the folder into which the source of a package (`name==version`) was unpacked, and an interpreter that has
 * `packages`; else as {@link pythonWith}.
 */
export function pythonWithSource(
  t: TestContext,
  source: string,
  packages: readonly string[],
): { readonly python: string; readonly folder: string } | undefined {
  if (!requireTool(t, "python3") || !requireTool(t, "tar")) return undefined;
  const unpacked = source.replaceAll("-", "_").replace("==", "-");
  const folder = keptFolder(t, [`source of ${source}`, ...packages], (partial) => {
    const problem = install(partial, packages);
    if (problem !== undefined) return problem;
    const pip = [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--no-deps",
      "--no-binary",
      ":all:",
      "-d",
      partial,
      source,
    ];
    const archive = join(partial, `${unpacked}.tar.gz`);
    return run(join(partial, "bin", "python"), pip) ?? run("tar", ["-xzf", archive, "-C", partial]);
  });
  if (folder === undefined) return undefined;
  return { python: join(folder, "bin", "python"), folder: join(folder, unpacked) };
}

/** A virtual environment is found by its interpreter's path alone, so it may be moved as long as that is what is run. */
function install(folder: string, packages: readonly string[]): string | undefined {
  const args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages];
  return run("python3", ["-m", "venv", folder]) ?? run(join(folder, "bin", "python"), args);
}

/** Runs a command; returns what it printed if it failed. */
function run(command: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? undefined : stdout + stderr;
}

/** Runs a Python program to its end; returns its exit code and what it printed. */
export async function runPython(python: string, args: readonly string[]): Promise<ProgramRun> {
  return await runProgram(python, ["-W", "error::ResourceWarning", ...args]);
}
