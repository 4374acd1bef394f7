/** The stores of a catalog: one for each entry of its configuration, made when it is first used. */

import { CodedError } from "../base/errors.ts";
import { closest } from "../base/suggestions.ts";
import { formatUri, parseUri, type Uri } from "../base/uri.ts";
import type { CatalogCapability, CatalogDriver, CatalogStore } from "../drivers/catalog_store.ts";
import { CATALOG_DRIVERS, unsupportedByStore } from "../drivers/catalog_store.ts";
import { type StoreConfig, usableStores } from "./config/mod.ts";
import { isLocalDriver, offline } from "./offline.ts";

/** Opens the store of an entry. */
export type OpenCatalogStore = (config: StoreConfig) => Promise<CatalogStore>;

/** A physical URI and the store that it lies in. */
export interface Place {
  readonly uri: Uri;
  readonly store: CatalogStore;
}

export class Stores {
  readonly #configs: ReadonlyMap<string, StoreConfig>;
  readonly #open: OpenCatalogStore;
  readonly #opened = new Map<string, Promise<CatalogStore>>();

  constructor(configs: ReadonlyMap<string, StoreConfig>, open: OpenCatalogStore) {
    this.#configs = configs;
    this.#open = open;
  }

  /** Returns where a physical URI lies, in a store that can do that. Fails with `unknown_scheme`, `unsupported_by_store`. */
  async place(uri: Uri, capability: CatalogCapability): Promise<Place> {
    this.check(uri, capability);
    return { uri, store: await this.#store(this.#config(uri)) };
  }

  /** Fails with `unsupported_by_store` for what the store of a physical URI cannot do; nothing is opened. */
  check(uri: Uri, capability: CatalogCapability): void {
    const config = this.#config(uri);
    if (CATALOG_DRIVERS[config.driver].capabilities.includes(capability)) return;
    throw unsupportedByStore(config, capability);
  }

  /** Returns what is known of the driver of a physical URI, without making the store. Fails with `unknown_scheme`. */
  driverOf(physical: string | Uri): CatalogDriver {
    const uri = typeof physical === "string" ? parseUri(physical) : physical;
    return CATALOG_DRIVERS[this.#config(uri).driver];
  }

  /** Returns whether two physical URIs name the same thing, in whatever version. */
  isSameThing(one: Uri, other: Uri): boolean {
    return one.scheme === other.scheme && one.place === other.place && this.#path(one) === this.#path(other);
  }

  /** Returns the path of a URI without the branch, tag or commit in it. */
  #path(uri: Uri): string {
    const { segments, at } = uri;
    const isRefInPath = this.driverOf(uri).refsInPath &&
      (!at || (at.kind === "ts" && !at.value.includes("@")));
    const path = isRefInPath ? segments.slice(1) : segments;
    return JSON.stringify(path.at(-1) === "" ? path.slice(0, -1) : path);
  }

  /** Fails with `offline` for a change of what is reached over a network. */
  checkLocal(uri: Uri): void {
    if (isLocalDriver(this.#config(uri).driver)) return;
    throw offline(`change "${formatUri(uri)}"`, "its store is reached over the network");
  }

  /** Closes what was opened. */
  async close(): Promise<void> {
    const opened = [...this.#opened.values()];
    this.#opened.clear();
    const ends = await Promise.allSettled(opened.map(async (store) => {
      // One that could not be opened has nothing to close.
      await (await store.catch(() => undefined))?.close();
    }));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  #config({ scheme, ...rest }: Uri): StoreConfig {
    const config = this.#configs.get(scheme);
    if (config) return config;
    const text = formatUri({ scheme, ...rest });
    const suggestion = closest(scheme, usableStores(this.#configs));
    throw new CodedError("invalid", "unknown_scheme", `Cannot use "${text}": there is no store "${scheme}"`, {
      details: { uri: text, ...(suggestion === undefined ? {} : { suggestion }) },
    });
  }

  #store(config: StoreConfig): Promise<CatalogStore> {
    const known = this.#opened.get(config.name);
    if (known) return known;
    const opening = this.#open(config);
    this.#opened.set(config.name, opening);
    // One that failed may be there the next time.
    opening.catch(() => this.#opened.delete(config.name));
    return opening;
  }
}
