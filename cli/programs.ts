/** Running a program that the user names on the command line: without a shell, in the user's own surroundings. */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { CodedError } from "../base/errors.ts";

/** What a program prints goes to our standard error: on our standard output are results alone. */
const ITS_STREAMS = ["inherit", 2, 2] as const;

/**
 * Runs a program to its end; returns its exit code, or the name of the signal that ended it. Fails with `command_failed`
 * when it cannot be run.
 */
export async function runProgram(
  [program, ...args]: readonly string[],
  { environment }: { readonly environment: Readonly<Record<string, string | undefined>> },
): Promise<number | string> {
  let child: ChildProcess | undefined;
  // An interrupt of ours must not leave it behind.
  const stop = () => void child?.kill();
  process.on("exit", stop);
  try {
    return await new Promise((resolve, reject) => {
      child = spawn(program!, args, { stdio: [...ITS_STREAMS], env: environment });
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve(code ?? signal ?? "unknown"));
    });
  } catch (error) {
    throw new CodedError("invalid", "command_failed", `Cannot run "${program}": ${whyNotStarted(error)}`, {
      details: { command: [program, ...args] },
      cause: error,
    });
  } finally {
    process.off("exit", stop);
  }
}

/** Says why a program could not be started, by what `spawn` throws or reports: either may come, and some only as a throw. */
export function whyNotStarted(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  switch (code) {
    case "ENOENT":
      return "there is no such program";
    case "EACCES":
      return "it may not be run";
    case "ENOEXEC":
      return "it is no program; a script must begin with #! and what runs it";
    case "ERR_INVALID_ARG_VALUE":
      return "it is no name of a program";
    default:
      return code ?? message ?? String(error);
  }
}
