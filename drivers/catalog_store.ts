/**
 * The catalog's store contract: one kind of storage, addressed by physical URIs `name://place/path?at=kind:value`.
 *
 * A *store* is a named instance of a driver with options; its name is the scheme of its URIs. The catalog, its hooks and
 * the commands are written once against this. Where a store lacks a capability, the call fails with `unsupported_by_store`
 * (kind `unsupported`) and says so. Every driver runs `tests/conformance/catalog_store_suite.ts`.
 *
 * Failures that all drivers share: `invalid_uri`, `object_not_found` and the store's own ones for what is not there,
 * `unsupported_selector`, `not_a_branch` for a write to a fixed version, `not_cached` for what `--offline` cannot answer.
 */

import { CodedError } from "../base/errors.ts";
import type { Uri } from "../base/uri.ts";
import type { Cache } from "../cache/mod.ts";
import type { ByteStream } from "./object_store.ts";

export type CatalogCapability = "read" | "write" | "pin" | "commit" | "branch" | "merge" | "time";

/** A file or a folder. */
export interface Entry {
  /** The last part of its path. */
  readonly name: string;
  readonly kind: "file" | "folder";
  /** Absent where a folder's size is not known without listing it. */
  readonly sizeBytes?: number;
  /** What tells this content from another one under the same name: an ETag, a generation, a commit. */
  readonly version?: string;
  /** In hex, where the store keeps it. */
  readonly sha256?: string;
  /** Milliseconds since the epoch, where the store keeps it. */
  readonly modifiedMs?: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** What is put: a local file, or bytes. */
export type PutSource = { readonly path: string } | { readonly body: Uint8Array | ByteStream };

export interface CatalogCommitOptions extends CallOptions {
  readonly message: string;
  readonly committer: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Takes only what lies at and under the URI; the rest stays staged. Not every store that commits can do that. */
  readonly isPartial?: boolean;
}

export type MergeStrategy = "source-wins" | "dest-wins";

export interface CatalogMergeOptions extends CallOptions {
  readonly committer: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly strategy?: MergeStrategy;
}

export interface CatalogStore {
  /** The scheme of its URIs. */
  readonly name: string;
  readonly driver: CatalogDriverName;
  readonly capabilities: ReadonlySet<CatalogCapability>;
  /** Whether `fetch` pins by itself, so that the catalog may pin before it. */
  readonly fetchPins: boolean;
  /** Whether a commit or tag stands in the path in place of the branch; otherwise in `?at=`. */
  readonly refsInPath: boolean;

  /** Returns the URI with a fixed version, noted in the cache for `--offline`. Where nothing is fixed, the URI as it is. */
  pin(uri: Uri, cache: Cache, options?: CallOptions): Promise<Uri>;
  stat(uri: Uri, cache: Cache, options?: CallOptions): Promise<Entry>;
  /** Yields what lies directly in a folder, in byte order of names, page by page. */
  list(uri: Uri, cache: Cache, options?: CallOptions): AsyncIterable<readonly Entry[]>;
  /** Returns a local path that holds the file or folder, current when the call was made. */
  fetch(uri: Uri, cache: Cache, options?: CallOptions): Promise<string>;

  /** Writes one file, whole or not at all; durable when it returns. */
  put(uri: Uri, source: PutSource, cache: Cache, options?: CallOptions): Promise<Entry>;
  /** Deletes one object. Fails with `object_not_found`. */
  delete(uri: Uri, cache: Cache, options?: CallOptions): Promise<void>;

  /** Commits the branch or folder that the URI is on; returns the URI pinned to the new commit. */
  commit(uri: Uri, options: CatalogCommitOptions): Promise<Uri>;
  /** Makes the branch that the URI names, from a branch, a tag or a commit. */
  branch(uri: Uri, source: string, options: { readonly committer: string } & CallOptions): Promise<void>;
  /** Merges a branch, a tag or a commit into the branch that the URI is on; returns the URI pinned to the merge commit. */
  merge(uri: Uri, source: string, options: CatalogMergeOptions): Promise<Uri>;

  close(): Promise<void>;
}

/** What an option's value is, after `${…}` has been filled in. `name` refers to a secret or profile, never holds one. */
export type OptionType = "text" | "name" | "url" | "folder" | "file" | "boolean" | "seconds" | "list";

export type CatalogDriverName = "graveler" | "lakefs" | "s3" | "gcs" | "azure" | "github" | "hf" | "file";

/** The drivers that this version has; the names and options of the others are known already. */
export const DRIVERS_OF_THIS_VERSION: readonly CatalogDriverName[] = ["graveler", "file"];

/** What is known of a driver without loading it. */
export interface CatalogDriver {
  readonly capabilities: readonly CatalogCapability[];
  readonly fetchPins: boolean;
  readonly refsInPath: boolean;
  readonly options: Readonly<Record<string, OptionType>>;
}

const ALL: readonly CatalogCapability[] = ["read", "write", "pin", "commit", "branch", "merge", "time"];
const BUCKET: readonly CatalogCapability[] = ["read", "write", "pin", "commit", "branch"];
const SOURCE: readonly CatalogCapability[] = ["read", "pin", "time"];

/** The capabilities, traits and options of each driver. */
export const CATALOG_DRIVERS: Readonly<Record<CatalogDriverName, CatalogDriver>> = {
  graveler: {
    capabilities: ALL,
    fetchPins: false,
    refsInPath: true,
    options: { home: "folder", kv: "text" },
  },
  lakefs: {
    capabilities: ALL,
    fetchPins: false,
    refsInPath: true,
    options: { endpoint_url: "url", profile: "name" },
  },
  s3: {
    capabilities: BUCKET,
    fetchPins: false,
    refsInPath: false,
    options: { endpoint_url: "url", profile: "name", region: "text", path_style: "boolean" },
  },
  gcs: {
    capabilities: BUCKET,
    fetchPins: false,
    refsInPath: false,
    options: { endpoint_url: "url", project: "text", credentials: "file" },
  },
  azure: {
    capabilities: BUCKET,
    fetchPins: false,
    refsInPath: false,
    options: { account: "text", endpoint_url: "url" },
  },
  github: {
    capabilities: SOURCE,
    fetchPins: true,
    refsInPath: false,
    options: { api_url: "url", token_env: "name", lfs_hosts: "list", timeout: "seconds" },
  },
  hf: {
    capabilities: SOURCE,
    fetchPins: true,
    refsInPath: false,
    options: { endpoint: "url", token_env: "name", timeout: "seconds" },
  },
  file: {
    capabilities: ["read", "write"],
    fetchPins: false,
    refsInPath: false,
    options: { root: "folder" },
  },
};

const ACTIONS: Readonly<Record<CatalogCapability, string>> = {
  read: "be read",
  write: "be written",
  pin: "be pinned",
  commit: "commit",
  branch: "make branches",
  merge: "merge",
  time: "look back in time",
};

/** Returns the error for a call outside a store's capabilities. */
export function unsupportedByStore(
  store: { readonly name: string; readonly driver: string },
  capability: CatalogCapability,
): CodedError {
  return new CodedError(
    "unsupported",
    "unsupported_by_store",
    `Cannot use store "${store.name}" so: the driver "${store.driver}" cannot ${ACTIONS[capability]}`,
    { details: { store: store.name, driver: store.driver, capability } },
  );
}
