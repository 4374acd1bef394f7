/** Running a program that the user names on the command line: without a shell, in the user's own surroundings. */

import { spawn } from "node:child_process";
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
  const child = spawn(program!, args, { stdio: [...ITS_STREAMS], env: environment });
  // An interrupt of ours must not leave it behind.
  const stop = () => void child.kill();
  process.on("exit", stop);
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve(code ?? signal ?? "unknown"));
    });
  } catch (error) {
    const code = (error as { code?: string }).code;
    const why = code === "ENOENT"
      ? "there is no such program"
      : code === "EACCES"
      ? "it may not be run"
      : String((error as Error).message);
    throw new CodedError("invalid", "command_failed", `Cannot run "${program}": ${why}`, {
      details: { command: [program, ...args] },
      cause: error,
    });
  } finally {
    process.off("exit", stop);
  }
}
