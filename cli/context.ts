/** What a command works with. */

import type { ParsedArguments } from "./arguments.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Environment } from "./environment.ts";
import type { Messages } from "./messages.ts";
import type { Output } from "./output.ts";
import type { Session } from "./session.ts";
import type { Sink } from "./streams.ts";
import type { VerbSpec } from "./verbs/verb.ts";

export interface Context {
  readonly verb: VerbSpec;
  /** The words that named the verb, which may be lakectl's. */
  readonly words: string;
  readonly arguments: ParsedArguments;
  readonly environment: Environment;
  /** Results, on standard output. */
  readonly output: Output;
  /** Everything else, on standard error. */
  readonly messages: Messages;
  readonly session: Session;
  readonly catalogs: Catalogs;
  /** Runs another command line in the same session; its results go to `sink`, or to where this command's go. */
  readonly runAnother: (argv: readonly string[], sink?: Sink) => Promise<number>;
}
