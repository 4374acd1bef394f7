/** Python with packages of lakeFS's clients, in a folder that is kept between runs. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { requireThat, requireTool } from "../../support/requires.ts";

/**
 * Returns a Python interpreter that has the packages (each `name==version`), which are installed if they are not yet; if
 * they cannot be, the test is skipped, or fails under CI.
 */
export function pythonWith(t: TestContext, packages: readonly string[]): string | undefined {
  if (!requireTool(t, "python3")) return undefined;
  const user = process.getuid?.() ?? 0;
  const folder = join(
    tmpdir(),
    `tarn-clients-${user}-${packages.join("-").replaceAll(/[^A-Za-z0-9.-]+/g, "_")}`,
  );
  const python = join(folder, "bin", "python");
  if (existsSync(python)) return python;
  const partial = `${folder}.${process.pid}.partial`;
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  const problem = install(partial, packages);
  if (problem === undefined) {
    try {
      renameSync(partial, folder);
    } catch {
      // Another run was first.
      rmSync(partial, { recursive: true, force: true });
    }
    return python;
  }
  rmSync(partial, { recursive: true, force: true });
  requireThat(t, false, `${packages.join(" ")} cannot be installed: ${problem}`);
  return undefined;
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
export async function runPython(
  python: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(python, ["-W", "error::ResourceWarning", ...args], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", HOME: "/nonexistent" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output += text);
  }
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output };
}
