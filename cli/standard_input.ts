/** Standard input as what a command takes. */

import process from "node:process";
import type { Context } from "./context.ts";
import { readDescriptor } from "./streams.ts";

/** Yields standard input to its end; a person at the keyboard is told how to end it. */
export async function* standardInput({ environment, messages }: Context): AsyncGenerator<Uint8Array> {
  if (environment.inputIsTerminal()) {
    const end = process.platform === "win32" ? "Ctrl-Z and Enter" : "Ctrl-D";
    messages.note(`Reading what you type, until ${end} on a line of its own`);
  }
  yield* readDescriptor(0);
}
