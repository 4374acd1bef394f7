/** The command line's face: runs it and returns the exit code. Imports little, so that short commands start fast. */

import { processEnvironment } from "./environment.ts";
import { EXIT_OK, exitCodeOf } from "./exit_codes.ts";
import { errorForm, runCommandLine, type RunOptions, verbOf } from "./run.ts";
import { handleSignals, unlessInterrupted } from "./signals.ts";
import { ReaderGone, standardOutput, writeMessage } from "./streams.ts";

/** Runs a command line (without the program's name) and returns the exit code. Never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  const stopHandling = handleSignals(errorForm(argv));
  try {
    const code = await runToExitCode(argv, { environment: processEnvironment, sink: standardOutput() });
    // What ends meanwhile does not end the program before its last words.
    await unlessInterrupted();
    return code;
  } finally {
    stopHandling();
  }
}

/** Runs a command line, its errors shown, and returns the exit code. */
export async function runToExitCode(argv: readonly string[], options: RunOptions): Promise<number> {
  try {
    return await runCommandLine(argv, options);
  } catch (error) {
    await unlessInterrupted();
    // Whoever stops reading has what they wanted.
    if (error instanceof ReaderGone) return EXIT_OK;
    const { describeError } = await import("./report.ts");
    const { environment } = options;
    const terminal = environment.messagesAreTerminal();
    const color = terminal && environment.wantsColor();
    const columns = terminal ? environment.columns() : Infinity;
    (options.writeMessage ?? writeMessage)(
      describeError(error, { ...errorForm(argv), color, terminal, columns, verb: verbOf(argv) }),
    );
    return exitCodeOf(error);
  }
}
