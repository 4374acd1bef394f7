/**
 * The catalog of one run: its configuration is looked for when a URI asks for it, it is opened once, and closed at the end.
 *
 * A command on `lakefs://` where there is no configuration never loads any of it.
 */

import type { Config } from "../catalog/config/config.ts";
import { type ConfigPlaces, findConfig } from "../catalog/config/discovery.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { CodedError } from "../base/errors.ts";
import { formatUri, looksLikeUri } from "../base/uri.ts";
import type { LocalCache } from "../cache/mod.ts";
import type { ParsedArguments } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { SCHEME } from "./locations.ts";
import type { Messages } from "./messages.ts";
import type { LoadedCatalog } from "./open_catalog.ts";
import type { PreferredHome, Session } from "./session.ts";

export interface CatalogsOptions {
  readonly environment: Environment;
  readonly arguments: ParsedArguments;
  readonly session: Session;
  readonly messages: Messages;
}

export class Catalogs {
  readonly #options: CatalogsOptions;
  #loaded: Promise<LoadedCatalog> | undefined;
  #hasConfiguration: boolean | undefined;

  constructor(options: CatalogsOptions) {
    this.#options = options;
  }

  /** Returns the catalog, opened. */
  async open(): Promise<Catalog> {
    return await (await this.#load()).open();
  }

  /**
   * Returns the catalog if a URI is its to serve; `undefined` for what the embedded engine serves by itself, without hooks and
   * with all that it can do, and for what is no URI.
   */
  async serving(text: string): Promise<Catalog | undefined> {
    if (!looksLikeUri(text)) return undefined;
    if (!isEmbedded(text)) return await this.open();
    const loaded = this.#isConfigured() ? await this.#load() : undefined;
    return !loaded || loaded.isPlain ? undefined : await loaded.open();
  }

  /**
   * Returns the `lakefs://` URI that a URI leads to, for verbs that only the embedded engine has. What is no URI comes back.
   *
   * Fails with `unsupported_by_store` for a URI of another store.
   */
  async embedded(text: string, verb: string): Promise<string> {
    const catalog = await this.serving(text);
    if (!catalog) return text;
    const { text: physical, uri } = await catalog.resolve(text);
    const embedded = (await this.#load()).embeddedUri(uri);
    if (embedded) return formatUri(embedded);
    const where = physical === text ? "" : `, which is "${physical}"`;
    throw new CodedError(
      "unsupported",
      "unsupported_by_store",
      `Cannot run "${verb}" on "${text}"${where}: it works on the embedded engine alone`,
      { details: { uri: text, verb } },
    );
  }

  /** Returns the cache of the catalog, which stays closed. */
  async openCache(): Promise<LocalCache> {
    return await (await this.#load()).openCache();
  }

  /** Returns the home that the configuration names for the embedded engine. */
  async preferredHome(): Promise<PreferredHome | undefined> {
    return this.#isConfigured() ? (await this.#load()).preferredHome : undefined;
  }

  /** Returns the configuration, if there is one. */
  async configuration(): Promise<Config | undefined> {
    return this.#isConfigured() ? (await this.#load()).config : undefined;
  }

  /** Ends the session, if there is one, and closes what was opened. */
  async close(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    await (await loaded?.catch(() => undefined))?.close();
  }

  #load(): Promise<LoadedCatalog> {
    this.#loaded ??= import("./open_catalog.ts").then(({ loadCatalog }) => loadCatalog(this.#options));
    return this.#loaded;
  }

  /** Looked for once a run. */
  #isConfigured(): boolean {
    return this.#hasConfiguration ??= this.#findConfiguration();
  }

  #findConfiguration(): boolean {
    const { environment, arguments: given } = this.#options;
    const places: ConfigPlaces = environment.configPlaces(given.value("config"));
    return given.value("tenant") !== undefined || environment.variable("TARN_TENANT") !== undefined ||
      findConfig(places).kind !== "none";
  }
}

function isEmbedded(text: string): boolean {
  return text.startsWith(`${SCHEME}://`);
}
