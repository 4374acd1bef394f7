/** The repository, branch, tag or object that a mistyped name most likely meant, looked up when an error says that there is none. */

import { CodedError, type ErrorDetails } from "../base/errors.ts";
import type { Store } from "../drivers/store.ts";
import { repositoryOf } from "./completion/uris.ts";
import { closest } from "../base/suggestions.ts";

/** So many names of a kind are compared. */
const MOST_NAMES = 2000;

/**
 * Returns the error with what was most likely meant in its details, or as it is when nothing is like it: the nearest known
 * name as `suggestion`, the path of a `folder` that was taken for an object, a name with slashes as it is `encoded` in a
 * URI. `words` are the arguments of the command: the first URI among them names the repository.
 */
export async function withSuggestion(
  error: unknown,
  { store, words }: { store: () => Promise<Store>; words: readonly string[] },
): Promise<unknown> {
  if (!(error instanceof CodedError)) return error;
  let found: ErrorDetails | undefined;
  try {
    found = await detailsOf(error, { store, words });
  } catch {
    // The error that is there says more than one that comes of looking for a suggestion.
  }
  if (found === undefined) return error;
  const suggesting = new CodedError(error.kind, error.code, error.message, {
    details: { ...error.details, ...found },
    cause: error.cause,
  });
  suggesting.stack = error.stack;
  return suggesting;
}

async function detailsOf(
  error: CodedError,
  { store, words }: { store: () => Promise<Store>; words: readonly string[] },
): Promise<ErrorDetails | undefined> {
  const repository = repositoryOf(words);
  const place = missingObject(error, repository);
  const folder = place && await folderOf(await store(), place);
  if (folder !== undefined) return { folder };
  const ref = mistypedName(error);
  if (repository !== undefined && ref !== undefined && error.code !== "repository_not_found") {
    const encoded = await encodedName(await store(), { repository, ref, words });
    if (encoded !== undefined) return { encoded };
  }
  const suggestion = await nearest(error, { store, repository });
  return suggestion === undefined ? undefined : { suggestion };
}

interface ObjectPlace {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
}

function missingObject(
  { code, details }: CodedError,
  repository: string | undefined,
): ObjectPlace | undefined {
  const { path, ref } = details;
  if (code !== "object_not_found" || repository === undefined) return undefined;
  return typeof path === "string" && typeof ref === "string" ? { repository, ref, path } : undefined;
}

/** Returns the path of the folder that a path leads to, if it is one. */
async function folderOf(store: Store, { repository, ref, path }: ObjectPlace): Promise<string | undefined> {
  const prefix = path.endsWith("/") ? path : `${path}/`;
  for await (const page of store.list(repository, ref, { prefix, amount: 1 })) {
    if (page.length > 0) return prefix;
  }
  return undefined;
}

/** Returns the name of a branch or tag of which a URI's ref is the part before a slash, and its path goes on with the rest. */
async function encodedName(
  store: Store,
  { repository, ref, words }: { repository: string; ref: string; words: readonly string[] },
): Promise<string | undefined> {
  const uri = words.find((word) => word.includes("://")) ?? "";
  const rest = `${uri.replace(/^[^:]*:\/\/[^/]*\//, "").replace(/\?.*$/, "")}/`;
  const options = { prefix: `${ref}/` };
  const ids = [
    ...await idsOf(store.listBranches(repository, options)),
    ...await idsOf(store.listTags(repository, options)),
  ];
  return ids.find((id) => rest.startsWith(`${id}/`))?.replaceAll("/", "%2F");
}

async function nearest(
  error: CodedError,
  { store, repository }: { store: () => Promise<Store>; repository: string | undefined },
): Promise<string | undefined> {
  if (error.code === "object_not_found") {
    const place = missingObject(error, repository);
    return place && await nearestPath(await store(), place);
  }
  const name = mistypedName(error);
  return name === undefined
    ? undefined
    : closest(name, await namesLike(error.code, await store(), repository));
}

/** Returns the object or folder beside a path whose last part is nearest to the path's. */
async function nearestPath(
  store: Store,
  { repository, ref, path }: ObjectPlace,
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
