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

  private constructor(rules: readonly Rule[], keyOffset: number, outer: IgnoreRules | undefined) {
    this.#rules = rules;
    this.#keyOffset = keyOffset;
    this.#outer = outer;
  }

  /** The patterns of `--exclude`; without any, `undefined`: nothing is ignored then. */
  static ofPatterns(patterns: readonly string[]): IgnoreRules | undefined {
    const rules = patterns.flatMap((pattern) => ruleOf(pattern) ?? []);
    return rules.length > 0 ? new IgnoreRules(rules, 0, undefined) : undefined;
  }

  /** Adds the text of the file in the folder whose keys begin with `keyPrefix`. */
  static within(outer: IgnoreRules | undefined, text: string, keyPrefix: string): IgnoreRules | undefined {
    const lines = text.replace(/^\ufeff/, "").split("\n").map((line) => line.replace(/\r$/, ""));
    const rules = lines.flatMap((line) => line.startsWith("#") ? [] : ruleOf(line) ?? []);
    return rules.length > 0 ? new IgnoreRules(rules, keyPrefix.length, outer) : outer;
  }

  /** Returns whether what has this key, without a slash at its end, is left out. */
  ignores(key: string, isFolder: boolean): boolean {
    let rules: IgnoreRules | undefined = this as IgnoreRules;
    for (; rules; rules = rules.#outer) {
      const decision = rules.#decide(key, isFolder);
      if (decision !== undefined) return decision;
    }
    return false;
  }

  #decide(key: string, isFolder: boolean): boolean | undefined {
    const path = key.slice(this.#keyOffset);
    const name = path.slice(path.lastIndexOf("/") + 1);
    for (let i = this.#rules.length - 1; i >= 0; i--) {
      const rule = this.#rules[i]!;
      if (rule.foldersOnly && !isFolder) continue;
      if (rule.expression.test(rule.anyDepth ? name : path)) return !rule.isNegated;
    }
    return undefined;
  }
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
