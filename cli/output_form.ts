/** In which form a command line wants its results, and where. */

import { CodedError } from "../base/errors.ts";
import type { ParsedArguments } from "./arguments.ts";
import type { JsonMode } from "./output.ts";
import type { TableFormat } from "./tables/fields.ts";
import { TABLE_FORMATS } from "./verbs/choices.ts";

export interface OutputForm {
  readonly json: JsonMode;
  readonly table?: TableFormat;
  /** The file that results go to in place of standard output. */
  readonly file?: string;
}

/** Reads `--json`, `--jsonl`, `--format` and `--output`. Fails with `invalid_argument`. */
export function outputFormOf(given: ParsedArguments, outputIsTerminal: () => boolean): OutputForm {
  const table = tableOf(given);
  const output = given.value("output");
  const file = output === undefined || output === "-" ? {} : { file: output };
  if (!table) {
    return { json: given.flag("jsonl") ? "lines" : given.flag("json") ? "document" : "none", ...file };
  }
  if (table === "parquet" && output === undefined && outputIsTerminal()) {
    refuse("Cannot write Parquet to a terminal: add --output FILE, or send it to a program");
  }
  return { json: "table", table, ...file };
}

function tableOf(given: ParsedArguments): TableFormat | undefined {
  const format = given.choice("format", TABLE_FORMATS);
  if (format === undefined) return undefined;
  const json = ["json", "jsonl"].find((name) => given.flag(name));
  if (json !== undefined) refuse(`Cannot use "--${json}" with "--format": a result has one form`);
  return format;
}

function refuse(message: string): never {
  throw new CodedError("invalid", "invalid_argument", message);
}
