/**
 * What a put of a folder leaves out: the patterns of `.tarnignore` files, in the syntax of `.gitignore`, and those of
 * `--exclude`.
 *
 * The last pattern that matches decides. A folder's own file counts before those of the folders around it, and
 * `--exclude` before all files. What is in an ignored folder is not looked at, so no pattern can bring it back.
 */

import { globExpression } from "./glob.ts";

export const IGNORE_FILE = ".tarnignore";

interface Rule {
  readonly expression: RegExp;
  /** It brings back what patterns before it left out. */
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  /** It is compared with the last name alone, at every depth. */
  readonly anyDepth: boolean;
}

/** The rules that hold in one folder, and through `outer` those of the folders around it. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];
  /** How long the keys' part is that patterns do not see: the folder's own key with its slash. */
  readonly #keyOffset: number;
  readonly #outer: IgnoreRules | undefined;
  /** The rules that count before all others, at any depth. */
  readonly #first: readonly Rule[];

  private constructor(
    rules: readonly Rule[],
    { keyOffset = 0, outer, first = [] }: {
      keyOffset?: number;
      outer?: IgnoreRules;
      first?: readonly Rule[];
    },
  ) {
    this.#rules = rules;
    this.#keyOffset = keyOffset;
    this.#outer = outer;
    this.#first = first;
  }

  /** The patterns of `--exclude`; without any, `undefined`: nothing is ignored then. */
  static ofPatterns(patterns: readonly string[]): IgnoreRules | undefined {
    const first = patterns.flatMap((pattern) => ruleOf(pattern) ?? []);
    return first.length > 0 ? new IgnoreRules([], { first }) : undefined;
  }

  /** Adds the text of the file in the folder whose keys begin with `keyPrefix`. */
  static within(outer: IgnoreRules | undefined, text: string, keyPrefix: string): IgnoreRules | undefined {
    const lines = text.replace(/^\ufeff/, "").split("\n").map((line) => line.replace(/\r$/, ""));
    const rules = lines.flatMap((line) => line.startsWith("#") ? [] : ruleOf(line) ?? []);
    if (rules.length === 0) return outer;
    return new IgnoreRules(rules, { keyOffset: keyPrefix.length, outer, first: outer ? outer.#first : [] });
  }

  /** Returns whether what has this key, without a slash at its end, is left out. */
  ignores(key: string, isFolder: boolean): boolean {
    return decide(this.#first, key, isFolder) ?? this.#decideByFiles(key, isFolder) ?? false;
  }

  #decideByFiles(key: string, isFolder: boolean): boolean | undefined {
    const decision = decide(this.#rules, key.slice(this.#keyOffset), isFolder);
    return decision === undefined && this.#outer ? this.#outer.#decideByFiles(key, isFolder) : decision;
  }
}

/** Returns what the last rule that matches says; `undefined` when none does. */
function decide(rules: readonly Rule[], path: string, isFolder: boolean): boolean | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (let i = rules.length - 1; i >= 0; i--) {
    const rule = rules[i]!;
    if (rule.foldersOnly && !isFolder) continue;
    if (rule.expression.test(rule.anyDepth ? name : path)) return !rule.isNegated;
  }
  return undefined;
}

function ruleOf(line: string): Rule | undefined {
  const isNegated = line.startsWith("!");
  let pattern = withoutTrailingSpaces(isNegated ? line.slice(1) : line);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const anyDepth = !pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  if (pattern === "") return undefined;
  const expression = globExpression(pattern);
  return expression && { expression, isNegated, foldersOnly, anyDepth };
}

/** Spaces at the end do not count unless a backslash stands before them. */
function withoutTrailingSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === " " && !isEscaped(text, end - 1)) end--;
  return text.slice(0, end);
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}
