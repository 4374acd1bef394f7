/**
 * Storage namespaces on local disks: `local:///absolute/folder`, or `local://name` in the home's `storage/`, which moves
 * with the home. Parsed by our own grammar, so that no way of writing `..` leads out of the home.
 */

import { isAbsolute, join, relative, sep } from "node:path";
import process from "node:process";
import { CodedError } from "../base/errors.ts";
import { OwnFolders, realPath } from "../base/own_folders.ts";
import type { Store } from "../drivers/store.ts";
import { formatUri, parseUri } from "../base/uri.ts";

const SCHEME = "local";

export interface LocalNamespace {
  readonly isAbsolute: boolean;
  /** An absolute path, or one below the home's `storage/`; in the system's form. */
  readonly path: string;
}

/** Parses a storage namespace. Fails with `invalid_storage_namespace`. */
export function parseLocalNamespace(namespace: string): LocalNamespace {
  if (!namespace.startsWith(`${SCHEME}://`)) {
    refuse(namespace, "this version stores in folders only; write local:///absolute/folder or local://NAME");
  }
  const bad = /[@?#\\\u0000-\u001f\u007f]/.exec(namespace);
  if (bad) refuse(namespace, `it contains ${JSON.stringify(bad[0])}`);
  const { place, segments } = parsed(namespace);
  const parts = place === "" ? segments : [place, ...segments];
  const names = parts.at(-1) === "" ? parts.slice(0, -1) : parts;
  if (names.length === 0) refuse(namespace, "it names no folder");
  for (const name of names) {
    if (name === "") refuse(namespace, "it has two slashes in a row");
    if (name === "." || name === "..") refuse(namespace, `"${name}" may not be a part of it`);
    if (name.includes("/") || name.includes("\\")) {
      refuse(namespace, "a part of it contains an encoded slash");
    }
  }
  if (place !== "") return { isAbsolute: false, path: names.join(sep) };
  const isDrive = process.platform === "win32" && /^[A-Za-z]:$/.test(names[0]!);
  return { isAbsolute: true, path: isDrive ? names.join(sep) : `/${names.join("/")}` };
}

/** Returns the folders of all repositories whose storage namespaces do not lie in the home. */
export async function namespacesElsewhere(store: Pick<Store, "listRepositories">): Promise<string[]> {
  const folders: string[] = [];
  for await (const page of store.listRepositories()) {
    for (const { storageNamespace } of page) {
      if (storageNamespace.startsWith(`${SCHEME}:///`)) {
        folders.push(parseLocalNamespace(storageNamespace).path);
      }
    }
  }
  return folders;
}

/**
 * Returns the one form that stands for all spellings of a storage namespace: decoded, its folder's symlinks followed as far
 * as it exists, and relative where it lies in the home's `storage/`. Elsewhere in the home it is refused.
 */
export function canonicalNamespace(
  namespace: string,
  home: { readonly root: string; readonly storage: string },
): string {
  const given = parseLocalNamespace(namespace);
  const real = realPath(given.isAbsolute ? given.path : join(home.storage, given.path));
  const inStorage = relative(realPath(home.storage), real);
  if (isBelow(inStorage)) {
    const [place, ...segments] = inStorage.split(sep);
    return formatUri({ scheme: SCHEME, place: place!, segments });
  }
  const root = realPath(home.root);
  if (real === root || isBelow(relative(root, real))) {
    refuse(namespace, "it lies in the home, where other things are kept");
  }
  if (isBelow(relative(real, root))) refuse(namespace, "the home lies in it");
  if (new OwnFolders().holds(real)) refuse(namespace, "it lies in another home, or in a cache");
  return formatUri({ scheme: SCHEME, place: "", segments: real.split(sep).filter((part) => part !== "") });
}

function isBelow(path: string): boolean {
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function parsed(namespace: string): ReturnType<typeof parseUri> {
  try {
    return parseUri(namespace);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    throw new CodedError("invalid", "invalid_storage_namespace", error.message, { cause: error });
  }
}

function refuse(namespace: string, why: string): never {
  throw new CodedError(
    "invalid",
    "invalid_storage_namespace",
    `Cannot use the storage namespace "${namespace}": ${why}`,
    { details: { storage_namespace: namespace } },
  );
}
