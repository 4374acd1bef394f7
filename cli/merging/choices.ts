/** `--resolve PATH=CHOICE`: what the user wants conflicting paths to become. */

import * as fs from "node:fs";
import { concatBytes, tryUtf8Text } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { looksLikeUri } from "../../base/uri.ts";
import { localError } from "../folders/local_files.ts";
import { type Location, parseLocation } from "../locations.ts";
import { readDescriptor } from "../streams.ts";
import { type PathPattern, pathPattern, splitAtEquals } from "./patterns.ts";

export type Choice =
  | { readonly kind: "base" | "source" | "destination" | "delete" }
  | { readonly kind: "uri"; readonly location: Location & { readonly repository: string } }
  | { readonly kind: "file"; readonly path: string };

export interface ChoiceRule {
  readonly pattern: PathPattern;
  readonly choice: Choice;
}

const WORDS: Readonly<Record<string, "base" | "source" | "destination" | "delete">> = {
  source: "source",
  dest: "destination",
  destination: "destination",
  base: "base",
  delete: "delete",
};

/** Reads `PATH=CHOICE`; `what` says where it stands, for messages. Fails with `invalid_argument`, `invalid_uri`. */
export function choiceRule(text: string, what: string): ChoiceRule {
  // Keys have "=" in them often enough (`year=2026/…`): a word ends the argument, a place begins with what only places do.
  const split = splitAtEquals(text, { from: "last", isValue: (value) => Object.hasOwn(WORDS, value) }) ??
    splitAtEquals(text, { from: "first", isValue: isPlace });
  if (!split) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot read ${what}: it must be PATH=CHOICE, where CHOICE is source, dest, base, delete, a URI, or a file such as ./merged.csv`,
    );
  }
  const [pattern, choice] = split;
  return { pattern: pathPattern(pattern, what), choice: choiceOf(choice, what) };
}

/** Reads the lines of a file, "-" being standard input: a rule each, none on empty lines and on those that begin with "#". */
export async function choiceRulesOf(file: string): Promise<ChoiceRule[]> {
  const text = await readText(file);
  const rules: ChoiceRule[] = [];
  for (const [i, whole] of text.replace(/^\ufeff/, "").split("\n").entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) continue;
    // As one writes in a file: spaces on both sides of the "=" belong to neither.
    const text = line.replace(/ += +(?=\S+$)/, "=");
    rules.push(choiceRule(text, `line ${i + 1} of "${file}"`));
  }
  return rules;
}

function isPlace(text: string): boolean {
  return looksLikeUri(text) || /^\.{0,2}\//.test(text);
}

function choiceOf(text: string, what: string): Choice {
  const kind = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
  if (kind !== undefined) return { kind };
  if (!looksLikeUri(text)) return { kind: "file", path: text };
  const location = parseLocation(text);
  if (location.repository === undefined || (location.ref === undefined && !location.at)) {
    throw new CodedError("invalid", "invalid_argument", `Cannot read ${what}: "${text}" names no object`);
  }
  return { kind: "uri", location: { ...location, repository: location.repository } };
}

async function readText(file: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  try {
    const descriptor = file === "-" ? 0 : fs.openSync(file, "r");
    try {
      for await (const piece of readDescriptor(descriptor)) pieces.push(piece);
    } finally {
      if (descriptor !== 0) fs.closeSync(descriptor);
    }
  } catch (error) {
    throw localError(error, `Cannot read "${file}"`);
  }
  const text = tryUtf8Text(concatBytes(...pieces));
  if (text === undefined) {
    throw new CodedError("invalid", "invalid_argument", `Cannot read "${file}": it is not UTF-8`);
  }
  return text;
}
