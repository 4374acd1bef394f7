/** All that lies in a folder of the catalog, and below it. */

import { formatUri, parseUri } from "../../base/uri.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ListedEntry } from "../render/entries.ts";

/** A file, with the URI that names it. */
export interface WalkedEntry extends ListedEntry {
  readonly uri: string;
}

/** Yields the files in a folder and below it, page by page, folders in their place in the order of names. */
export async function* filesBelow(
  catalog: Catalog,
  uri: string,
  prefix = "",
): AsyncGenerator<readonly WalkedEntry[]> {
  for await (const page of catalog.list(uri)) {
    let files: WalkedEntry[] = [];
    for (const entry of page) {
      const inner = uriBelow(uri, entry.name), path = `${prefix}${entry.name}`;
      if (entry.kind === "file") files.push({ path, entry, uri: inner });
      else {
        yield files;
        files = [];
        yield* filesBelow(catalog, inner, `${path}/`);
      }
    }
    yield files;
  }
}

/** Returns the URI of what a folder holds under a name. */
export function uriBelow(uri: string, name: string): string {
  const { segments, ...rest } = parseUri(uri);
  const folder = segments.at(-1) === "" ? segments.slice(0, -1) : segments;
  return formatUri({ ...rest, segments: [...folder, name] });
}
