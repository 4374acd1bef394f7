/**
 * Merge drivers by path: which one merges the conflicts of which files.
 *
 * They come from the command line and from the file `merge_drivers` in the user's own home. What lies in a repository, or in
 * a home that was found on the way up from the working folder, names none: they may run programs.
 */

import { isAbsolute, resolve } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { type PathPattern, pathPattern, splitAtEquals } from "../merging/patterns.ts";
import { closest } from "../../base/suggestions.ts";
import { mergeCsv } from "./csv.ts";
import { MAX_DRIVER_BYTES, type MergeDriver } from "./driver.ts";
import { executableDriver } from "./executable.ts";
import { mergeJson } from "./json.ts";
import { mergeText } from "./text.ts";

export interface DriverPlace {
  /** What programs with a relative path are relative to; absent where such paths are refused. */
  readonly folder?: string;
  readonly temporaryFolder: string;
  readonly markers: boolean;
}

/** A driver and the paths that it is for. */
export interface DriverRule {
  readonly pattern: PathPattern;
  readonly driver: MergeDriver;
}

/** Reads `GLOB=DRIVER`. Fails with `invalid_argument`. */
export function driverRule(text: string, what: string, place: DriverPlace): DriverRule {
  const split = splitAtEquals(text, { from: "last", isValue: (value) => FORM.test(value) });
  if (!split) refuseDriver(text, what);
  const [pattern, name] = split;
  return { pattern: pathPattern(pattern, what), driver: driverOf(name, what, place) };
}

/** The drivers by name, and what is written of each. */
const FORMS: Readonly<Record<string, string>> = {
  text: "text",
  json: "json",
  csv: "csv:COLUMN",
  exec: "exec:PROGRAM",
};
const FORM = /^(?:text|json|csv:.+|exec:.+)$/s;

function driverOf(name: string, what: string, place: DriverPlace): MergeDriver {
  const [kind, argument] = name.split(/:(.*)/s, 2);
  switch (kind) {
    case "text":
      return { name, merge: (sides) => mergeText(sides, { markers: place.markers }) };
    case "json":
      return { name, merge: mergeJson };
    case "csv":
      return { name, merge: (sides) => mergeCsv(sides, argument!) };
    default:
      return executableDriver(programPath(argument!, what, place), {
        temporaryFolder: place.temporaryFolder,
        maxResultBytes: MAX_DRIVER_BYTES,
      });
  }
}

/** A name without a slash is looked for where the system has its programs. */
function programPath(program: string, what: string, { folder }: DriverPlace): string {
  if (isAbsolute(program) || !program.includes("/")) return program;
  if (folder !== undefined) return resolve(folder, program);
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot read ${what}: "${program}" is no absolute path`,
  );
}

function refuseDriver(text: string, what: string): never {
  const given = text.slice(text.lastIndexOf("=") + 1);
  const near = closest(given.split(":")[0]!, Object.keys(FORMS));
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot read ${what}: it must be GLOB=DRIVER, where DRIVER is text, json, csv:COLUMN or exec:PROGRAM`,
    { details: near === undefined ? {} : { suggestion: FORMS[near] } },
  );
}
