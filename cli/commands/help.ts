/** `help`: the verbs, or one of them, from the table that arguments are read by. */

import { CodedError } from "../../base/errors.ts";
import type { OptionTable } from "../arguments.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import type { Output } from "../output.ts";
import { closest } from "../../base/suggestions.ts";
import { wrapped, wrappedCommand } from "../render/wrap.ts";
import { VERB_GROUPS, verbNamed, VERBS, verbsOfGroup } from "../verbs/mod.ts";
import { type HelpTopic, TOPICS } from "../verbs/topics.ts";
import { GLOBAL_OPTIONS, type VerbSpec } from "../verbs/verb.ts";

const WIDTH = 100;
/** What stands before the explanations of a list; where less than as much is left for them, they go below. */
const VERB_CELLS = 17;
const OPTION_CELLS = 33;
const TERM_CELLS = 25;
const EXAMPLE = "  ";
const CONTINUED = "      ";

export async function run({ output, arguments: given }: Context): Promise<number> {
  const name = given.positionals.join(" ");
  if (name === "") {
    if (output.json === "none") showAll(output);
    else output.document(VERBS.map(verbJson));
    return EXIT_OK;
  }
  const topic = TOPICS.find((known) => known.name === name);
  if (topic) {
    if (output.json === "none") showTopic(output, topic);
    else output.document(topic);
    return EXIT_OK;
  }
  const verb = verbNamed(name);
  const verbs = verb ? [verb] : verbsOfGroup(name);
  if (verbs.length === 0) throw unknownVerb(name);
  if (output.json !== "none") output.document(verb ? verbJson(verb) : verbs.map(verbJson));
  else if (verb) showVerb(output, verb);
  else showGroup(output, verbs);
  return EXIT_OK;
}

function showAll(output: Output): void {
  showText(
    output,
    "tarn: data version control in one file. Branches, commits, merges, tags and time travel over objects.",
  );
  output.line("");
  output.line("Usage: tarn VERB URI… [options]");
  showText(output, "URIs: lakefs://REPO/REF/KEY, and names of your own (tarn help uris)");
  output.line("First steps: tarn quickstart");
  for (const [title, verbs] of VERB_GROUPS) {
    output.line("");
    output.line(output.paint("bold", title));
    showGroup(output, verbs);
  }
  output.line("");
  output.line(output.paint("bold", "Options of every verb"));
  showOptions(output, GLOBAL_OPTIONS);
  output.line("");
  output.line(output.paint("bold", "Explained apart"));
  for (const { name, summary } of TOPICS) {
    showExplained(output, { name: `help ${name}`, text: summary, cells: VERB_CELLS });
  }
  output.line("");
  showText(output, '"tarn help VERB" explains a verb, with examples.');
}

function showTopic(output: Output, { name, summary, parts }: HelpTopic): void {
  showText(output, `tarn help ${name}: ${summary}`);
  for (const part of parts) {
    output.line("");
    if (typeof part === "string") showText(output, part);
    else for (const [term, text] of part) showExplained(output, { name: term, text, cells: TERM_CELLS });
  }
}

function showGroup(output: Output, verbs: readonly VerbSpec[]): void {
  for (const { name, summary } of verbs) showExplained(output, { name, text: summary, cells: VERB_CELLS });
}

function widthOf(output: Output): number {
  return output.terminal ? Math.min(WIDTH, output.columns) : WIDTH;
}

function showText(output: Output, text: string): void {
  for (const line of wrapped(text, widthOf(output))) output.line(line);
}

/** Shows a name and what it means beside it, or below where the terminal is narrow. */
function showExplained(
  output: Output,
  { name, text, cells }: { name: string; text: string; cells: number },
): void {
  const room = widthOf(output) - cells;
  const isNarrow = room < cells;
  const lines = wrapped(text, isNarrow ? widthOf(output) - 6 : output.terminal ? room : Infinity);
  const indent = " ".repeat(isNarrow ? 6 : cells);
  if (isNarrow || name.length > cells - 3) output.line(`  ${name}`);
  else output.line(`  ${name.padEnd(cells - 3)} ${lines.shift()}`);
  for (const line of lines) output.line(`${indent}${line}`);
}

function showVerb(output: Output, verb: VerbSpec): void {
  // Where nobody reads along, what may be copied stays on one line.
  const width = output.terminal ? output.columns : Infinity;
  for (const line of wrapped(`tarn ${verb.name}: ${verb.summary}`, width)) output.line(line);
  output.line("");
  for (const usage of verb.usage) {
    for (const line of wrapped(`  tarn ${usage}`, width, CONTINUED)) output.line(line);
  }
  if (verb.about) {
    output.line("");
    showText(output, verb.about);
  }
  if (verb.options && Object.values(verb.options).some((option) => !option.hidden)) {
    output.line("");
    output.line(output.paint("bold", "Options"));
    showOptions(output, verb.options);
  }
  output.line("");
  output.line(output.paint("bold", "Examples"));
  for (const example of verb.examples) {
    const lines = wrappedCommand(
      exampleLine(example),
      width - EXAMPLE.length,
      CONTINUED.slice(EXAMPLE.length),
    );
    for (const line of lines) output.line(EXAMPLE + line);
  }
}

/** An example that begins with another program names ours itself. */
function exampleLine(example: string): string {
  return / \| tarn /.test(example) ? example : `tarn ${example}`;
}

function showOptions(output: Output, table: OptionTable): void {
  for (const [name, { short, value, hidden, help }] of Object.entries(table)) {
    if (hidden) continue;
    const names = `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
    showExplained(output, { name: names, text: help, cells: OPTION_CELLS });
  }
}

function verbJson(verb: VerbSpec): Record<string, unknown> {
  const options = Object.entries({ ...verb.options, ...GLOBAL_OPTIONS }).filter(([, option]) =>
    !option.hidden
  );
  return {
    name: verb.name,
    summary: verb.summary,
    usage: verb.usage.map((usage) => `tarn ${usage}`),
    about: verb.about ?? "",
    options: options.map(([name, { short, value, help }]) => ({
      name: `--${name}`,
      short: short === undefined ? "" : `-${short}`,
      value: value ?? "",
      help,
    })),
    examples: verb.examples.map(exampleLine),
  };
}

function unknownVerb(name: string): CodedError {
  const near = closest(name, [...VERBS, ...TOPICS].map((known) => known.name));
  return new CodedError("invalid", "invalid_argument", `Cannot explain "${name}": there is no such verb`, {
    details: near === undefined ? {} : { suggestion: near },
  });
}
