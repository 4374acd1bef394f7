/** What is to be said of the storage of a home: whether it is there, and what lies in it that is nobody's. */

import * as fs from "node:fs";
import { systemClock } from "../base/clock.ts";
import type { Store } from "../drivers/store.ts";
import type { Finding } from "./examine.ts";
import { foldersOf } from "./home.ts";
import { folderOf, type HomeStoreOptions, openHomeStore, unfinishedIn } from "./registry.ts";

/** A put that has written nothing for so long has been killed, most likely. */
const UNFINISHED_MS = 60 * 60 * 1000;

/** Looks whether the folders of all storage namespaces are there, and for what was left in them. */
export async function* storageFindings(
  folder: string,
  { ready, ...options }: HomeStoreOptions & { readonly ready: boolean },
): AsyncGenerator<Finding> {
  const store = await openHomeStore(ready ? folder : undefined, { ...options, homeToBe: folder });
  try {
    const { count, missing, folders } = await namespacesOf(store, folder);
    const names = missing.map((namespace) => `"${namespace}"`).join(", ");
    yield {
      name: "storage",
      state: missing.length === 0 ? "ok" : "problem",
      text: missing.length === 0
        ? `of ${count === 1 ? "1 repository" : `${count} repositories`}, all there`
        : `the folders of ${names} are not there`,
      details: { repositories: count, missing },
    };
    yield* await unfinishedFindings(foldersOf(folder).storage, folders);
  } finally {
    await store.close();
  }
}

interface Namespaces {
  readonly count: number;
  readonly missing: readonly string[];
  readonly folders: readonly string[];
}

async function namespacesOf(store: Store, home: string): Promise<Namespaces> {
  const missing: string[] = [], folders: string[] = [];
  let count = 0;
  for await (const page of store.listRepositories()) {
    for (const { storageNamespace } of page) {
      count++;
      const folder = folderOf(home, storageNamespace);
      if (fs.existsSync(folder)) folders.push(folder);
      else missing.push(storageNamespace);
    }
  }
  return { count, missing, folders };
}

/** Those of deleted repositories lie in the home's storage, too. */
async function unfinishedFindings(storage: string, folders: readonly string[]): Promise<Finding[]> {
  const elsewhere = folders.filter((folder) => !folder.startsWith(`${storage}/`));
  const before = systemClock.now() - UNFINISHED_MS;
  const { count, bytes, paths } = await unfinishedIn([storage, ...elsewhere], before);
  if (count === 0) return [];
  const files = count === 1 ? "1 file" : `${count} files`;
  const size = bytes < 1e6 ? `${bytes} bytes` : `${Math.round(bytes / 1e6)} MB`;
  return [{
    name: "unfinished files",
    state: "warning",
    text: `${files}, ${size}, left by commands that were killed, such as "${paths[0]}"; ` +
      "no object is in them, and what no running command writes to may be deleted",
    details: { files: count, size_bytes: bytes, paths },
  }];
}
