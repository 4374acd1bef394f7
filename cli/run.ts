/** One command line: find its verb, read its arguments, run it, and turn what it throws into an exit code. */

import { CodedError } from "../base/errors.ts";
import { checkChoice, type OptionTable, parseArguments, type ParsedArguments } from "./arguments.ts";
import { Catalogs } from "./catalogs.ts";
import type { Context } from "./context.ts";
import type { StoreCosts } from "../drivers/store.ts";
import type { Environment } from "./environment.ts";
import { Messages } from "./messages.ts";
import { Output } from "./output.ts";
import { outputFormOf } from "./output_form.ts";
import type { OpenStore } from "./session.ts";
import { Session } from "./session.ts";
import type { Sink } from "./streams.ts";
import type { OutputFile } from "./tables/output_file.ts";
import { embeddedUris, findVerb, verbNamed } from "./verbs/mod.ts";
import { GLOBAL_OPTIONS, type VerbSpec } from "./verbs/verb.ts";

export interface RunOptions {
  readonly environment: Environment;
  readonly sink: Sink;
  /** Where messages go; standard error when absent. */
  readonly writeMessage?: (text: string) => void;
  readonly openStore?: OpenStore;
  /** A session to share, left open; a new one otherwise. */
  readonly session?: Session;
}

/** Runs one command line to its end and returns the exit code. Errors are thrown. */
export async function runCommandLine(argv: readonly string[], options: RunOptions): Promise<number> {
  const { verb, words, given } = readCommandLine(argv);
  const environment = given.flag("offline")
    ? { ...options.environment, isOffline: () => true }
    : options.environment;
  const messages = new Messages({
    quiet: given.flag("quiet"),
    terminal: environment.messagesAreTerminal,
    mayAsk: () => environment.inputIsTerminal() && environment.messagesAreTerminal(),
    yes: given.flag("yes"),
    progress: !given.flag("no-progress"),
    columns: environment.columns,
    write: options.writeMessage,
  });
  const session = options.session ??
    new Session(environment, {
      chosenHome: given.value("home"),
      preferred: () => catalogs.preferredHome(),
      open: options.openStore,
    });
  const catalogs: Catalogs = new Catalogs({ environment, arguments: given, session, messages });
  const form = outputFormOf(given, environment.outputIsTerminal);
  const file = form.file === undefined ? undefined : await openFile(form.file, session);
  const output = new Output(withoutProgress(file?.sink ?? options.sink, messages), {
    json: form.json,
    table: form.table,
    terminal: !file && environment.outputIsTerminal(),
    color: environment.wantsColor(),
    columns: environment.columns,
  });
  const context: Context = {
    verb,
    words,
    arguments: given,
    catalogs,
    environment,
    output,
    messages,
    session,
    runAnother: (other, sink = options.sink) => runCommandLine(other, { ...options, sink, session }),
  };
  let failure: unknown;
  try {
    const code = await (await verb.load()).run(await withEmbeddedUris(context));
    await output.drain();
    await catalogs.close();
    await file?.finish();
    return code;
  } catch (error) {
    failure = error;
    output.discardJson();
    if (file) await file.discard();
    else await output.drain();
    throw await explained(error, session, given);
  } finally {
    messages.endProgress();
    await endSession(catalogs, { messages, failure });
    if (given.flag("stats")) messages.warn(costLine(await session.costs()));
    if (!options.session) await session.close();
  }
}

/** A command that failed says so, whatever the end of its session says; a hook that failed both is told of once. */
async function endSession(
  catalogs: Catalogs,
  { messages, failure }: { messages: Messages; failure: unknown },
): Promise<void> {
  try {
    await catalogs.close();
  } catch (error) {
    if (hookOf(error) !== undefined && hookOf(error) === hookOf(failure)) return;
    messages.warn(`tarn: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function hookOf(error: unknown): unknown {
  return error instanceof CodedError ? error.details["hook"] : undefined;
}

/** The embedded engine's own verbs take logical URIs, too: they are what they lead to. */
async function withEmbeddedUris(context: Context): Promise<Context> {
  const { verb, arguments: given, catalogs } = context;
  const count = embeddedUris(verb);
  if (count === 0) return context;
  const positionals: string[] = [];
  for (const [index, text] of given.positionals.entries()) {
    positionals.push(index < count ? await catalogs.embedded(text, verb.name) : text);
  }
  return { ...context, arguments: given.withPositionals(positionals) };
}

function costLine(costs: StoreCosts | undefined): string {
  const parts = Object.entries(costs ?? {}).map(([name, count]) => {
    return `${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}=${count}`;
  });
  return `stats: ${parts.join(" ") || "nothing was opened"}`;
}

async function openFile(path: string, session: Session): Promise<OutputFile> {
  return (await import("./tables/output_file.ts")).openOutputFile(path, () => session.ownFolders());
}

/** The progress line goes away before a result takes its place on the terminal. */
function withoutProgress(sink: Sink, messages: Messages): Sink {
  return {
    write(bytes) {
      messages.endProgress();
      return sink.write(bytes);
    },
  };
}

/** Names that nobody knows get the nearest known one; the code for it is loaded only then. */
async function explained(error: unknown, session: Session, given: ParsedArguments): Promise<unknown> {
  if (!(error instanceof CodedError) || error.kind !== "not_found") return error;
  const { withSuggestion } = await import("./name_suggestions.ts");
  return await withSuggestion(error, { store: () => session.store(), words: given.positionals });
}

/** Whether errors of this command line are wanted as JSON, or with their stack: also when it cannot be read. */
export function errorForm(argv: readonly string[]): { json: boolean; debug: boolean } {
  return {
    json: argv.includes("--json") || argv.includes("--jsonl"),
    debug: argv.includes("--debug"),
  };
}

/** Returns the name of a command line's verb, if it has one. */
export function verbOf(argv: readonly string[]): string | undefined {
  try {
    return findVerb(argv)?.verb.name;
  } catch {
    return undefined;
  }
}

interface ReadCommandLine {
  readonly verb: VerbSpec;
  /** The words that named the verb: lakectl has others. */
  readonly words: string;
  readonly given: ParsedArguments;
}

function readCommandLine(argv: readonly string[]): ReadCommandLine {
  checkText(argv);
  const found = findVerb(argv);
  if (!found) return withoutVerb(argv);
  const given = parseArguments(found.rest, { ...GLOBAL_OPTIONS, ...found.verb.options });
  if (given.flag("help") && (found.verb.name !== "help" || given.positionals.length === 0)) {
    return { verb: verbNamed("help")!, words: "help", given: helpFor(given, found.verb.name) };
  }
  checkPositionals(found.verb, given.positionals);
  return { verb: found.verb, words: found.words, given };
}

/** The runtime puts U+FFFD where an argument's bytes are no UTF-8; taken as it is, it would name something else. */
function checkText(argv: readonly string[]): void {
  const broken = argv.find((argument) => argument.includes("\ufffd"));
  if (broken === undefined) return;
  throw new CodedError("invalid", "invalid_argument", `Cannot read "${broken}": it is not UTF-8`);
}

/** `tarn` alone and `tarn --help` are `tarn help`; `tarn --version` and `tarn -V` are `tarn version`. */
function withoutVerb(argv: readonly string[]): ReadCommandLine {
  const table: OptionTable = { ...GLOBAL_OPTIONS, version: { short: "V", help: "print the version" } };
  const given = parseArguments(argv, table);
  const words = given.flag("version") ? "version" : "help";
  return { verb: verbNamed(words)!, words, given };
}

function helpFor(given: ParsedArguments, name: string): ParsedArguments {
  const flags = ["json", "jsonl"].filter((flag) => given.flag(flag)).map((flag) => `--${flag}`);
  return parseArguments([...name.split(" "), ...flags], GLOBAL_OPTIONS);
}

function checkPositionals(verb: VerbSpec, positionals: readonly string[]): void {
  const [fewest, most] = verb.takes;
  const count = positionals.length;
  if (count >= fewest && count <= most) {
    for (const text of verb.choices ? positionals : []) {
      checkChoice(`${verb.name} ${text}`, text, verb.choices!);
    }
    return;
  }
  const problem = count < fewest
    ? "an argument is missing"
    : `"${positionals[most]}" is one argument too many`;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot run "${verb.name}": ${problem}; write tarn ${verb.usage.join(" | tarn ")}`,
  );
}
