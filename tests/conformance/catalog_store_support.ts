/** What the tests of the catalog's stores share: a store with a place to work in, a cache, and looking at both. */

import * as fs from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { formatUri, type Selector, type Uri } from "../../base/uri.ts";
import { type HeldCache, type LocalCache, openLocalCache } from "../../cache/mod.ts";
import {
  CATALOG_DRIVERS,
  type CatalogCapability,
  type CatalogDriverName,
  type CatalogStore,
  type Entry,
  type PutSource,
} from "../../drivers/catalog_store.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** A store that is open for one test. */
export interface OpenCatalogStore {
  readonly store: CatalogStore;
  /** An empty folder that reads see; of a versioned store, on a branch. */
  readonly base: Uri;
  /** Brings files to the folder where the store cannot be written; `undefined` takes one away. */
  readonly fill?: (files: Files) => Promise<void>;
  /** Lets every further call to what stands behind the store fail. */
  readonly cutOff?: () => void;
  /** The store's clock, where a test can move it: needed of a store that looks back in time. */
  readonly clock?: { advance(milliseconds: number): void; now(): number };
}

export type Files = Readonly<Record<string, string | undefined>>;

export interface CatalogStoreTraits {
  /** Whether it fetches into the cache; otherwise what it fetches is where it is. */
  readonly isCached: boolean;
  /** Whether `a` and `a/b` may be there together. */
  readonly keepsClashes: boolean;
}

export interface CatalogStoreSuiteOptions extends CatalogStoreTraits {
  /** Whose capabilities say which tests are run. */
  readonly driver: CatalogDriverName;
  /** Whether it commits a folder alone. */
  readonly commitsFolders?: boolean;
  readonly open: (t: TestContext) => Promise<OpenCatalogStore>;
  /** Names of tests to skip, with the reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** Registers one test of a suite. */
export type Check = (name: string, run: (bench: Bench) => Promise<void>) => void;

/** Returns whether a driver can do all of this. */
export function driverCan(driver: CatalogDriverName, ...capabilities: readonly CatalogCapability[]): boolean {
  return capabilities.every((one) => CATALOG_DRIVERS[driver].capabilities.includes(one));
}

const TIMEOUT_MS = 120_000;

export function checksOf(driver: string, options: CatalogStoreSuiteOptions): Check {
  return (name, run) => {
    const skip = options.skip?.[name] ?? false;
    test(`${driver}: ${name}`, { skip, timeout: TIMEOUT_MS }, async (t) => {
      const open = await options.open(t);
      const root = join(temporaryFolder(t), "cache");
      const cache = await openLocalCache({ root });
      t.after(() => cache.close());
      await run(new Bench(open, cache, options));
    });
  };
}

/** One test's store and cache, and what is done with them over and over. */
export class Bench {
  readonly open: OpenCatalogStore;
  readonly traits: CatalogStoreTraits;
  readonly cache: LocalCache;

  constructor(open: OpenCatalogStore, cache: LocalCache, traits: CatalogStoreTraits) {
    this.open = open;
    this.cache = cache;
    this.traits = traits;
  }

  get store(): CatalogStore {
    return this.open.store;
  }

  can(capability: CatalogCapability): boolean {
    return this.store.capabilities.has(capability);
  }

  /** Returns the URI of a path below the folder that the test works in; one that ends in a slash keeps it. */
  at(path: string, at?: Selector): Uri {
    const { base } = this.open;
    const segments = path === "" ? base.segments : [...base.segments, ...path.split("/")];
    return { ...base, segments, ...(at ? { at } : {}) };
  }

  text(path: string): string {
    return formatUri(this.at(path));
  }

  async fill(files: Files): Promise<void> {
    if (this.open.fill) return await this.open.fill(files);
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) await this.store.delete(this.at(path), this.cache);
      else await this.put(path, { body: utf8(text) });
    }
  }

  put(path: string, source: PutSource): Promise<Entry> {
    return this.store.put(this.at(path), source, this.cache);
  }

  stat(path: string): Promise<Entry> {
    return this.store.stat(this.at(path), this.cache);
  }

  async fetch(path: string | Uri, cache: LocalCache | HeldCache = this.cache): Promise<string> {
    return await this.store.fetch(typeof path === "string" ? this.at(path) : path, cache);
  }

  /** Returns a file's text, fetched. */
  async read(path: string | Uri, cache: LocalCache | HeldCache = this.cache): Promise<string> {
    return fs.readFileSync(await this.fetch(path, cache), "utf8");
  }

  /** Returns all files of a folder, fetched. */
  async readAll(path: string | Uri, cache: LocalCache | HeldCache = this.cache): Promise<Files> {
    return filesIn(await this.fetch(path, cache));
  }

  /** Returns a listing as `kind name` lines, in its order. */
  async list(path: string | Uri, cache: LocalCache | HeldCache = this.cache): Promise<string[]> {
    const uri = typeof path === "string" ? this.at(path) : path;
    const lines: string[] = [];
    for await (const page of this.store.list(uri, cache)) {
      lines.push(...page.map(({ kind, name }) => `${kind} ${name}`));
    }
    return lines;
  }

  /** Opens the same cache without the network, and takes the network away. */
  async goOffline(): Promise<LocalCache> {
    this.open.cutOff?.();
    return await openLocalCache({ root: this.cache.root, isOffline: true });
  }
}

/** Reads all files below a folder, by path in byte order. */
export function filesIn(folder: string): Files {
  const paths = fs.readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => fs.statSync(join(folder, path)).isFile());
  paths.sort((a, b) => compareBytes(utf8(a), utf8(b)));
  return Object.fromEntries(paths.map((path) => [path, fs.readFileSync(join(folder, path), "utf8")]));
}
