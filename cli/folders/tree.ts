/** The folders that keys in byte order lie in, and how much is in each: told as each folder is left. */

import type { ListItem, ObjectStats } from "../../drivers/store.ts";

/** A folder with all that is in it and below. */
export interface FolderTotal {
  /** Ends in a slash; empty for everything. */
  readonly path: string;
  /** How many folders it is below the one that was asked about. */
  readonly depth: number;
  count: number;
  sizeBytes: number;
}

/** Yields a page of the folders that each page of objects leaves, inner ones first, and at last the one asked about. */
export async function* totalsOf(
  objects: AsyncIterable<readonly ObjectStats[]>,
  prefix: string,
): AsyncGenerator<readonly FolderTotal[]> {
  const open: FolderTotal[] = [{ path: prefix, depth: 0, count: 0, sizeBytes: 0 }];
  for await (const page of objects) {
    const left: FolderTotal[] = [];
    for (const { path, sizeBytes } of page) {
      while (open.length > 1 && !path.startsWith(open.at(-1)!.path)) left.push(leave(open));
      for (const folder of innerFolders(path, open.at(-1)!.path)) {
        open.push({ path: folder, depth: open.length, count: 0, sizeBytes: 0 });
      }
      const innermost = open.at(-1)!;
      innermost.count++;
      innermost.sizeBytes += sizeBytes;
    }
    yield left;
  }
  const left: FolderTotal[] = [];
  while (open.length > 1) left.push(leave(open));
  yield [...left, open[0]!];
}

/** Closes the innermost folder; what it holds counts for the one around it. */
function leave(open: FolderTotal[]): FolderTotal {
  const folder = open.pop()!;
  const outer = open.at(-1)!;
  outer.count += folder.count;
  outer.sizeBytes += folder.sizeBytes;
  return folder;
}

/** Yields the folders of a key below one that it lies in, the outer ones first. */
function* innerFolders(key: string, outer: string): Generator<string> {
  // The object that has the name of the folder asked about lies beside it.
  if (!key.startsWith(outer)) return;
  for (let slash = key.indexOf("/", outer.length); slash >= 0; slash = key.indexOf("/", slash + 1)) {
    yield key.slice(0, slash + 1);
  }
}

/** Yields the folders that objects lie in, outer ones first, each once. */
export async function* foldersOf(
  objects: AsyncIterable<readonly ObjectStats[]>,
  prefix: string,
): AsyncGenerator<readonly ListItem[]> {
  let current = prefix;
  for await (const page of objects) {
    const found: ListItem[] = [];
    for (const { path } of page) {
      while (!path.startsWith(current) && current.length > prefix.length) {
        current = current.slice(0, current.lastIndexOf("/", current.length - 2) + 1);
      }
      for (const folder of innerFolders(path, current)) {
        found.push({ kind: "common_prefix", path: folder });
        current = folder;
      }
    }
    yield found;
  }
}
