/** Picks drivers: the one place where concrete stores are chosen. Each is loaded when it is first needed. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { CodedError } from "../base/errors.ts";
import { systemRandomness } from "../base/randomness.ts";
import type { ObjectStore } from "../drivers/object_store.ts";
import type { Store } from "../drivers/store.ts";
import type { KvStore } from "../kv/store.ts";
import { type DiskCache, openDiskCache } from "../cache/mod.ts";
import { foldersOf } from "./home.ts";
import { canonicalNamespace, parseLocalNamespace } from "./namespace.ts";

/** For each repository. A range of 50,000 records takes 1.7 MB. */
const RANGE_CACHE_BYTES = 2 * 1024 ** 3;

export interface HomeStoreOptions {
  /** More private folders that may hold the native parts, should the home's not do. */
  readonly nativeFolders?: readonly string[];
}

/** Opens the embedded engine over a home; without one, over nothing: no repositories, and nothing is kept. */
export async function openHomeStore(
  home: string | undefined,
  options: HomeStoreOptions = {},
): Promise<Store> {
  const { openEngineStore } = await import("../engine/mod.ts");
  return openEngineStore({
    kv: home === undefined ? await openNothing() : await openHomeKv(home, options),
    openObjects: (namespace) => openObjects(home, namespace),
    canonicalNamespace: (namespace) =>
      home === undefined
        ? namespace
        : canonicalNamespace(namespace, { root: home, storage: foldersOf(home).storage }),
    defaultNamespace: (repository, instanceUid) => `local://${repository}-${instanceUid}`,
    ...(home === undefined ? {} : { openCache: (instanceUid) => openRangeCache(home, instanceUid) }),
    clock: systemClock,
    randomness: systemRandomness,
  });
}

/** Opens the place where a repository's ranges have what is known of them beside their files. It may be deleted any time. */
function openRangeCache(home: string, instanceUid: string): DiskCache {
  return openDiskCache({ folder: join(foldersOf(home).cache, instanceUid), maxBytes: RANGE_CACHE_BYTES });
}

async function openHomeKv(home: string, { nativeFolders = [] }: HomeStoreOptions): Promise<KvStore> {
  const [{ openLmdb }, { withLimits }] = await Promise.all([
    import("../kv/lmdb/mod.ts"),
    import("../kv/mod.ts"),
  ]);
  const folders = foldersOf(home);
  refuseLostKv(home);
  return withLimits(await openLmdb(folders.kv, { native: { lasting: [folders.native, ...nativeFolders] } }));
}

/** A home whose storage holds data had a KV store: opening an empty one in its place would make all repositories vanish. */
function refuseLostKv(home: string): void {
  const { kv, storage } = foldersOf(home);
  const database = statSync(join(kv, "data.mdb"), { throwIfNoEntry: false });
  if ((database?.size ?? 0) > 0 || !existsSync(storage) || readdirSync(storage).length === 0) return;
  throw new CodedError(
    "corrupt",
    "kv_corrupt",
    `Cannot open the home "${home}": its key-value store is ${
      database ? "empty" : "missing"
    }, and its storage is not`,
  );
}

async function openNothing(): Promise<KvStore> {
  return (await import("../kv/memory/mod.ts")).openMemoryKv();
}

/** Opens the object store of a storage namespace. Fails with `invalid_storage_namespace`. */
async function openObjects(home: string | undefined, namespace: string): Promise<ObjectStore> {
  const { isAbsolute, path } = parseLocalNamespace(namespace);
  if (!isAbsolute && home === undefined) {
    throw new CodedError(
      "internal",
      "internal",
      `Broken invariant: "${namespace}" lies in a home, and there is none`,
    );
  }
  const { openFileObjectStore } = await import("../drivers/file/mod.ts");
  return openFileObjectStore({
    root: isAbsolute ? path : join(foldersOf(home!).storage, path),
    address: namespace.replace(/\/$/, ""),
  });
}
