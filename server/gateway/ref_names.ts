/** The refs of a repository in the order of the keys that begin with them. */

import { compareBytes, utf8 } from "../../base/bytes.ts";
import type { RefInfo, Store } from "../../drivers/store.ts";

export interface RefNameOptions {
  readonly prefix: string;
  /** A key: only refs that have keys after it. */
  readonly after: string;
}

/**
 * Yields the names of branches and tags that can begin a key, in the order of `NAME/`: the character "/" sorts behind "-" and
 * ".", so `a-b` comes before `a`. A name waits until none that sorts before it can come.
 */
export async function* refNames(
  store: Store,
  repository: string,
  { prefix, after }: RefNameOptions,
): AsyncGenerator<string> {
  // A name that waits is the beginning of the one after it, so all that may come after the mark share its first word.
  const word = /^[^./-]*/.exec(after)![0];
  const from = { prefix, ...(word.length > 1 ? { after: word.slice(0, -1) } : {}) };
  const waiting: string[] = [];
  for await (const name of merged(store.listBranches(repository, from), store.listTags(repository, from))) {
    while (waiting.length > 0 && !sortsBefore(name, waiting.at(-1)!)) yield waiting.pop()!;
    if (hasKeysAfter(name, after)) waiting.push(name);
  }
  while (waiting.length > 0) yield waiting.pop()!;
}

/** Whether a name, which comes later, has its keys before those of one that waits. */
function sortsBefore(name: string, waiting: string): boolean {
  return name.startsWith(waiting) && name[waiting.length]! < "/";
}

function hasKeysAfter(name: string, after: string): boolean {
  const base = `${name}/`;
  return after === "" || after.startsWith(base) || compareBytes(utf8(base), utf8(after)) > 0;
}

/** Yields the names of both, in their order; branches that are not to be shown, and names with "/", are left out. */
async function* merged(
  branches: AsyncIterable<readonly RefInfo[]>,
  tags: AsyncIterable<readonly RefInfo[]>,
): AsyncGenerator<string> {
  const left = names(branches), right = names(tags);
  try {
    let a = await left.next(), b = await right.next();
    while (!a.done || !b.done) {
      const isLeft = !a.done && (b.done || compareBytes(utf8(a.value), utf8(b.value)) <= 0);
      if (isLeft) {
        yield a.value as string;
        a = await left.next();
      } else {
        yield b.value as string;
        b = await right.next();
      }
    }
  } finally {
    await left.return(undefined);
    await right.return(undefined);
  }
}

async function* names(pages: AsyncIterable<readonly RefInfo[]>): AsyncGenerator<string, undefined> {
  for await (const page of pages) {
    for (const { id, isHidden } of page) if (!isHidden && !id.includes("/")) yield id;
  }
}
