/** Picks drivers: the one place where concrete stores are chosen. Each is loaded when it is first needed. */

import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { CodedError } from "../base/errors.ts";
import type { OwnFolders } from "../base/own_folders.ts";
import { systemRandomness } from "../base/randomness.ts";
import type { CatalogStore } from "../drivers/catalog_store.ts";
import type { ObjectStore } from "../drivers/object_store.ts";
import type { Store } from "../drivers/store.ts";
import type { KvStore, ListedKvStore } from "../kv/store.ts";
import { type DiskCache, openDiskCache } from "../cache/mod.ts";
import type { StoreConfig } from "./config/mod.ts";
import { foldersOf, upgradeHome } from "./home.ts";
import type { KvAddress, PostgresAddress } from "./kv_address.ts";
import { canonicalNamespace, parseLocalNamespace } from "./namespace.ts";
import { offline } from "./offline.ts";

/** For each repository. A range of 50,000 records takes 1.7 MB. */
const RANGE_CACHE_BYTES = 2 * 1024 ** 3;

export interface KvOptions {
  /** More private folders that may hold the native parts, should the home's not do. */
  readonly nativeFolders?: readonly string[];
  /** Whether LMDB may lie on a network file system. */
  readonly allowNetwork?: boolean;
  /** Reads a variable of the environment: an address may name one that holds a password. */
  readonly variable?: (name: string) => string | undefined;
  /** Whether no connection may be made. */
  readonly isOffline?: boolean;
  /** Whether it is for a process that stays and writes often (`journaling` of LMDB). */
  readonly isForLong?: boolean;
}

export interface HomeStoreOptions extends KvOptions {
  /** The key-value store to use in place of the home's. */
  readonly kv?: KvAddress;
  /** Whether the home's configuration may name a key-value store. */
  readonly isTrusted?: boolean;
  /** Whether a named LMDB store that is not there is made: else it is refused, as a name that was mistyped. */
  readonly makesKv?: boolean;
  /** Where the home would be that is not there yet. */
  readonly homeToBe?: string;
}

/** A home's engine, and the key-value store that it stands on, which closing the engine closes. */
export interface OpenHome {
  readonly store: Store;
  readonly kv: KvStore;
}

/**
 * Opens the embedded engine over a home. Without a home it is opened over the key-value store that is named, or over nothing:
 * no repositories, and nothing is kept.
 */
export async function openHomeStore(
  home: string | undefined,
  options: HomeStoreOptions = {},
): Promise<Store> {
  return (await openHome(home, options)).store;
}

/** Opens a home as {@link openHomeStore} does, for who keeps records of its own beside the engine's. */
export async function openHome(
  home: string | undefined,
  options: HomeStoreOptions = {},
): Promise<OpenHome> {
  const { openEngineStore } = await import("../engine/mod.ts");
  const kv = await openHomeKv(home, options);
  const place = home ?? options.homeToBe;
  const store = openEngineStore({
    kv,
    openObjects: (namespace) => openObjects(place, namespace),
    canonicalNamespace: (namespace) =>
      place === undefined
        ? namespace
        : canonicalNamespace(namespace, { root: place, storage: foldersOf(place).storage }),
    defaultNamespace: (repository, instanceUid) => `local://${repository}-${instanceUid}`,
    ...(home === undefined ? {} : { openCache: (instanceUid) => openRangeCache(home, instanceUid) }),
    clock: systemClock,
    randomness: systemRandomness,
  });
  return { store, kv };
}

/** Opens the place where a repository's ranges have what is known of them beside their files. It may be deleted any time. */
function openRangeCache(home: string, instanceUid: string): DiskCache {
  const folder = join(foldersOf(home).cache, instanceUid);
  return openDiskCache({ folder, within: home, maxBytes: RANGE_CACHE_BYTES });
}

export interface CatalogStoreOptions {
  /** Opens the engine that a store stands on, in the home and over the key-value store that its options name. */
  readonly openEngine: (place: { readonly home?: string; readonly kv?: string }) => Promise<Store>;
  /** Tells where stores of local files write nothing, beside homes and caches. */
  readonly ownFolders?: () => Promise<OwnFolders>;
}

/** Opens a store of the catalog. Fails with `driver_missing` for a driver that this version does not have. */
export async function openCatalogStore(
  { name, driver, options }: StoreConfig,
  { openEngine, ownFolders }: CatalogStoreOptions,
): Promise<CatalogStore> {
  switch (driver) {
    case "file":
      return (await import("../drivers/file/mod.ts")).openFileCatalogStore({
        name,
        ...options,
        ...(ownFolders ? { ownFolders } : {}),
      });
    case "graveler": {
      const { openGravelerStore } = await import("../drivers/graveler/mod.ts");
      return openGravelerStore({ name, store: await openEngine(options) });
    }
    default:
      throw new CodedError(
        "unsupported",
        "driver_missing",
        `Cannot use store "${name}": this version of tarn does not have the driver "${driver}"`,
        { details: { store: name, driver } },
      );
  }
}

async function openHomeKv(home: string | undefined, options: HomeStoreOptions): Promise<KvStore> {
  const address = await kvAddressOf(home, options);
  if (!address && home === undefined) return await openNothing();
  const { refuseUnfinished, withLimits } = await import("../kv/mod.ts");
  const store = await openKvOf(home, { ...options, kv: address });
  try {
    await refuseUnfinished(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return withLimits(store);
}

/** Returns the address of the key-value store that is named, by the options or the home; `undefined` for the home's own. */
export async function kvAddressOf(
  home: string | undefined,
  options: HomeStoreOptions,
): Promise<KvAddress | undefined> {
  return options.kv ?? await configuredKv(home, options);
}

/** Opens the key-value store of that address, or a home's own. */
export async function openKvOf(
  home: string | undefined,
  options: Omit<HomeStoreOptions, "kv"> & { readonly kv: KvAddress | undefined },
): Promise<ListedKvStore> {
  if (!options.kv) return await openOwnKv(home!, options);
  if (options.kv.driver === "lmdb" && options.makesKv === false) refuseMissingKv(options.kv.folder);
  return await openKv(options.kv, options);
}

function refuseMissingKv(folder: string): void {
  try {
    if (statSync(join(folder, "data.mdb"), { throwIfNoEntry: false })) return;
  } catch {
    return; // Opening it tells why it cannot be looked at.
  }
  throw new CodedError(
    "not_found",
    "kv_missing",
    `Cannot open the key-value store in "${folder}": there is none`,
  );
}

export interface KvCheck {
  readonly facts: Readonly<Record<string, number>>;
  /** What was lost, although nothing is damaged. */
  readonly warning?: string;
}

/**
 * Checks every page of an LMDB store, the seal of every value, and its journal; returns counts. Fails with `kv_corrupt`,
 * `kv_journal_corrupt`.
 */
export async function checkKv(address: KvAddress): Promise<KvCheck> {
  if (address.driver !== "lmdb") return { facts: {} };
  const { checkDatabase } = await import("../kv/lmdb/mod.ts");
  const { pages, freePages, entries, journal } = await checkDatabase(address.folder);
  const facts = { pages, free_pages: freePages, entries };
  if (journal === undefined) return { facts };
  if (journal === "missing") {
    return {
      facts,
      warning: "its journal is missing, and with it what a server wrote last, if it did not end in order",
    };
  }
  const { entries: newer, tornBytes } = journal;
  return {
    facts: { ...facts, journal_entries: newer, journal_torn_bytes: tornBytes },
    ...(tornBytes > 0 && {
      warning: `its journal ends early, as when power is lost: some of the last relaxed writes are gone`,
    }),
  };
}

/** Most homes have no configuration; then nothing is loaded to read it. */
async function configuredKv(
  home: string | undefined,
  { isTrusted = false }: HomeStoreOptions,
): Promise<KvAddress | undefined> {
  if (home === undefined || !existsSync(join(home, "config.yaml"))) return undefined;
  const address = await (await import("./home_config.ts")).kvOfHome(home, { isTrusted });
  if (address?.driver === "lmdb") refuseLostKv(home, address.folder);
  return address;
}

async function openOwnKv(
  home: string,
  { nativeFolders = [], allowNetwork, isForLong }: KvOptions,
): Promise<ListedKvStore> {
  const { openLmdb } = await import("../kv/lmdb/mod.ts");
  const folders = foldersOf(home);
  refuseLostKv(home, folders.kv);
  return await openLmdb(folders.kv, {
    allowNetwork,
    journaling: isForLong ? "all" : "never",
    beforeWriting: () => upgradeHome(home),
    within: home,
    native: { lasting: [{ folder: folders.native, within: home }, ...nativeFolders] },
  });
}

/**
 * Opens a key-value store by its address; `readOnly` where only reading it is meant, as far as the driver knows of that.
 *
 * Fails with `offline` where that needs a network, and none may be used.
 */
export async function openKv(
  address: KvAddress,
  {
    nativeFolders = [],
    allowNetwork,
    variable = () => undefined,
    isOffline = false,
    readOnly = false,
    isForLong,
  }: KvOptions & { readOnly?: boolean } = {},
): Promise<ListedKvStore> {
  if (isOffline && (address.driver === "postgres" || address.driver === "dynamodb")) {
    const { shownKvAddress } = await import("./kv_address.ts");
    throw offline(`open the key-value store "${shownKvAddress(address)}"`, "it is reached over the network");
  }
  const seams = { clock: systemClock, randomness: systemRandomness };
  switch (address.driver) {
    case "memory":
      return await openNothing();
    case "lmdb":
      return await (await import("../kv/lmdb/mod.ts")).openLmdb(address.folder, {
        readOnly,
        allowNetwork,
        journaling: isForLong ? "all" : "never",
        native: { lasting: nativeFolders },
      });
    case "postgres":
      return await openPostgresAt(address, variable);
    case "dynamodb": {
      const { driver: _, ...options } = address;
      return await (await import("../kv/dynamodb/mod.ts")).openDynamo({ ...options, ...seams });
    }
  }
}

async function openPostgresAt(
  address: PostgresAddress,
  variable: (name: string) => string | undefined,
): Promise<ListedKvStore> {
  const [{ openPostgres }, { certificatesOf, encryptionOf, passwordOf }] = await Promise.all([
    import("../kv/postgres/mod.ts"),
    import("./kv_stores.ts"),
  ]);
  const { host, port, database, user, schema, table } = address;
  return await openPostgres({
    host,
    port,
    database,
    user,
    schema,
    table,
    password: passwordOf(address, variable),
    encryption: encryptionOf(address),
    certificates: certificatesOf(address),
    clock: systemClock,
    randomness: systemRandomness,
  });
}

/** A home whose storage holds data had a KV store: opening an empty one in its place would make all repositories vanish. */
function refuseLostKv(home: string, kv: string): void {
  let database: Stats | undefined;
  try {
    database = statSync(join(kv, "data.mdb"), { throwIfNoEntry: false });
  } catch {
    return; // Opening it tells why it cannot be looked at.
  }
  if ((database && (database.size > 0 || !database.isFile())) || !hasStorage(home)) return;
  throw new CodedError(
    "corrupt",
    "kv_corrupt",
    `Cannot open the home "${home}": its key-value store in "${kv}" is ${
      database ? "empty" : "missing"
    }, and its storage is not`,
  );
}

/** Returns whether anything is stored in a home; of what may not be read that is so. */
export function hasStorage(home: string): boolean {
  const { storage } = foldersOf(home);
  try {
    return existsSync(storage) && readdirSync(storage).length > 0;
  } catch {
    return true;
  }
}

async function openNothing(): Promise<ListedKvStore> {
  return (await import("../kv/memory/mod.ts")).openMemoryKv();
}

/** Returns the folder of a storage namespace. Fails with `invalid_storage_namespace`. */
export function folderOf(home: string | undefined, namespace: string): string {
  const { isAbsolute, path } = parseLocalNamespace(namespace);
  if (!isAbsolute && home === undefined) {
    throw new CodedError(
      "internal",
      "internal",
      `Broken invariant: "${namespace}" lies in a home, and there is none`,
    );
  }
  return isAbsolute ? path : join(foldersOf(home!).storage, path);
}

export interface UnfinishedFiles {
  readonly count: number;
  readonly bytes: number;
  /** Of the first ones. */
  readonly paths: readonly string[];
  /** How many more there are that somebody may be writing to. */
  readonly younger: number;
}

/** Counts what killed commands have left in folders of objects, as far as nobody has written to it since a time. */
export async function unfinishedIn(folders: readonly string[], beforeMs: number): Promise<UnfinishedFiles> {
  return (await import("../drivers/file/mod.ts")).unfinishedFiles(folders, beforeMs);
}

/** Opens the object store of a storage namespace. Fails with `invalid_storage_namespace`. */
async function openObjects(home: string | undefined, namespace: string): Promise<ObjectStore> {
  const root = folderOf(home, namespace);
  const { openFileObjectStore } = await import("../drivers/file/mod.ts");
  return openFileObjectStore({
    root,
    address: namespace.replace(/\/$/, ""),
    rootMustBeThere: true,
    ...(home !== undefined && !parseLocalNamespace(namespace).isAbsolute ? { rootWithin: home } : {}),
  });
}
