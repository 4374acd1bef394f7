/** The repository, branch, tag or object that a mistyped name most likely meant, looked up when an error says that there is none. */

import { CodedError } from "../base/errors.ts";
import type { Store } from "../drivers/store.ts";
import { repositoryOf } from "./completion/uris.ts";
import { closest } from "../base/suggestions.ts";

/** So many names of a kind are compared. */
const MOST_NAMES = 2000;

/**
 * Returns the error with the nearest known name as `suggestion` in its details, or as it is when there is none. `words` are
 * the arguments of the command: the first URI among them names the repository.
 */
export async function withSuggestion(
  error: unknown,
  { store, words }: { store: () => Promise<Store>; words: readonly string[] },
): Promise<unknown> {
  if (!(error instanceof CodedError)) return error;
  let near: string | undefined;
  try {
    near = await nearest(error, { store, repository: repositoryOf(words) });
  } catch {
    // The error that is there says more than one that comes of looking for a suggestion.
  }
  if (near === undefined) return error;
  const suggesting = new CodedError(error.kind, error.code, error.message, {
    details: { ...error.details, suggestion: near },
    cause: error.cause,
  });
  suggesting.stack = error.stack;
  return suggesting;
}

async function nearest(
  error: CodedError,
  { store, repository }: { store: () => Promise<Store>; repository: string | undefined },
): Promise<string | undefined> {
  if (error.code === "object_not_found") {
    const { path, ref } = error.details;
    if (repository === undefined || typeof path !== "string" || typeof ref !== "string") return undefined;
    return await nearestPath(await store(), { repository, ref, path });
  }
  const name = mistypedName(error);
  return name === undefined
    ? undefined
    : closest(name, await namesLike(error.code, await store(), repository));
}

/** Returns the object or folder beside a path whose last part is nearest to the path's. */
async function nearestPath(
  store: Store,
  { repository, ref, path }: { repository: string; ref: string; path: string },
): Promise<string | undefined> {
  const lastPart = (whole: string) => whole.replace(/\/$/, "").replace(/^.*\//s, "");
  const folder = path.replace(/[^/]*\/?$/, "");
  const beside = new Map<string, string>();
  const options = { prefix: folder, delimiter: "/", amount: MOST_NAMES };
  for await (const page of store.list(repository, ref, options)) {
    for (const item of page) {
      const found = item.kind === "object" ? item.stats.path : item.path;
      beside.set(lastPart(found), found);
    }
    if (beside.size >= MOST_NAMES) break;
  }
  return beside.get(closest(lastPart(path), [...beside.keys()]) ?? "");
}

function mistypedName({ code, details }: CodedError): string | undefined {
  const name = code === "repository_not_found"
    ? details["repository"]
    : code === "branch_not_found"
    ? details["branch"]
    : code === "tag_not_found"
    ? details["tag"]
    : code === "ref_not_found"
    ? details["ref"]
    : undefined;
  return typeof name === "string" ? name : undefined;
}

async function namesLike(code: string, store: Store, repository: string | undefined): Promise<string[]> {
  if (code === "repository_not_found") return await idsOf(store.listRepositories());
  if (repository === undefined) return [];
  return [
    ...code === "tag_not_found" ? [] : await idsOf(store.listBranches(repository)),
    ...code === "branch_not_found" ? [] : await idsOf(store.listTags(repository)),
  ];
}

async function idsOf(pages: AsyncIterable<readonly { readonly id: string }[]>): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of pages) {
    for (const { id } of page) ids.push(id);
    if (ids.length >= MOST_NAMES) break;
  }
  return ids;
}
