/** Repositories, refs and keys that a half-typed URI or ref may become. */

import { encodeSegment, looksLikeUri } from "../../base/uri.ts";
import type { RefInfo, Store } from "../../drivers/store.ts";
import { parseLocation, SCHEME } from "../locations.ts";

/** More than a person reads are not worth waiting for. */
const MOST = 200;
const START = `${SCHEME}://`;

/** Returns the URIs that begin with what was typed, the next part of them complete. */
export async function completeUri(typed: string, store: Store): Promise<readonly string[]> {
  if (!typed.startsWith(START)) {
    return START.startsWith(typed) ? await completeUri(START, store) : [];
  }
  const parts = typed.slice(START.length).split("/");
  const last = decoded(parts.at(-1)!);
  const before = parts.slice(0, -1).map(decoded);
  if (last === undefined || before.some((part) => part === undefined)) return [];
  const [repository, ref, ...folders] = before as readonly string[];
  const rest = (name: string) => typed + encodedRest(name.slice(last.length));
  if (repository === undefined) {
    return (await firstOf(store.listRepositories({ prefix: last }))).map(({ id }) => `${rest(id)}/`);
  }
  if (ref === undefined) return (await refsOf(store, repository, last)).map(({ id }) => `${rest(id)}/`);
  const prefix = [...folders, last].join("/");
  const items = await firstOf(store.list(repository, ref, { prefix, delimiter: "/", amount: MOST }));
  return items.map((item) => {
    const path = item.kind === "object" ? item.stats.path : item.path;
    return typed + path.slice(prefix.length).split("/").map(encodedRest).join("/");
  });
}

/** Returns the branches and tags that begin with what was typed. */
export async function completeRef(
  typed: string,
  store: Store,
  repository: string,
): Promise<readonly string[]> {
  if (typed.startsWith(START)) return await completeUri(typed, store);
  return (await refsOf(store, repository, typed)).map(({ id }) => id);
}

/** Returns the repository of the first URI of a command line. */
export function repositoryOf(positionals: readonly string[]): string | undefined {
  const uri = positionals.find(looksLikeUri);
  try {
    return uri === undefined ? undefined : parseLocation(uri).repository;
  } catch {
    return undefined;
  }
}

async function refsOf(store: Store, repository: string, prefix: string): Promise<readonly RefInfo[]> {
  return [
    ...await firstOf(store.listBranches(repository, { prefix })),
    ...await firstOf(store.listTags(repository, { prefix })),
  ];
}

async function firstOf<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const page of pages) {
    items.push(...page.slice(0, MOST - items.length));
    if (items.length >= MOST) break;
  }
  return items;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Encodes what a URI needs encoded, and what a shell would read as its own; letters of any script stay readable. */
export function encodedRest(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{M}._~:@+,=-]/gu, (character) => {
    const encoded = encodeSegment(character);
    return encoded !== character
      ? encoded
      : `%${character.codePointAt(0)!.toString(16).toUpperCase().padStart(2, "0")}`;
  });
}
