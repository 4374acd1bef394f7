/** Selectors: turning `?at=kind:value` into a ref expression. */

import { CodedError } from "../../base/errors.ts";
import { type Selector, splitTimeValue } from "../../base/uri.ts";
import { parseTime } from "../../base/time.ts";
import { commitAtTime, resolveRef } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { getRef } from "./refs.ts";

/** Returns a branch or tag name that is checked to be one, or a full commit ID for `commit:` and `ts:`. */
export async function select(
  repository: Repository,
  selector: Selector,
  ref: string | undefined,
): Promise<string> {
  switch (selector.kind) {
    case "branch":
    case "tag":
      return (await getRef(repository, selector.kind, selector.value)).id;
    case "commit":
      return await selectCommit(repository, selector.value);
    case "ts":
      return await selectTime(repository, selector.value, ref);
    default:
      throw new CodedError(
        "unsupported",
        "unsupported_selector",
        `Cannot use "?at=${selector.kind}:": this store has branches, tags, commits and times only`,
      );
  }
}

async function selectCommit(repository: Repository, id: string): Promise<string> {
  const commit = /^[0-9a-fA-F]{64}$/.test(id)
    ? await repository.commits.find(id.toLowerCase())
    : /^[0-9a-fA-F]{4,63}$/.test(id)
    ? await repository.commits.findByPrefix(id.toLowerCase())
    : undefined;
  if (commit) return commit.id;
  throw new CodedError("not_found", "ref_not_found", `Cannot find commit "${id}": no commit has that ID`, {
    details: { ref: id },
  });
}

/** `ts:TIME` keeps the ref of the path, `ts:BRANCH@TIME` names its own. */
async function selectTime(repository: Repository, value: string, ref: string | undefined): Promise<string> {
  const { branch, time } = splitTimeValue(value);
  const from = branch !== undefined ? (await getRef(repository, "branch", branch)).id : ref;
  if (from === undefined) {
    throw new CodedError("invalid", "invalid_uri", `Cannot use "?at=ts:${value}": the URI names no branch`);
  }
  const timeMs = parseTime(time, repository.clock.now());
  const { commit } = await resolveRef(repository.refs, repository.commits, from);
  return (await commitAtTime(repository.commits, commit, timeMs)).id;
}
