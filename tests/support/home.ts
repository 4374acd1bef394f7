/** A home of a test's own, and commands of the executable on it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type CliOptions, type CliResult, runTarn } from "./cli.ts";
import { type Ending, temporaryFolder } from "./temporary.ts";

export interface Home {
  /** A folder that is removed after the test; the home lies in it, and commands run in it. */
  readonly folder: string;
  readonly path: string;
  /** Runs a command, whatever its exit code. */
  run(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** Runs a command that must succeed. */
  ok(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** Runs a command that must succeed; returns what it prints. */
  text(args: readonly string[], options?: CliOptions): Promise<string>;
  /** Runs a command with `--json` that must succeed; returns the document. */
  // deno-lint-ignore no-explicit-any
  json(args: readonly string[], options?: CliOptions): Promise<any>;
}

/** Returns a home that is not made yet: the first writing command makes it. */
export function openHome(t: Ending): Home {
  const folder = temporaryFolder(t);
  const path = join(folder, "home");
  const run: Home["run"] = (args, options = {}) =>
    runTarn(args, { cwd: folder, ...options, env: { TARN_HOME: path, TARN_USER: "tester", ...options.env } });
  const ok: Home["ok"] = async (args, options) => {
    const result = await run(args, options);
    assert.equal(result.code, 0, `tarn ${args.join(" ")}: exit ${result.code}\n${result.stderr}`);
    return result;
  };
  const text: Home["text"] = async (args, options) => (await ok(args, options)).stdout.toString();
  return {
    folder,
    path,
    run,
    ok,
    text,
    json: async (args, options) => JSON.parse(await text([...args, "--json"], options)),
  };
}
