/** The refs of a repository in the order of the keys that begin with them. */

import { compareBytes, utf8 } from "../../base/bytes.ts";
import type { RefInfo, Store } from "../../drivers/store.ts";

export interface RefNameOptions {
  readonly prefix: string;
  /** A key: only refs that have keys after it. */
  readonly after: string;
}

/**
 * Returns the names of branches and tags that can begin a key, in the order of `NAME/`: "a-b" before "a", for "-" sorts before
 * "/". The store has an order of its own, in which upper and lower case are one.
 */
export async function refNames(
  store: Store,
  repository: string,
  { prefix, after }: RefNameOptions,
): Promise<string[]> {
  const mark = utf8(after);
  const found: { readonly name: string; readonly base: Uint8Array }[] = [];
  const take = async (pages: AsyncIterable<readonly RefInfo[]>) => {
    for await (const page of pages) {
      for (const { id: name, isHidden } of page) {
        // Hidden branches are not to be shown, and names with "/" are no segment of a key.
        if (isHidden || name.includes("/")) continue;
        const base = utf8(`${name}/`);
        if (after.startsWith(`${name}/`) || compareBytes(base, mark) > 0) found.push({ name, base });
      }
    }
  };
  await take(store.listBranches(repository, { prefix }));
  await take(store.listTags(repository, { prefix }));
  return found.sort((a, b) => compareBytes(a.base, b.base)).map(({ name }) => name);
}
