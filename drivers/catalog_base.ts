/** What a store of the catalog does when its driver says nothing else. */

import { formatUri, type Uri } from "../base/uri.ts";
import { CodedError } from "../base/errors.ts";
import type { Cache } from "../cache/mod.ts";
import {
  type CallOptions,
  CATALOG_DRIVERS,
  type CatalogCapability,
  type CatalogCommitOptions,
  type CatalogDriverName,
  type CatalogMergeOptions,
  type CatalogStore,
  type Entry,
  type PutSource,
  unsupportedByStore,
} from "./catalog_store.ts";

/** Pins nothing, and refuses every write, commit, branch and merge. */
export abstract class CatalogStoreBase implements CatalogStore {
  readonly name: string;
  readonly driver: CatalogDriverName;

  constructor(name: string, driver: CatalogDriverName) {
    this.name = name;
    this.driver = driver;
  }

  get capabilities(): ReadonlySet<CatalogCapability> {
    return new Set(CATALOG_DRIVERS[this.driver].capabilities);
  }

  get fetchPins(): boolean {
    return CATALOG_DRIVERS[this.driver].fetchPins;
  }

  get refsInPath(): boolean {
    return CATALOG_DRIVERS[this.driver].refsInPath;
  }

  pin(uri: Uri, _cache: Cache, _options?: CallOptions): Promise<Uri> {
    return Promise.resolve(uri);
  }

  abstract stat(uri: Uri, cache: Cache, options?: CallOptions): Promise<Entry>;
  abstract list(uri: Uri, cache: Cache, options?: CallOptions): AsyncIterable<readonly Entry[]>;
  abstract fetch(uri: Uri, cache: Cache, options?: CallOptions): Promise<string>;

  put(_uri: Uri, _source: PutSource, _cache: Cache, _options?: CallOptions): Promise<Entry> {
    return this.#refuse("write");
  }

  delete(_uri: Uri, _cache: Cache, _options?: CallOptions): Promise<void> {
    return this.#refuse("write");
  }

  commit(_uri: Uri, _options: CatalogCommitOptions): Promise<Uri> {
    return this.#refuse("commit");
  }

  branch(_uri: Uri, _source: string, _options: { readonly committer: string } & CallOptions): Promise<void> {
    return this.#refuse("branch");
  }

  merge(_uri: Uri, _source: string, _options: CatalogMergeOptions): Promise<Uri> {
    return this.#refuse("merge");
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #refuse(capability: CatalogCapability): Promise<never> {
    return Promise.reject(unsupportedByStore(this, capability));
  }
}

/** Returns the error for what is not there. */
export function nothingAt(uri: Uri, cause?: unknown): CodedError {
  const text = formatUri(uri);
  return new CodedError("not_found", "object_not_found", `Cannot find "${text}": there is nothing`, {
    details: { uri: text },
    cause,
  });
}

/** Returns the error for a listing of what is no folder. */
export function noFolderAt(uri: Uri): CodedError {
  const text = formatUri(uri);
  return new CodedError("not_found", "object_not_found", `Cannot list "${text}": it is no folder`, {
    details: { uri: text },
  });
}

/** Returns the error for a URI of a form that a store does not have. */
export function unusableUri(uri: Uri, why: string): CodedError {
  const text = formatUri(uri);
  return new CodedError("invalid", "invalid_uri", `Cannot use "${text}": ${why}`, { details: { uri: text } });
}

/** Returns the error for a selector that a store does not have. */
export function unsupportedSelector(uri: Uri, what: string): CodedError {
  return new CodedError(
    "unsupported",
    "unsupported_selector",
    `Cannot use "?at=${uri.at!.kind}:" in "${formatUri(uri)}": ${what}`,
    { details: { uri: formatUri(uri) } },
  );
}
