/** The keys of a bucket, in order: of a branch; or, where buckets are repositories, of its refs one after the other. */

import { compareBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { ListItem, ListObjectsOptions, Store } from "../../drivers/store.ts";
import { refNames } from "./ref_names.ts";

export interface KeyOptions {
  readonly prefix: string;
  readonly delimiter: string;
  /** The first key is after this one. */
  readonly after: string;
  /** So many at the most will be taken. */
  readonly amount: number;
}

/** Items of one ref: their keys are `base` and their path. */
export interface KeyBlock {
  readonly base: string;
  readonly items: readonly ListItem[];
}

/** Yields the keys of a branch that is a bucket. Fails as `Store.list` does. */
export async function* branchKeys(
  store: Store,
  { repository, ref }: { readonly repository: string; readonly ref: string },
  options: KeyOptions,
): AsyncGenerator<KeyBlock> {
  for await (const items of store.list(repository, ref, listOptions(options))) yield { base: "", items };
}

/**
 * Yields the keys of a repository that is a bucket: REF/PATH. A ref that is not there has none. Fails with
 * `repository_not_found`.
 */
export async function* repositoryKeys(
  store: Store,
  repository: string,
  options: KeyOptions,
): AsyncGenerator<KeyBlock> {
  await store.getRepository(repository);
  const slash = options.prefix.indexOf("/");
  if (slash >= 0) {
    const ref = options.prefix.slice(0, slash);
    if (ref !== "") yield* refKeys(store, { repository, ref }, options);
    return;
  }
  const { prefix, delimiter, after } = options;
  const isOwnFold = delimiter.includes("/") && delimiter.length > 1;
  let folded = "";
  for (const ref of await refNames(store, repository, { prefix, after })) {
    const base = `${ref}/`;
    const at = delimiter === "" ? -1 : base.indexOf(delimiter, prefix.length);
    if (at >= 0) {
      const path = base.slice(0, at + delimiter.length);
      if (path === folded || isBefore(path, after)) continue;
      folded = path;
      yield { base: "", items: [{ kind: "common_prefix", path }] };
    } else if (isOwnFold) {
      yield* foldedKeys(store, { repository, ref }, options);
    } else {
      yield* refKeys(store, { repository, ref }, options);
    }
  }
}

/** Yields the keys below one ref. */
async function* refKeys(
  store: Store,
  { repository, ref }: { readonly repository: string; readonly ref: string },
  { prefix, after, ...options }: KeyOptions,
): AsyncGenerator<KeyBlock> {
  const base = `${ref}/`;
  const isInside = after.startsWith(base);
  if (!isInside && isBefore(base, after)) return;
  const inner = {
    ...options,
    prefix: prefix.slice(base.length),
    after: isInside ? after.slice(base.length) : "",
  };
  try {
    for await (const items of store.list(repository, ref, listOptions(inner))) yield { base, items };
  } catch (error) {
    if (!isNoRef(error)) throw error;
  }
}

/** Yields a ref's keys folded by a delimiter that may begin in the ref's name: by looking at each of them. */
async function* foldedKeys(
  store: Store,
  place: { readonly repository: string; readonly ref: string },
  { delimiter, ...options }: KeyOptions,
): AsyncGenerator<KeyBlock> {
  let folded = "";
  for await (
    const { base, items } of refKeys(store, place, { ...options, delimiter: "", amount: Infinity })
  ) {
    for (const item of items) {
      const key = base + (item.kind === "object" ? item.stats.path : item.path);
      const at = key.indexOf(delimiter, options.prefix.length);
      if (at < 0) yield { base, items: [item] };
      else {
        const path = key.slice(0, at + delimiter.length);
        if (path === folded || isBefore(path, options.after)) continue;
        folded = path;
        yield { base: "", items: [{ kind: "common_prefix", path }] };
      }
    }
  }
}

function listOptions({ prefix, delimiter, after, amount }: KeyOptions): ListObjectsOptions {
  return {
    prefix,
    ...(delimiter === "" ? {} : { delimiter }),
    ...(after === "" ? {} : { after }),
    ...(amount === Infinity ? {} : { amount }),
  };
}

/** Whether a key is no later than the mark of a listing. */
function isBefore(key: string, after: string): boolean {
  return after !== "" && compareBytes(utf8(key), utf8(after)) <= 0;
}

/** A ref that is not there, or whose name none can have, has no keys. */
function isNoRef(error: unknown): boolean {
  return isCoded(error) && error.code !== "repository_not_found" &&
    (error.kind === "not_found" || error.kind === "invalid");
}
