/**
 * What may stand next on a command line: verbs, options, repositories, refs, paths. Every candidate begins with what was
 * typed, so that a shell can put it in its place.
 */

import type { OptionSpec, OptionTable } from "../arguments.ts";
import type { Context } from "../context.ts";
import { SCHEME } from "../locations.ts";
import type { Session } from "../session.ts";
import { findVerb, secondWords, VERBS } from "../verbs/mod.ts";
import { GLOBAL_OPTIONS, type VerbSpec } from "../verbs/verb.ts";
import { completeRef, completeUri, repositoryOf } from "./uris.ts";

/** Files of this machine may stand here; the shell knows them. */
export const FILES = ":files";

/** The verbs that take names of this machine's files. */
const LOCAL_VERBS = new Set(["put", "get", "cp", "mv", "init", "quickstart", "fetch", "snapshot"]);
/** The verbs whose second argument is a ref of the repository that the first one names. */
const REF_SECOND = new Set(["revert", "cherry-pick", "tag create", "diff"]);
const LOCAL_VALUES = /^(PATH|DIR|FILE|FOLDER)$/;
const REF_VALUES = /^(REF|COMMIT)$/;

/** Returns the candidates for the last of the words (without the program's name), which may be empty. */
export async function complete(
  words: readonly string[],
  { session, catalogs }: Pick<Context, "session" | "catalogs">,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const found = verbOf(before);
  if (!found) {
    return startingWith(current, current.startsWith("-") ? optionNames(GLOBAL_OPTIONS) : nextWords(before));
  }
  const { verb, rest } = found;
  const table = { ...GLOBAL_OPTIONS, ...verb.options };
  const place = placeOf(rest, table);
  const repository = repositoryOf(place.positionals);
  const store = () => session.store();
  if (place.option) return await completeValue(place.option, { current, repository, store });
  const inline = /^(--[a-z-]+=)(.*)$/s.exec(current);
  if (inline && !place.isPositional) {
    const spec = table[inline[1]!.slice(2, -1)];
    const values = spec ? await completeValue(spec, { current: inline[2]!, repository, store }) : [];
    return values.map((value) => value === FILES ? value : inline[1] + value);
  }
  if (current.startsWith("-") && !place.isPositional) return startingWith(current, optionNames(table));
  if (verb.name === "help") return startingWith(current, nextWords(place.positionals));
  if (verb.choices) return startingWith(current, verb.choices);
  const candidates: string[] = [];
  if (takesUri(verb, place.positionals.length)) {
    candidates.push(...await completeUri(current, await store()));
    const { completeCatalogUri } = await import("./catalog_uris.ts");
    candidates.push(...await completeCatalogUri(current, catalogs));
  }
  if (repository !== undefined && place.positionals.length === 1 && REF_SECOND.has(verb.name)) {
    candidates.push(...await completeRef(current, await store(), repository));
  }
  if (LOCAL_VERBS.has(verb.name) && !current.startsWith(`${SCHEME}:`)) candidates.push(FILES);
  return candidates;
}

interface Asked {
  readonly current: string;
  readonly repository: string | undefined;
  readonly store: () => ReturnType<Session["store"]>;
}

async function completeValue(
  spec: OptionSpec,
  { current, repository, store }: Asked,
): Promise<readonly string[]> {
  if (spec.choices) return startingWith(current, spec.choices);
  const value = spec.value ?? "";
  if (LOCAL_VALUES.test(value)) return [FILES];
  if (value === "URI" && current.startsWith(SCHEME)) return await completeUri(current, await store());
  if ((REF_VALUES.test(value) || value === "URI") && repository !== undefined) {
    return await completeRef(current, await store(), repository);
  }
  return [];
}

/** A verb of two words counts once both are there. */
function verbOf(before: readonly string[]): ReturnType<typeof findVerb> {
  try {
    return findVerb(before);
  } catch {
    return undefined;
  }
}

/** Returns the words that may follow those that are no options. */
function nextWords(before: readonly string[]): readonly string[] {
  const words = before.filter((word) => !word.startsWith("-"));
  if (words.length === 0) return [...new Set(VERBS.map(({ name }) => name.split(" ")[0]!))];
  if (words.length > 1) return [];
  return secondWords(words[0]!);
}

interface Place {
  readonly positionals: readonly string[];
  /** The option whose value the current word is. */
  readonly option?: OptionSpec;
  /** Whether `--` came before. */
  readonly isPositional: boolean;
}

/** Returns where the word after these stands. */
function placeOf(rest: readonly string[], table: OptionTable): Place {
  const positionals: string[] = [];
  let option: OptionSpec | undefined;
  for (const [i, word] of rest.entries()) {
    if (option) option = undefined;
    else if (word === "--") {
      return { positionals: [...positionals, ...rest.slice(i + 1)], isPositional: true };
    } else if (word.startsWith("-") && word !== "-") {
      option = word.includes("=") ? undefined : valueOption(word, table);
    } else positionals.push(word);
  }
  return { positionals, option, isPositional: false };
}

function valueOption(word: string, table: OptionTable): OptionSpec | undefined {
  const spec = word.startsWith("--")
    ? table[word.slice(2)]
    : Object.values(table).find(({ short }) => word.length === 2 && short === word[1]);
  return spec?.value === undefined ? undefined : spec;
}

function optionNames(table: OptionTable): readonly string[] {
  return Object.entries(table).filter(([, { hidden }]) => !hidden).map(([name]) => `--${name}`);
}

/** Whether an argument of this position can be a URI; after a folder or file of this machine comes none. */
function takesUri({ name, takes }: VerbSpec, position: number): boolean {
  if (position >= takes[1]) return false;
  if (name === "init" || name === "quickstart" || name === "help") return false;
  return position === 0 || !["put", "get", "repo create", "fetch", "snapshot"].includes(name);
}

function startingWith(current: string, candidates: readonly string[]): readonly string[] {
  return candidates.filter((candidate) => candidate.startsWith(current));
}
