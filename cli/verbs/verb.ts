/** What the program knows about a verb without loading its code. */

import type { OptionTable } from "../arguments.ts";
import type { Context } from "../context.ts";
import { TABLE_FORMATS } from "./choices.ts";

export interface Command {
  /** Does the work and returns the exit code; failures are thrown. */
  run(context: Context): Promise<number>;
}

export interface VerbSpec {
  /** One word, or two for the verbs of a group (`repo create`). */
  readonly name: string;
  readonly summary: string;
  /** Without the program's name. */
  readonly usage: readonly string[];
  readonly about?: string;
  /** The fewest and the most positional arguments. */
  readonly takes: readonly [number, number];
  /** All that an argument may be, where it is one of a few words. */
  readonly choices?: readonly string[];
  readonly options?: OptionTable;
  /** Without the program's name. */
  readonly examples: readonly string[];
  readonly load: () => Promise<Command>;
}

/** Options that every verb takes, before or after its name. */
export const GLOBAL_OPTIONS: OptionTable = {
  home: {
    value: "DIR",
    help: "the folder that holds everything (else TARN_HOME, the nearest .tarn, your own)",
  },
  config: {
    value: "FILE",
    help: "the configuration (else TARN_CONFIG, the nearest tarn.yaml, your own)",
  },
  offline: {
    help: "answer from the cache and this machine alone: no connection is made (else TARN_OFFLINE=1)",
  },
  tenant: { value: "NAME", help: "see what this tenant sees of it (else TARN_TENANT)" },
  json: { help: "print one JSON document" },
  jsonl: { help: "print lists as one JSON document a line" },
  yes: { short: "y", help: "do not ask before something is lost" },
  quiet: { short: "q", help: "no messages beside results and errors" },
  "no-progress": { help: "no progress display" },
  stats: { help: "tell what it cost on standard error: files, blocks and bytes read and written" },
  debug: { help: "show the stack of an error" },
  help: { short: "h", help: "show the help of a verb" },
};

/** The options of every verb on one object. lakectl's `--pre-sign` is taken and ignored. */
export const KEY_OPTION: OptionTable = {
  "pre-sign": { hidden: true, help: "ignored" },
  key: { value: "KEY", help: "the object's key as it is, undecoded; the URI then names REPO/REF only" },
};

export const RECURSIVE_OPTION: OptionTable = {
  recursive: { short: "r", help: "all objects under the URI" },
};

export const META_OPTION: OptionTable = {
  meta: { value: "K=V", multiple: true, help: "a metadata pair; may be repeated" },
};

/** The options of every verb whose result is a list. */
export const TABLE_OPTIONS: OptionTable = {
  format: { value: "FORMAT", choices: TABLE_FORMATS, help: "the list as a table file: csv or parquet" },
  output: { short: "o", value: "FILE", help: "write the result to FILE, whole or not at all" },
};
