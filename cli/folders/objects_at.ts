/** What stands at the key of a URI. */

import { CodedError, isCoded } from "../../base/errors.ts";
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

/** A key under which nothing stands was mistyped, or is gone: both are worth more than silence. An empty version is none. */
export async function* orNotFound<T>(
  pages: AsyncIterable<readonly T[]>,
  { text, ref, key }: { readonly text: string; readonly ref?: string; readonly key?: string },
): AsyncGenerator<readonly T[]> {
  let isEmpty = true;
  for await (const page of pages) {
    if (page.length > 0) isEmpty = false;
    yield page;
  }
  if (!isEmpty || key === undefined) return;
  throw new CodedError(
    "not_found",
    "object_not_found",
    `Cannot list "${text}": there is nothing under "${key}"`,
    { details: { path: key, ...(ref === undefined ? {} : { ref }) } },
  );
}
