/** What is to be said of the storage of a home: whether it is there, and what lies in it that is nobody's. */

import * as fs from "node:fs";
import { systemClock } from "../base/clock.ts";
import type { Store } from "../drivers/store.ts";
import type { Finding } from "./examine.ts";
import { dataFindings, type DataOptions } from "./examine_data.ts";
import { foldersOf } from "./home.ts";
import {
  folderOf,
  type HomeStoreOptions,
  openHomeStore,
  type UnfinishedFiles,
  unfinishedIn,
} from "./registry.ts";

/** A put that has written nothing for so long has been killed, most likely. */
const UNFINISHED_MS = 60 * 60 * 1000;

/** Looks whether the folders of all storage namespaces are there, for what was left in them, and through their data. */
export async function* storageFindings(
  folder: string,
  { ready, data, ...options }: HomeStoreOptions & { readonly ready: boolean; readonly data: DataOptions },
): AsyncGenerator<Finding> {
  const store = await openHomeStore(ready ? folder : undefined, { ...options, homeToBe: folder });
  try {
    const found = await namespacesOf(store, folder);
    const { count, missing, forbidden, usable } = found;
    yield {
      name: "storage",
      state: missing.length + forbidden.length === 0 ? "ok" : "problem",
      text: storageText(found),
      details: { repositories: count, missing, forbidden },
    };
    yield* await unfinishedFindings(foldersOf(folder).storage, usable.map(({ folder }) => folder));
    yield* dataFindings(store, usable.map(({ repository }) => repository), data);
  } finally {
    await store.close();
  }
}

function storageText({ count, missing, forbidden }: Namespaces): string {
  const parts = [
    ...(missing.length > 0 ? [`the folders of ${quotedNames(missing)} are not there`] : []),
    ...(forbidden.length > 0 ? [`the folders of ${quotedNames(forbidden)} may not be looked into`] : []),
  ];
  return parts.join("; ") || `of ${count === 1 ? "1 repository" : `${count} repositories`}, all there`;
}

function quotedNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

interface Namespaces {
  readonly count: number;
  readonly missing: readonly string[];
  readonly forbidden: readonly string[];
  readonly usable: readonly { readonly repository: string; readonly folder: string }[];
}

async function namespacesOf(store: Store, home: string): Promise<Namespaces> {
  const missing: string[] = [], forbidden: string[] = [];
  const usable: { repository: string; folder: string }[] = [];
  let count = 0;
  for await (const page of store.listRepositories()) {
    for (const { id, storageNamespace } of page) {
      count++;
      const folder = folderOf(home, storageNamespace);
      const state = stateOf(folder);
      if (state === "usable") usable.push({ repository: id, folder });
      else (state === "missing" ? missing : forbidden).push(storageNamespace);
    }
  }
  return { count, missing, forbidden, usable };
}

function stateOf(folder: string): "usable" | "missing" | "forbidden" {
  try {
    fs.readdirSync(folder);
    return "usable";
  } catch (error) {
    const { code } = error as { code?: string };
    return code === "EACCES" || code === "EPERM" ? "forbidden" : "missing";
  }
}

/** Those of deleted repositories lie in the home's storage, too. */
async function unfinishedFindings(storage: string, folders: readonly string[]): Promise<Finding[]> {
  const elsewhere = folders.filter((folder) => !folder.startsWith(`${storage}/`));
  const before = systemClock.now() - UNFINISHED_MS;
  const found = await unfinishedIn([storage, ...elsewhere], before);
  return [...youngFindings(found), ...oldFindings(found)];
}

function youngFindings({ younger }: UnfinishedFiles): Finding[] {
  if (younger === 0) return [];
  const what = younger === 1
    ? "1 file is being written now, or was"
    : `${younger} files are being written now, or were`;
  return [{
    name: "files at work",
    state: "warning",
    text: `${what} left by a command that was killed less than an hour ago`,
    details: { files: younger },
  }];
}

function oldFindings({ count, bytes, paths }: UnfinishedFiles): Finding[] {
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
