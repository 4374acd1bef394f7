/** What stands at the key of a URI. */

import { isCoded } from "../../base/errors.ts";
import type { ObjectStats, Store } from "../../drivers/store.ts";

/** Yields the object of that name and what is in the folder of that name; everything when there is no key. */
export async function* objectsAt(
  store: Store,
  { repository, ref, key }: { repository: string; ref: string; key?: string },
): AsyncGenerator<readonly ObjectStats[]> {
  const isFolder = key === undefined || key.endsWith("/");
  if (!isFolder) {
    try {
      yield [await store.stat(repository, ref, key)];
    } catch (error) {
      if (!isCoded(error, "object_not_found")) throw error;
    }
  }
  for await (const page of store.list(repository, ref, { prefix: isFolder ? key : `${key}/` })) {
    yield page.flatMap((item) => item.kind === "object" ? [item.stats] : []);
  }
}
