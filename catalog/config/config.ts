/** A configuration that was loaded: one view of it, every `${…}` filled in, every value of its type. */

import { type CatalogDriverName, DRIVERS_OF_THIS_VERSION } from "../../drivers/catalog_store.ts";
import type { OptionValue } from "./options.ts";
import type { Path, RawConfig } from "./tree.ts";

export interface Config {
  /** As it was written, for messages. */
  readonly raw: RawConfig;
  /** Whose view it is; absent for the admin's. */
  readonly tenant?: string;
  /** Whether the user chose or trusted it, and did not just meet it on the way up from the working folder. */
  readonly isTrusted: boolean;
  /** By name, the built-in ones included. */
  readonly stores: ReadonlyMap<string, StoreConfig>;
  readonly schemes: ReadonlyMap<string, SchemeConfig>;
  readonly stages: readonly StageConfig[];
  readonly entries: readonly EntryConfig[];
  readonly cache: CacheConfig;
  readonly hooks: readonly string[];
}

export interface StoreConfig {
  readonly name: string;
  readonly driver: CatalogDriverName;
  /** Of the types that `CATALOG_DRIVERS` gives. */
  readonly options: Readonly<Record<string, OptionValue>>;
  /** Absent for a store that is built in. */
  readonly path?: Path;
}

export interface SchemeConfig {
  readonly name: string;
  readonly parts: readonly string[];
  readonly rest?: string;
  readonly target: string;
  readonly ref?: string;
  readonly passSelector: boolean;
  /** Regular expressions by part. */
  readonly match: ReadonlyMap<string, string>;
  readonly tenant?: string;
  readonly path: Path;
}

/** The stages of one logical URI. */
export interface StageConfig {
  readonly uri: string;
  /** What each stage points at, as `kind:value`. */
  readonly selectors: ReadonlyMap<string, string>;
  readonly path: Path;
  /** Whose part it stands in. */
  readonly tenant?: string;
}

export interface EntryConfig {
  /** A logical URI; with a slash at its end a prefix. */
  readonly key: string;
  readonly target: string;
  readonly path: Path;
  /** Whose part it stands in. */
  readonly tenant?: string;
}

export interface CacheConfig {
  readonly root?: string;
  readonly maxBytes?: number;
}

/** The stores that are there without a configuration. One of the same name takes the place of a built-in one. */
export const BUILT_IN_STORES: Readonly<Record<string, CatalogDriverName>> = {
  file: "file",
  lakefs: "graveler",
  s3: "s3",
  gcs: "gcs",
  azure: "azure",
  github: "github",
  hf: "hf",
};

/** Returns the names of stores that this version can open, of those that a mistyped name may have meant. */
export function usableStores(stores: ReadonlyMap<string, StoreConfig>): readonly string[] {
  return [...stores.values()].filter(({ driver }) => DRIVERS_OF_THIS_VERSION.includes(driver)).map((
    { name },
  ) => name);
}
