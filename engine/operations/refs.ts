/** Branches and tags: making, showing and deleting them. */

import { CodedError } from "../../base/errors.ts";
import type { RefInfo } from "../../drivers/store.ts";
import {
  checkBranchName,
  checkTagName,
  pointsAt,
  type RefRecord,
  resolveRef,
  type SeenRef,
} from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { refuseProtected } from "./protection.ts";

export type RefKind = "branch" | "tag";

/** Returns a branch or tag. Fails with `branch_not_found` or `tag_not_found`. */
export async function getRef(repository: Repository, kind: RefKind, name: string): Promise<RefInfo> {
  return refInfo((await findRef(repository, kind, name)).record);
}

/** Yields branches or tags; `after` is the last name of the page before, which may be gone by now. */
export async function* listRefs(
  repository: Repository,
  kind: RefKind,
  options: { prefix?: string; after?: string } = {},
): AsyncGenerator<readonly RefInfo[]> {
  for await (const page of repository.refs.list(kind, options)) {
    if (page.length > 0) yield page.map(refInfo);
  }
}

/** Makes a branch at the commit of a ref: a pointer, no data is copied. Fails with `branch_exists`, `tag_exists`. */
export async function createBranch(
  repository: Repository,
  branch: string,
  { source, who, isHidden }: { readonly source: string; readonly who: string; readonly isHidden?: boolean },
): Promise<RefInfo> {
  checkBranchName(branch);
  const { commit } = await resolveRef(repository.refs, repository.commits, source);
  const state = {
    commitId: commit.id,
    stagingToken: repository.newToken(),
    sealedTokens: [],
    ...(isHidden ? { isHidden } : {}),
  };
  const note = { operation: "branch create", who };
  return refInfo(await repository.refs.create({ name: branch, isDeleted: false, branch: state }, note));
}

/** Makes a tag at the commit of a ref. Fails with `tag_exists`, `branch_exists`. */
export async function createTag(
  repository: Repository,
  tag: string,
  { ref, who }: { readonly ref: string; readonly who: string },
): Promise<RefInfo> {
  checkTagName(tag);
  const { commit } = await resolveRef(repository.refs, repository.commits, ref);
  const note = { operation: "tag create", who };
  return refInfo(await repository.refs.create({ name: tag, isDeleted: false, tagCommitId: commit.id }, note));
}

/** Deletes a branch or tag; its record stays, marked, so that it can be restored. Fails with `branch_not_found` etc. */
export async function deleteRef(
  repository: Repository,
  kind: RefKind,
  { name, who }: { readonly name: string; readonly who: string },
): Promise<void> {
  if (kind === "branch" && name === repository.record.defaultBranch) {
    throw new CodedError(
      "invalid",
      "default_branch",
      `Cannot delete branch "${name}": it is the default branch`,
      {
        details: { branch: name },
      },
    );
  }
  if (kind === "branch") await refuseProtected(repository, name, "delete");
  while (true) {
    const seen = await findRef(repository, kind, name);
    const { move: _, ...content } = seen.record;
    const note = { operation: `${kind} delete`, who };
    if (await repository.refs.change(seen, { ...content, isDeleted: true }, note)) return;
  }
}

/**
 * Brings a deleted branch or tag back as it was, a branch with what was staged on it: the one of its kind that was deleted
 * last, or by the deletion of an `id`. Fails with `ref_not_deleted`.
 */
export async function restoreRef(
  repository: Repository,
  kind: RefKind,
  { name, who, id }: { readonly name: string; readonly who: string; readonly id?: string },
): Promise<RefInfo> {
  const restored = await repository.refs.restore(kind, name, { who, ...(id === undefined ? {} : { id }) });
  if (restored) return refInfo(restored);
  const which = id === undefined
    ? `no deleted ${kind} of that name is known`
    : `no deletion "${id}" of it is known`;
  throw new CodedError("not_found", "ref_not_deleted", `Cannot restore ${kind} "${name}": ${which}`, {
    details: { [kind]: name, ref: name },
  });
}

async function findRef(repository: Repository, kind: RefKind, name: string): Promise<SeenRef> {
  const seen = await repository.refs.find(name);
  if (seen && (seen.record.branch !== undefined) === (kind === "branch")) return seen;
  const other = kind === "branch" ? "tag" : "branch";
  throw new CodedError(
    "not_found",
    `${kind}_not_found`,
    `Cannot find ${kind} "${name}": ${seen ? `it is a ${other}` : "there is none of that name"}`,
    { details: { [kind]: name, ref: name, ...(seen ? { other_kind: other } : {}) } },
  );
}

function refInfo(record: RefRecord): RefInfo {
  return {
    id: record.name,
    commitId: pointsAt(record),
    ...(record.branch?.isHidden ? { isHidden: true } : {}),
  };
}
