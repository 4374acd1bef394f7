/** Catalogs over a cache, a file store and an engine of a test's own. */

import { join } from "node:path";
import { utf8 } from "../base/bytes.ts";
import { formatUri, type Uri } from "../base/uri.ts";
import { LocalCache, openLocalCache } from "../cache/mod.ts";
import { CatalogStoreBase } from "../drivers/catalog_base.ts";
import type { CatalogStore, Entry } from "../drivers/catalog_store.ts";
import { openFileCatalogStore } from "../drivers/file/mod.ts";
import { openGravelerStore } from "../drivers/graveler/mod.ts";
import { type Ending, temporaryFolder } from "../tests/support/temporary.ts";
import { type TestEngine, testEngine } from "../tests/support/test_engine.ts";
import { type Catalog, type CatalogOptions, openCatalog } from "./catalog.ts";
import type { StoreConfig } from "./config/mod.ts";
import { loadConfig } from "./config/load.ts";
import { parseYaml } from "./config/yaml.ts";

export interface TestCatalog {
  readonly catalog: Catalog;
  readonly engine: TestEngine;
  readonly cache: LocalCache;
  /** The test's own folder: `FOLDER` in the configuration stands for it. */
  readonly folder: string;
  /** The calls that stores of other drivers were asked for, as `name method uri`. */
  readonly asked: string[];
  /** Another catalog over the same engine, cache and folder. */
  again(options?: TestCatalogOptions): Promise<Catalog>;
}

export interface TestCatalogOptions
  extends Partial<Pick<CatalogOptions, "hooks" | "configHooks" | "openStore" | "cache">> {
  readonly principal?: string;
  readonly isOffline?: boolean;
  readonly tenant?: string;
}

/** Data of two organisations: of `acme` in the engine, with branches; of anybody on this machine, without. */
export const CONFIG = `
stores:
  lakefs-acme: {driver: graveler}
  files: {driver: file, root: FOLDER}
schemes:
  data:
    parts: [org, project]
    rest: path
    target: "lakefs-{org}://{org}-{project}/{ref}/{path}"
    ref: main
    match: {org: "[a-z0-9]+", project: "[a-z0-9-]+"}
  doc: {parts: [name], rest: path, target: "files://docs/{name}/{path}"}
  code: {parts: [owner, repo, env], rest: path, target: "github://{owner}/{repo}/{path}", ref: "{env}", pass_selector: true}
stages:
  "data://acme/sales/t": {live: "branch:main"}
entries:
  "data://acme/sales/old": "files://docs/old"
`;

export async function testCatalog(
  t: Ending,
  text: string = CONFIG,
  options: TestCatalogOptions = {},
): Promise<TestCatalog> {
  const folder = temporaryFolder(t);
  const engine = testEngine();
  await engine.store.createRepository("acme-sales", { committer: "x" });
  const raw = await parseYaml(text.replaceAll("FOLDER", folder), { origin: "tarn.yaml", folder });
  const asked: string[] = [];
  const root = join(folder, "cache");
  const open = async ({ tenant, isOffline = false, ...rest }: TestCatalogOptions) => {
    const reader = { variable: () => undefined, userFolder: folder };
    const cache = await openLocalCache({
      root,
      isOffline,
      flush: { files: async () => {}, disk: async () => true },
    });
    t.after(() => cache.close());
    const catalog = await openCatalog({
      config: loadConfig(raw, { reader, tenant, isTrusted: true }),
      cache,
      openStore: async (config) => testStore(config, engine, asked),
      principal: "ann",
      clock: engine.clock,
      ...rest,
    });
    t.after(() => catalog.close().catch(() => {}));
    return { catalog, cache };
  };
  return {
    ...await open(options),
    engine,
    folder,
    asked,
    again: async (more = {}) => (await open(more)).catalog,
  };
}

function testStore(config: StoreConfig, { store, clock }: TestEngine, asked: string[]): CatalogStore {
  const { name, driver, options } = config;
  switch (driver) {
    case "file":
      return openFileCatalogStore({ name, ...options });
    case "graveler":
      return openGravelerStore({ name, store, clock });
    default:
      return new AskedStore(config, asked);
  }
}

/** Answers everything alike, and remembers what it was asked. */
class AskedStore extends CatalogStoreBase {
  readonly #asked: string[];

  constructor({ name, driver }: StoreConfig, asked: string[]) {
    super(name, driver);
    this.#asked = asked;
  }

  override async pin(uri: Uri): Promise<Uri> {
    this.#note("pin", uri);
    return { ...uri, at: { kind: "commit", value: "c1" } };
  }

  async stat(uri: Uri): Promise<Entry> {
    this.#note("stat", uri);
    return { name: "x", kind: "file" };
  }

  async *list(uri: Uri): AsyncGenerator<readonly Entry[]> {
    this.#note("list", uri);
    yield [];
  }

  async fetch(uri: Uri): Promise<string> {
    this.#note("fetch", uri);
    return "/fetched";
  }

  #note(method: string, uri: Uri): void {
    this.#asked.push(`${method} ${formatUri(uri)}`);
  }
}

/** Writes objects to a branch of `acme-sales`, and commits them if asked to. */
export async function fill(
  { store }: TestEngine,
  contents: Readonly<Record<string, string>>,
  { branch = "main", message }: { branch?: string; message?: string } = {},
): Promise<string | undefined> {
  const writer = await store.writer("acme-sales", branch);
  for (const [path, text] of Object.entries(contents)) await writer.put(path, utf8(text));
  await writer.close();
  if (message === undefined) return undefined;
  return (await store.commit("acme-sales", branch, { message, committer: "x" })).id;
}
