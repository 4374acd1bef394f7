/** Protected branches: changes come to them by merges, and by taking single commits back or over. */

import { isWellFormed } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { RepositorySettings } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";

const MAX_PATTERN_LENGTH = 1024;

/** Fails with `branch_protected` when a rule fits the branch; `verb` says what was tried. */
export async function refuseProtected(repository: Repository, branch: string, verb: string): Promise<void> {
  const { patterns } = await new RepositorySettings(repository.kv, repository.partition).branchProtection();
  const pattern = patterns.find((one) => matchesPattern(one, branch));
  if (pattern === undefined) return;
  throw new CodedError(
    "forbidden",
    "branch_protected",
    `Cannot ${verb} branch "${branch}": it is protected by the rule "${pattern}"; only merges may change it`,
    { details: { branch, pattern, verb } },
  );
}

/** Returns patterns of branches, each once. Fails with `invalid_pattern`. */
export function checkPatterns(patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) {
    if (pattern !== "" && pattern.length <= MAX_PATTERN_LENGTH && isWellFormed(pattern)) continue;
    throw new CodedError(
      "invalid",
      "invalid_pattern",
      `Cannot protect branches: a pattern must be 1 to ${MAX_PATTERN_LENGTH} characters of valid text`,
    );
  }
  return [...new Set(patterns)];
}

/**
 * Whether a pattern fits a name: `*` stands for any text, `?` for one character. Takes at most pattern times name steps,
 * whatever the pattern.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = [...pattern], given = [...name];
  let at = 0, star = -1, resumed = 0;
  for (let i = 0; i < given.length;) {
    if (wanted[at] === "*") {
      star = at++;
      resumed = i;
    } else if (at < wanted.length && (wanted[at] === "?" || wanted[at] === given[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      // The last star takes one character more.
      at = star + 1;
      i = ++resumed;
    } else return false;
  }
  while (wanted[at] === "*") at++;
  return at === wanted.length;
}
