/** The store of one run: opened when first asked for, closed once at the end. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { CodedError, isCoded } from "../base/errors.ts";
import { OwnFolders } from "../base/own_folders.ts";
import type { FoundHome } from "../catalog/home.ts";
import type { KvAddress } from "../catalog/kv_address.ts";
import type { HomeStoreOptions } from "../catalog/registry.ts";
import type { Store, StoreCosts } from "../drivers/store.ts";
import type { Environment } from "./environment.ts";

/** Opens the store of a home; where there is none yet, an empty one that keeps nothing, unless `TARN_KV` names what does. */
export type OpenStore = (home: FoundHome, options: HomeStoreOptions) => Promise<Store>;

/** A home, and a key-value store, that the configuration names for the embedded engine. */
export interface PreferredHome {
  readonly home?: string;
  readonly kv?: string;
  /** Whether it may name a key-value store. */
  readonly isTrusted: boolean;
}

export interface SessionOptions {
  readonly chosenHome?: string;
  /** Says which home counts where none was chosen. */
  readonly preferred?: () => Promise<PreferredHome | undefined>;
  readonly open?: OpenStore;
}

export class Session {
  readonly #environment: Environment;
  readonly #options: SessionOptions;
  #store: Promise<Store> | undefined;
  #home: string | undefined;
  #mayMake = false;
  #checked: Promise<void> | undefined;

  constructor(environment: Environment, options: SessionOptions = {}) {
    this.#environment = environment;
    this.#options = options;
  }

  /** Returns the store; where there is no home yet, one without repositories. Fails with `home_not_found` where one was named. */
  async store(): Promise<Store> {
    if (!this.#options.open) await (this.#checked ??= this.#refuseMissing());
    return await this.storeOrNone();
  }

  /** As {@link store}, and without repositories also where a home that was named is not there: a cache may do without it. */
  storeOrNone(): Promise<Store> {
    this.#store ??= this.#openFound();
    return this.#store;
  }

  /**
   * Returns the store, made with its home if there is none: for commands that can be a user's first. Nothing is made if `check`
   * fails, which is given the store as it is before.
   */
  async makeStore(check: (store: Store) => Promise<void> = async () => {}): Promise<Store> {
    const { makeHome } = await import("../catalog/home.ts");
    const found = await this.found();
    const { kv } = await this.options(found);
    if (!found.ready || (kv && !this.#mayMake)) {
      await check(await this.#storeBefore());
      await this.close();
      if (!found.ready) makeHome(found.folder);
      this.#checked = undefined;
    }
    this.#mayMake = true;
    return await this.store();
  }

  /** Returns the store without making anything; a key-value store that is named and not there holds nothing. */
  async #storeBefore(): Promise<Store> {
    try {
      return await this.storeOrNone();
    } catch (error) {
      if (!isCoded(error, "kv_missing")) throw error;
    }
    await this.close();
    const { openHomeStore } = await import("../catalog/registry.ts");
    this.#store = openHomeStore(undefined, { homeToBe: (await this.found()).folder });
    return await this.#store;
  }

  /** Returns the folder of the home that the store was opened in, if any. */
  get home(): string | undefined {
    return this.#home;
  }

  /** Returns which folders are tarn's own: beside all homes and caches, those elsewhere in which this home keeps things. */
  async ownFolders(): Promise<OwnFolders> {
    let store: Store;
    try {
      store = await this.storeOrNone();
    } catch {
      // A home that cannot be opened is told by what lies in it.
      return new OwnFolders();
    }
    const [{ namespacesElsewhere }, { kvAddressOf }] = await Promise.all([
      import("../catalog/namespace.ts"),
      import("../catalog/registry.ts"),
    ]);
    const named = this.#home === undefined ? [] : [this.#home];
    const kv = await kvAddressOf(this.#home, await this.options(await this.found()));
    if (kv?.driver === "lmdb") named.push(kv.folder);
    return new OwnFolders([...named, ...await namespacesElsewhere(store)]);
  }

  /** Returns the folders of storage namespaces outside of the home; none of a home that cannot be opened. */
  async namespaces(): Promise<readonly string[]> {
    const { namespacesElsewhere } = await import("../catalog/namespace.ts");
    try {
      return await namespacesElsewhere(await this.storeOrNone());
    } catch {
      return [];
    }
  }

  /** Returns the home that counts, whether it is there or not. Fails as `findHome()` does. */
  async found(): Promise<FoundHome> {
    const { findHome } = await import("../catalog/home.ts");
    const places = this.#environment.homePlaces(this.#options.chosenHome);
    const { home, isTrusted } = await this.#preferred() ?? {};
    if (places.chosen || home === undefined) return findHome(places);
    const found = findHome({ ...places, chosen: { path: home, by: "the configuration" } });
    return { ...found, isTrusted: found.isTrusted && isTrusted === true };
  }

  /** Returns how a home is to be opened. */
  async options(found: FoundHome): Promise<HomeStoreOptions> {
    const options = await homeOptions(found, this.#environment);
    const { kv } = await this.#preferred() ?? {};
    return options.kv || kv === undefined
      ? options
      : { ...options, kv: await addressOf(kv, this.#environment) };
  }

  /** Returns what the store of this run has cost, if it was opened and counts that. */
  async costs(): Promise<StoreCosts | undefined> {
    return await (await this.#store?.catch(() => undefined))?.costs?.();
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    await (await store?.catch(() => undefined))?.close();
  }

  /** A folder that is named and not there is mistyped, more likely than a home to be; a store that is named needs none. */
  async #refuseMissing(): Promise<void> {
    const home = await this.found();
    if (home.ready || home.chosenBy === undefined || existsSync(home.folder)) return;
    if ((await this.options(home)).kv) return;
    throw new CodedError(
      "not_found",
      "home_not_found",
      `Cannot use the home "${home.folder}" that ${home.chosenBy} names: it is not there`,
      { details: { home: home.folder } },
    );
  }

  async #openFound(): Promise<Store> {
    const found = await this.found();
    this.#home = found.ready ? found.folder : undefined;
    return await (this.#options.open ?? openFound)(found, {
      ...await this.options(found),
      makesKv: this.#mayMake,
    });
  }

  async #preferred(): Promise<PreferredHome | undefined> {
    return await this.#options.preferred?.();
  }
}

async function openFound(home: FoundHome, options: HomeStoreOptions): Promise<Store> {
  const { openHomeStore } = await import("../catalog/registry.ts");
  return await openHomeStore(home.ready ? home.folder : undefined, options);
}

/** Returns how this environment has a home opened. */
export async function homeOptions(home: FoundHome, environment: Environment): Promise<HomeStoreOptions> {
  const address = environment.variable("TARN_KV");
  const kv = address === undefined ? {} : { kv: await addressOf(address, environment) };
  return {
    ...kv,
    homeToBe: home.folder,
    isOffline: environment.isOffline(),
    isTrusted: home.isTrusted,
    nativeFolders: [join(environment.cacheFolder(), "native")],
    allowNetwork: environment.allowsNetworkFileSystems(),
    variable: environment.variable,
  };
}

/** Returns the address of a key-value store that a variable or a configuration names. */
export async function addressOf(text: string, environment: Environment): Promise<KvAddress> {
  const { parseKvAddress } = await import("../catalog/kv_address.ts");
  return parseKvAddress(text, environment.homePlaces(undefined).workingFolder);
}
