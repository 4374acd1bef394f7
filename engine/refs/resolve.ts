/** Resolving ref expressions: branch, tag, full commit ID, unique commit prefix, in this order; then the steps back. */

import { CodedError } from "../../base/errors.ts";
import type { Commit, Commits } from "./commits.ts";
import { parseRefExpression, type RefStep } from "./expression.ts";
import type { Refs, SeenRef } from "./refs.ts";

export interface ResolvedRef {
  readonly commit: Commit;
  /** The branch as it was read, when the expression is a branch itself and so has staged changes beside its commit. */
  readonly branch?: SeenRef;
}

/**
 * Resolves a ref expression. `$` is refused unless the caller shows staged changes: elsewhere a ref stands for its commit.
 * Fails with `invalid_ref`, `ref_not_found`, `ref_beyond_history`, `ambiguous_ref`.
 */
export async function resolveRef(
  refs: Refs,
  commits: Commits,
  text: string,
  { showsStaged = false }: { readonly showsStaged?: boolean } = {},
): Promise<ResolvedRef> {
  const expression = parseRefExpression(text);
  if (expression.scope === "staged" && !showsStaged) {
    throw new CodedError(
      "invalid",
      "invalid_ref",
      `Cannot use "${text}" here: only commits count, so leave out the "$"`,
      {
        details: { ref: text },
      },
    );
  }
  const { branch, commit: base } = await resolveBase(refs, commits, expression.base);
  if (expression.scope === "staged" && (!branch || expression.steps.length > 0)) {
    throw new CodedError(
      "invalid",
      "invalid_ref",
      `Cannot resolve "${text}": only a branch has staged changes`,
      {
        details: { ref: text },
      },
    );
  }
  let commit = base;
  for (const step of expression.steps) commit = await stepBack(commits, commit, { step, text });
  const isBranchItself = branch && expression.steps.length === 0 && expression.scope !== "committed";
  return { commit, ...(isBranchItself ? { branch } : {}) };
}

async function resolveBase(
  refs: Refs,
  commits: Commits,
  base: string,
): Promise<{ commit: Commit; branch?: SeenRef }> {
  const seen = await refs.find(base);
  if (seen?.record.branch) {
    const { commitId } = seen.record.branch;
    return { commit: commits.known(commitId) ?? await commits.get(commitId), branch: seen };
  }
  if (seen?.record.tagCommitId !== undefined) return { commit: await commits.get(seen.record.tagCommitId) };
  const id = base.toLowerCase();
  if (/^[0-9a-f]{4,64}$/.test(id)) {
    const commit = id.length === 64 ? await commits.find(id) : await commits.findByPrefix(id);
    if (commit) return { commit };
  }
  throw new CodedError(
    "not_found",
    "ref_not_found",
    `Cannot find "${base}": no branch, tag or commit has that name`,
    {
      details: { ref: base },
    },
  );
}

async function stepBack(
  commits: Commits,
  from: Commit,
  { step, text }: { step: RefStep; text: string },
): Promise<Commit> {
  if (step.kind === "parent") {
    if (step.count === 0) return from;
    const parent = from.parents[step.count - 1];
    if (parent !== undefined) return await commits.get(parent);
    const count = from.parents.length;
    throw beyondHistory(
      text,
      from,
      count === 0 ? IS_FIRST : `has ${count} ${count === 1 ? "parent" : "parents"}`,
    );
  }
  let commit = from;
  for (let i = 0; i < step.count; i++) {
    const parent = commit.parents[0];
    if (parent === undefined) {
      const before = i === 1 ? "one commit" : `${i} commits`;
      throw beyondHistory(text, from, i === 0 ? IS_FIRST : `has only ${before} before it`);
    }
    commit = await commits.get(parent);
  }
  return commit;
}

const IS_FIRST = "is the first one: no commit stands before it";

function beyondHistory(text: string, { id }: Commit, why: string): CodedError {
  const message = `Cannot resolve "${text}": commit ${id.slice(0, 12)} ${why}`;
  return new CodedError("not_found", "ref_beyond_history", message, { details: { ref: text } });
}
