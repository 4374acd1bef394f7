/** Differences summed up: folded at a delimiter, or counted by folder. */

import { compareBytes, utf8 } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { ChangeType, DiffItem } from "../drivers/store.ts";
import type { ParsedArguments } from "./arguments.ts";

/** How many changes of each kind there are, and the bytes that came and went by them. */
export interface ChangeTally {
  readonly counts: Record<ChangeType, number>;
  /** Of what was added, and of what was changed as it is now. */
  bytesAdded: number;
  /** Of what was removed, and of what was changed as it was before. */
  bytesRemoved: number;
}

/** All changes under one prefix. */
export interface FoldedChanges extends ChangeTally {
  readonly path: string;
}

export function emptyTally(): ChangeTally {
  return { counts: { added: 0, removed: 0, changed: 0, conflict: 0 }, bytesAdded: 0, bytesRemoved: 0 };
}

/** Adds one difference to a tally. */
export function addChange(tally: ChangeTally, { type, left, right }: DiffItem): void {
  tally.counts[type]++;
  tally.bytesAdded += right?.sizeBytes ?? 0;
  tally.bytesRemoved += left?.sizeBytes ?? 0;
}

/** Returns how many changes there are in all. */
export function totalCount({ counts }: ChangeTally): number {
  return counts.added + counts.removed + counts.changed + counts.conflict;
}

/** Returns the kind of all changes in a tally; several kinds make the whole "changed". */
export function kindOf({ counts }: ChangeTally): ChangeType {
  const kinds = (Object.keys(counts) as ChangeType[]).filter((type) => counts[type] > 0);
  return kinds.length === 1 ? kinds[0]! : "changed";
}

export interface Fold {
  /** What the keys begin with; nothing is folded in it. */
  readonly prefix?: string;
  readonly delimiter: string;
  /** At which delimiter after the prefix a key is folded, from 1. */
  readonly depth: number;
}

/** Reads `--depth N` and `--delimiter D`; without either, folders are folded at the first slash. */
export function foldOf(given: ParsedArguments, prefix: string | undefined): Fold {
  const delimiter = given.value("delimiter") ?? "/";
  if (delimiter === "") {
    throw new CodedError("invalid", "invalid_argument", 'Cannot read "--delimiter": it is empty');
  }
  return { ...(prefix === undefined ? {} : { prefix }), delimiter, depth: given.count("depth") ?? 1 };
}

/** Returns what a key is folded to, or `undefined` when it has fewer delimiters. */
export function foldedPath(path: string, { prefix = "", delimiter, depth }: Fold): string | undefined {
  let at = prefix.length;
  for (let level = 0; level < depth; level++) {
    const found = path.indexOf(delimiter, at);
    if (found < 0) return undefined;
    at = found + delimiter.length;
  }
  return path.slice(0, at);
}

/** Yields differences with those that share a folded path as one. They come sorted, so one fold is open at a time. */
export async function* foldChanges(
  pages: AsyncIterable<readonly DiffItem[]>,
  fold: Fold,
): AsyncGenerator<readonly (DiffItem | FoldedChanges)[]> {
  let open: FoldedChanges | undefined;
  for await (const page of pages) {
    const out: (DiffItem | FoldedChanges)[] = [];
    for (const item of page) {
      const path = foldedPath(item.path, fold);
      if (open && path !== open.path) {
        out.push(open);
        open = undefined;
      }
      if (path === undefined) out.push(item);
      else addChange(open ??= { path, ...emptyTally() }, item);
    }
    yield out;
  }
  if (open) yield [open];
}

export interface ChangeStat {
  readonly total: ChangeTally;
  /** By folder, in byte order; the path of what lies in none is empty, or the prefix. */
  readonly folders: readonly FoldedChanges[];
}

/** Counts differences by the folder they are in, folders below the depth with the one above. */
export async function countByFolder(
  pages: AsyncIterable<readonly DiffItem[]>,
  fold: Fold,
): Promise<ChangeStat> {
  const total = emptyTally();
  const folders = new Map<string, FoldedChanges>();
  for await (const page of pages) {
    for (const item of page) {
      const path = folderOf(item.path, fold);
      let folder = folders.get(path);
      if (!folder) folders.set(path, folder = { path, ...emptyTally() });
      addChange(folder, item);
      addChange(total, item);
    }
  }
  const sorted = [...folders.values()].map((folder) => ({ folder, order: utf8(folder.path) }));
  sorted.sort((a, b) => compareBytes(a.order, b.order));
  return { total, folders: sorted.map(({ folder }) => folder) };
}

/** The deepest folder that holds the key, not deeper than the fold. */
function folderOf(path: string, fold: Fold): string {
  for (let depth = fold.depth; depth > 0; depth--) {
    const folder = foldedPath(path, { ...fold, depth });
    if (folder !== undefined) return folder;
  }
  return (fold.prefix ?? "").replace(/[^/]*$/, "");
}
