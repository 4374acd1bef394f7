/** Runs a TypeScript file as a process of its own, under whatever runtime runs the test. */

import process from "node:process";

/** Returns the command line that runs the file. */
export function commandOf(file: string, ...args: string[]): string[] {
  const run = "Deno" in globalThis ? ["run", "--allow-all"] : [];
  return [process.execPath, ...run, file, ...args];
}
