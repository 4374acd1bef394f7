/** What a commit changed, counted by folder. */

import type { CommitInfo, DiffItem, Store } from "../drivers/store.ts";
import { type ChangeStat, countByFolder, type Fold } from "./folding.ts";

/** Counts what a commit brought to its first parent; the first commit of all brought everything that is in it. */
export function changesOfCommit(
  store: Store,
  { repository, commit, fold }: { repository: string; commit: CommitInfo; fold: Fold },
): Promise<ChangeStat> {
  return countByFolder(itemsOfCommit(store, repository, commit), fold);
}

/** Yields what a commit brought to its first parent. */
export function itemsOfCommit(
  store: Store,
  repository: string,
  { id, parents: [parent] }: CommitInfo,
): AsyncIterable<readonly DiffItem[]> {
  return parent === undefined ? allAdded(store, repository, id) : store.diff(repository, parent, id);
}

async function* allAdded(store: Store, repository: string, id: string): AsyncGenerator<readonly DiffItem[]> {
  for await (const page of store.list(repository, id)) {
    yield page.flatMap((item): DiffItem[] => {
      if (item.kind !== "object") return [];
      const { path, sizeBytes } = item.stats;
      return [{ type: "added", path, pathType: "object", sizeBytes, right: item.stats }];
    });
  }
}
