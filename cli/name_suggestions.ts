/** The repository, branch or tag that a mistyped name most likely meant, looked up when an error says that there is none. */

import { CodedError } from "../base/errors.ts";
import type { Store } from "../drivers/store.ts";
import { repositoryOf } from "./completion/uris.ts";
import { closest } from "./suggestions.ts";

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
  const name = mistypedName(error);
  if (name === undefined) return error;
  let near: string | undefined;
  try {
    near = closest(name, await namesLike(error.code, await store(), repositoryOf(words)));
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
