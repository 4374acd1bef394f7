/** Opening the catalog of a run: its configuration, its cache, its hooks, and the engines that its stores stand on. */

import { readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { systemClock } from "../base/clock.ts";
import { CodedError } from "../base/errors.ts";
import { isCache, isHome, OwnFolders, ownStorage } from "../base/own_folders.ts";
import type { Uri } from "../base/uri.ts";
import { type Catalog, openCatalog } from "../catalog/catalog.ts";
import type { Config, StoreConfig } from "../catalog/config/mod.ts";
import { loadHooks } from "../catalog/hooks/mod.ts";
import { findHome } from "../catalog/home.ts";
import { openCatalogStore, openHomeStore } from "../catalog/registry.ts";
import { type LocalCache, openLocalCache } from "../cache/mod.ts";
import type { Store } from "../drivers/store.ts";
import { cacheRoot } from "./cache_root.ts";
import type { CatalogsOptions } from "./catalogs.ts";
import { configReader, configurationOf } from "./configuration.ts";
import { SCHEME } from "./locations.ts";
import { addressOf, homeOptions, type PreferredHome, type Session } from "./session.ts";
import { escapeForTerminal } from "./render/escape.ts";
import { beforeInterrupt } from "./signals.ts";

export async function loadCatalog(options: CatalogsOptions): Promise<LoadedCatalog> {
  const source = await configurationOf(options);
  const config = await source.load(configReader(options.environment));
  return new LoadedCatalog(options, config);
}

/** A home, and a key-value store, that a store of the configuration names. */
interface EnginePlace {
  readonly home?: string;
  readonly kv?: string;
}

/** A configuration that was loaded, and the catalog over it once it is asked for. */
export class LoadedCatalog {
  readonly #options: CatalogsOptions;
  readonly config: Config;
  #opened: Promise<Catalog> | undefined;
  #cache: Promise<LocalCache> | undefined;
  /** Engines that this run opened beside its session's, by place. */
  readonly #engines = new Map<string, Promise<Store>>();
  #end: (() => Promise<void>) | undefined;

  constructor(options: CatalogsOptions, config: Config) {
    this.#options = options;
    this.config = config;
  }

  /** The home and the key-value store that it names for the embedded engine. */
  get preferredHome(): PreferredHome | undefined {
    return this.hasEmbedded ? { ...this.#embedded, isTrusted: this.config.isTrusted } : undefined;
  }

  /** Whether `lakefs://` is the embedded engine, wherever its home is. */
  get hasEmbedded(): boolean {
    return this.config.stores.get(SCHEME)?.driver === "graveler";
  }

  /** Returns the `lakefs://` URI of what lies in the run's own engine, whatever name its store has. */
  embeddedUri(uri: Uri): Uri | undefined {
    const store = this.config.stores.get(uri.scheme);
    const isOwn = store?.driver === "graveler" && this.hasEmbedded &&
      isSamePlace(placeOf(store), this.#embedded);
    return isOwn ? { ...uri, scheme: SCHEME } : undefined;
  }

  /** Whether commands may use the embedded engine without the catalog: no hook would be passed by. */
  get isPlain(): boolean {
    return this.hasEmbedded && this.config.hooks.length === 0;
  }

  open(): Promise<Catalog> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Returns the cache, without the stores that it is filled from. */
  openCache(): Promise<LocalCache> {
    this.#cache ??= this.#openCache();
    return this.#cache;
  }

  async close(): Promise<void> {
    try {
      await this.#end?.();
    } finally {
      await (await this.#cache?.catch(() => undefined))?.close();
      for (const engine of this.#engines.values()) await (await engine.catch(() => undefined))?.close();
    }
  }

  async #openCache(): Promise<LocalCache> {
    const { environment, session } = this.#options;
    const { maxBytes, root } = this.config.cache;
    if (root !== undefined) await this.#checkCacheRoot(root);
    return await openLocalCache({
      root: cacheRoot(this.config, { environment, home: await homeFolder(session) }),
      isOffline: environment.isOffline(),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
  }

  /** What a cache does not know of in its folder it takes for leftovers: so nothing else may lie there. */
  async #checkCacheRoot(root: string): Promise<void> {
    if (isHome(root) || new OwnFolders().holds(dirname(root))) {
      throw ownStorage(`Cannot use "${root}" as a cache`);
    }
    const { onlyNamed } = await this.#options.session.ownFolders();
    if (onlyNamed.holds(root)) throw ownStorage(`Cannot use "${root}" as a cache`);
    // In this order: another process may be making the cache.
    if (holdsAnything(root) && !isCache(root)) {
      throw new CodedError(
        "invalid",
        "cache_folder_taken",
        `Cannot use "${root}" as a cache: it holds other things`,
      );
    }
  }

  async #open(): Promise<Catalog> {
    const { environment, messages } = this.#options;
    const config = this.config;
    const configHooks = await loadHooks(config.hooks, {
      configFolder: config.raw.folder,
      userConfigFolder: environment.configPlaces(undefined).userConfigFolder,
      userFolder: environment.userFolder(),
      log: (record) => messages.block(`${escapeForTerminal(JSON.stringify(record))}\n`),
      clock: systemClock,
    });
    const cache = await this.openCache();
    const catalog = await openCatalog({
      config,
      cache,
      openStore: (store) =>
        openCatalogStore(store, {
          openEngine: (place) => this.#engine(place),
          ownFolders: () => this.#options.session.ownFolders(),
        }),
      principal: environment.who(),
      configHooks,
    });
    let ending: Promise<void> | undefined;
    const close = async () => {
      try {
        await catalog.close();
        await cache.close();
      } finally {
        forget();
      }
    };
    // An interrupt that comes while the session ends waits for that end.
    const end = () => ending ??= close();
    // The session's end is a hook's last word, also when an interrupt ends the run.
    const forget = configHooks.length === 0 ? () => {} : beforeInterrupt(async () => {
      catalog.interrupt();
      await end();
    });
    this.#end = end;
    return catalog;
  }

  /** Returns the engine of a place; the run's own is shared with the commands that use it directly, and not closed here. */
  async #engine(place: EnginePlace): Promise<Store> {
    if (this.hasEmbedded && isSamePlace(place, this.#embedded)) {
      return await this.#options.session.storeOrNone();
    }
    const key = JSON.stringify([place.home, place.kv]);
    const engine = this.#engines.get(key) ?? this.#openEngine(place);
    this.#engines.set(key, engine);
    return await engine;
  }

  async #openEngine({ home, kv }: EnginePlace): Promise<Store> {
    const { environment, arguments: given } = this.#options;
    const places = environment.homePlaces(given.value("home"));
    const found = findHome(
      home === undefined ? places : { ...places, chosen: { path: resolve(home), by: "the configuration" } },
    );
    const options = await homeOptions(found, environment);
    const address = kv === undefined ? options.kv : await addressOf(kv, environment);
    return await openHomeStore(found.ready ? found.folder : undefined, {
      ...options,
      kv: address,
      isTrusted: found.isTrusted && this.config.isTrusted,
    });
  }

  get #embedded(): EnginePlace {
    return placeOf(this.config.stores.get(SCHEME));
  }
}

/** Returns the folder of the home that counts, whether it is there or not; `undefined` if it cannot be used: who needs it is told. */
async function homeFolder(session: Session): Promise<string | undefined> {
  try {
    return (await session.found()).folder;
  } catch {
    return undefined;
  }
}

function placeOf(store: StoreConfig | undefined): EnginePlace {
  const { home, kv } = store?.options ?? {};
  return { ...(typeof home === "string" ? { home } : {}), ...(typeof kv === "string" ? { kv } : {}) };
}

function isSamePlace(a: EnginePlace, b: EnginePlace): boolean {
  return a.home === b.home && a.kv === b.kv;
}

/** What cannot be looked into is for the cache to tell of. */
function holdsAnything(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}
