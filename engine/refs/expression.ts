/**
 * The grammar of ref expressions: `base(^N?|~N?)*`, then perhaps `@` for "the commit only, without uncommitted changes" or
 * `$` for "the staged state". No name contains any of these characters, so the base ends at the first of them.
 */

import { CodedError } from "../../base/errors.ts";

/** One step back: `parent` goes to parent N (0: stays), `ancestor` N times to the first parent. */
export interface RefStep {
  readonly kind: "parent" | "ancestor";
  readonly count: number;
}

export interface RefExpression {
  readonly base: string;
  readonly steps: readonly RefStep[];
  readonly scope: "default" | "committed" | "staged";
}

const MODIFIER = /[~^@$]/;
const NO_STEPS: readonly RefStep[] = [];

/** Parses a ref expression, which is nearly always a name alone. Fails with `invalid_ref`. */
export function parseRefExpression(text: string): RefExpression {
  if (text !== "" && !MODIFIER.test(text)) return { base: text, steps: NO_STEPS, scope: "default" };
  const [, base, modifiers, suffix] = /^([^~^@$]*)((?:[~^][0-9]*)*)([@$]?)$/.exec(text) ?? [];
  if (!base) {
    throw new CodedError(
      "invalid",
      "invalid_ref",
      `Cannot parse ref "${text}": it must be a branch, a tag or a commit ID, with "^", "^N", "~" or "~N" behind it`,
      { details: { ref: text } },
    );
  }
  const steps = [...modifiers!.matchAll(/([~^])([0-9]*)/g)].map(([, sign, digits]): RefStep => ({
    kind: sign === "^" ? "parent" : "ancestor",
    count: digits === "" ? 1 : Number(digits),
  }));
  return { base, steps, scope: suffix === "@" ? "committed" : suffix === "$" ? "staged" : "default" };
}
