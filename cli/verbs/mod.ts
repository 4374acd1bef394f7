/** All verbs, and how the words of a command line pick one. */

import { CodedError } from "../../base/errors.ts";
import { looksLikeUri } from "../../base/uri.ts";
import { firstWord } from "../arguments.ts";
import { closest } from "../../base/suggestions.ts";
import { CONFIG_VERBS } from "./config.ts";
import { HISTORY_VERBS } from "./history.ts";
import { OBJECT_VERBS } from "./objects.ts";
import { CACHE_VERBS } from "./cache.ts";
import { PIN_VERBS } from "./pins.ts";
import { REF_VERBS } from "./refs.ts";
import { COMPLETE_VERB, REPOSITORY_VERBS, START_VERBS } from "./start.ts";
import { SERVE_VERBS } from "./serve.ts";
import { UPKEEP_VERBS } from "./upkeep.ts";
import { GLOBAL_OPTIONS, type VerbSpec } from "./verb.ts";

/** The verbs under the headings of the help. */
export const VERB_GROUPS: readonly (readonly [string, readonly VerbSpec[]])[] = [
  ["Start", START_VERBS],
  ["Repositories", REPOSITORY_VERBS],
  ["Objects", OBJECT_VERBS],
  ["History", HISTORY_VERBS],
  ["Branches and tags", REF_VERBS],
  ["Pins", [...PIN_VERBS, ...CACHE_VERBS]],
  ["Configuration", CONFIG_VERBS],
  ["Server", SERVE_VERBS],
  ["Upkeep", UPKEEP_VERBS],
];

export const VERBS: readonly VerbSpec[] = VERB_GROUPS.flatMap(([, verbs]) => verbs);

/** Verbs of the catalog: they work on every store, and take URIs as they are. */
const CATALOG_VERBS = new Set([
  "put",
  "cat",
  "ls",
  "stat",
  "rm",
  "commit",
  "merge",
  "branch create",
]);
const EMBEDDED_VERBS = new Set([...OBJECT_VERBS, ...HISTORY_VERBS, ...REF_VERBS]);

/** Returns how many of the first arguments of a verb are URIs of the embedded engine, which others are to be resolved to. */
export function embeddedUris(verb: VerbSpec): number {
  if (REPOSITORY_VERBS.includes(verb)) return 1;
  return EMBEDDED_VERBS.has(verb) && !CATALOG_VERBS.has(verb.name) ? Infinity : 0;
}

/** lakectl's names of our verbs. */
const LAKECTL_NAMES: Readonly<Record<string, string>> = {
  "fs stat": "stat",
  "fs ls": "ls",
  "fs cat": "cat",
  "fs rm": "rm",
  "fs upload": "put",
  "fs download": "get",
  "branch reset": "reset",
  "branch revert": "revert",
  "show commit": "show",
};

/** lakectl's options that mean something else with our verb of that name. */
const LAKECTL_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "branch revert": { "-m": "--parent" },
};

/** Returns the verb of a name (`put`, `repo create`), lakectl's names included. */
export function verbNamed(name: string): VerbSpec | undefined {
  return VERBS.find((verb) => verb.name === name || verb.name === LAKECTL_NAMES[name]) ??
    (name === COMPLETE_VERB.name ? COMPLETE_VERB : undefined);
}

/** Returns the verbs of a group (`repo`): none when it is no group. */
export function verbsOfGroup(word: string): readonly VerbSpec[] {
  return VERBS.filter((verb) => verb.name.startsWith(`${word} `));
}

/** Returns the words that may follow the first word of a verb of two, lakectl's included. */
export function secondWords(word: string): readonly string[] {
  const names = [...VERBS.map(({ name }) => name), ...Object.keys(LAKECTL_NAMES)];
  return names.filter((name) => name.startsWith(`${word} `)).map((name) => name.slice(word.length + 1));
}

export interface FoundVerb {
  readonly verb: VerbSpec;
  /** The words that named it. */
  readonly words: string;
  /** Everything but those words. */
  readonly rest: readonly string[];
}

/**
 * Finds the verb of a command line: `undefined` when there is none at all. Fails with `invalid_argument`, naming the
 * nearest known verb.
 */
export function findVerb(argv: readonly string[]): FoundVerb | undefined {
  const at = firstWord(argv, GLOBAL_OPTIONS);
  if (at < 0) return undefined;
  const word = argv[at]!;
  const before = argv.slice(0, at);
  const after = argv.slice(at + 1);
  const next = firstWord(after, GLOBAL_OPTIONS);
  const two = next < 0 ? undefined : verbNamed(`${word} ${after[next]}`);
  if (two) {
    const words = `${word} ${after[next]}`;
    const rest = [...before, ...after.slice(0, next), ...after.slice(next + 1)];
    const renamed = LAKECTL_OPTIONS[words] ?? {};
    return { verb: two, words, rest: rest.map((argument) => renamed[argument] ?? argument) };
  }
  const one = verbNamed(word) ??
    (isShortCreate(word, next < 0 ? after : [after[next]!]) ? verbNamed(`${word} create`) : undefined);
  if (one) return { verb: one, words: word, rest: [...before, ...after] };
  const members = [...verbsOfGroup(word).map((verb) => verb.name), ...lakectlGroup(word)];
  if (members.length > 0) refuseSubverb(word, next < 0 ? undefined : after[next], members);
  const words = VERBS.map((verb) => verb.name.split(" ")[0]!);
  throw unknownVerb(word, closest(word, [...new Set(words)]));
}

/** `branch URI --from REF` and `tag URI --from REF` are short for `create`. */
function isShortCreate(word: string, next: readonly string[]): boolean {
  return (word === "branch" || word === "tag") && next.some(looksLikeUri);
}

function lakectlGroup(word: string): readonly string[] {
  return Object.keys(LAKECTL_NAMES).filter((name) => word === "fs" && name.startsWith("fs "));
}

function refuseSubverb(word: string, given: string | undefined, members: readonly string[]): never {
  if (given === undefined) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot run "${word}": it takes one of ${list(members)}`,
    );
  }
  const near = closest(`${word} ${given}`, members);
  throw unknownVerb(`${word} ${given}`, near);
}

function list(members: readonly string[]): string {
  return members.map((name) => `"${name}"`).join(", ");
}

function unknownVerb(name: string, near: string | undefined): CodedError {
  return new CodedError("invalid", "invalid_argument", `Cannot run "${name}": there is no such verb`, {
    details: near === undefined ? {} : { suggestion: near },
  });
}
