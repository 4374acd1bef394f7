/** The steps of the gate that are no tests: format, lint, types, and the build that the tests of the executable need. */

import { existsSync, readdirSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Step } from "./running.ts";

/** Returns the steps in order; one whose tool is not there names what is missing instead of a command. */
export function gateSteps(bun: string): (Step | { name: string; missing: string })[] {
  const deno = findDeno();
  const withDeno = (name: string, args: readonly string[]) =>
    deno === undefined
      ? { name, missing: "no Deno that the package registry has runs on this platform" }
      : { name, command: [deno, ...args] };
  return [
    withDeno("format", ["fmt", "--check"]),
    withDeno("lint", ["lint"]),
    withDeno("types", ["check", "."]),
    { name: "build", command: [bun, "scripts/build.ts"] },
  ];
}

/** Deno's packages hold one program each; the one that runs here is taken. */
function findDeno(): string | undefined {
  const folder = join("node_modules", "@deno");
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder)
    .flatMap((name) => [join(folder, name, "deno"), join(folder, name, "deno.exe")])
    .find((program) => existsSync(program) && spawnSync(program, ["--version"]).status === 0);
}
