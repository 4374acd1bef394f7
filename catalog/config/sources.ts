/** Where configurations come from. Each source gives one as it was written, or with all that it leaves open filled in. */

import * as fs from "node:fs";
import { dirname, relative } from "node:path";
import { concatBytes, tryUtf8Text } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { Config } from "./config.ts";
import {
  checkOwner,
  type ConfigPlaces,
  configurationNotFound,
  findConfig,
  type FoundConfig,
} from "./discovery.ts";
import { loadConfig } from "./load.ts";
import type { Reader } from "./reading.ts";
import type { RawConfig } from "./tree.ts";
import { isTrusted, trust } from "./trust.ts";
import { tenantNotFound } from "./view.ts";
import { parseYaml } from "./yaml.ts";

export interface ConfigSource {
  /** What it is, as messages name it; absent when there is none. */
  readonly origin?: string;
  /** Whether it may say all that a configuration can say. */
  readonly isTrusted: boolean;
  /** Whose view it gives; the admin's when absent. */
  readonly tenant?: string;
  /** Returns the configuration as written. */
  raw(): Promise<RawConfig>;
  /**
   * Returns the view with every `${…}` filled in from the environment of the reader.
   *
   * Fails with `invalid_configuration`, `untrusted_configuration`, `tenant_not_found`.
   */
  load(reader: Reader): Promise<Config>;
}

export interface SourceOptions {
  readonly places: ConfigPlaces;
  /** Whose view is loaded; the admin's when absent. */
  readonly tenant?: string;
  /** Reads a variable that an address names, such as one with a password. */
  readonly variable: (name: string) => string | undefined;
}

/** Returns the configuration that counts. */
export async function openConfig(options: SourceOptions): Promise<ConfigSource> {
  const found = findConfig(options.places);
  switch (found.kind) {
    case "file":
      return new YamlConfig(found, options);
    case "etcd":
      return (await import("./etcd_source.ts")).openEtcdConfig(found.address, options);
    case "none":
      return new EmptyConfig(options);
  }
}

const MOST_BYTES = 8 * 1024 * 1024;

/** A YAML file. It is read once, so that what was checked is what is used. */
export class YamlConfig implements ConfigSource {
  readonly origin: string;
  readonly path: string;
  readonly isTrusted: boolean;
  readonly tenant?: string;
  readonly #bytes: Uint8Array;
  readonly #places: ConfigPlaces;

  /** Fails with `config_not_found`, `config_of_another_user`, `file_forbidden`, `invalid_configuration`. */
  constructor(found: FoundConfig & { kind: "file" }, options: Pick<SourceOptions, "places" | "tenant">) {
    const { places, tenant } = options;
    if (tenant !== undefined) this.tenant = tenant;
    this.path = found.path;
    this.origin = shownPath(found.path, places.workingFolder);
    this.#places = places;
    this.#bytes = readFile(this.path, this.origin, (opened) => {
      if (found.isMet) checkOwner(this.path, opened, places);
    });
    this.isTrusted = !found.isMet || isTrusted(places.userConfigFolder, this.path, this.#bytes);
  }

  async raw(): Promise<RawConfig> {
    const text = tryUtf8Text(this.#bytes);
    if (text === undefined) throw invalidFile(this.origin, "it is not UTF-8");
    return await parseYaml(text, { origin: this.origin, folder: dirname(this.path) });
  }

  async load(reader: Reader): Promise<Config> {
    return loadConfig(await this.raw(), { reader, tenant: this.tenant, isTrusted: this.isTrusted });
  }

  /** Notes that the user trusts what the file holds now; returns its SHA-256. */
  trust(): string {
    return trust(this.#places.userConfigFolder, this.path, this.#bytes);
  }
}

/** No configuration: the built-in stores, with their own default credentials. */
export class EmptyConfig implements ConfigSource {
  readonly isTrusted = true;
  readonly tenant?: string;

  constructor({ tenant }: { tenant?: string } = {}) {
    if (tenant !== undefined) this.tenant = tenant;
  }

  async raw(): Promise<RawConfig> {
    if (this.tenant !== undefined) throw tenantNotFound(this.tenant, {});
    return { tree: {}, positionOf: () => undefined };
  }

  async load(reader: Reader): Promise<Config> {
    return loadConfig(await this.raw(), { reader, isTrusted: true });
  }
}

function readFile(path: string, shown: string, check: (opened: fs.Stats) => void): Uint8Array {
  let file: number | undefined;
  try {
    file = fs.openSync(path, "r");
    const opened = fs.fstatSync(file);
    check(opened);
    if (opened.isDirectory()) throw invalidFile(shown, "it is a folder");
    return readBounded(file, shown);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code } = error as { code?: string };
    if (code === "ENOENT") throw configurationNotFound(shown, "it is not there");
    const why = code ?? "reading failed";
    throw new CodedError("forbidden", "file_forbidden", `Cannot read "${shown}": ${why}`, { cause: error });
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** What is named may be a pipe, or a device without an end. */
function readBounded(file: number, shown: string): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let total = 0;;) {
    const piece = new Uint8Array(64 * 1024);
    const count = fs.readSync(file, piece);
    if (count === 0) return concatBytes(...pieces);
    if ((total += count) > MOST_BYTES) throw invalidFile(shown, "it is larger than 8 MiB");
    pieces.push(piece.subarray(0, count));
  }
}

function invalidFile(shown: string, why: string): CodedError {
  return new CodedError("invalid", "invalid_configuration", `Cannot use "${shown}": ${why}`, {
    details: { file: shown, isCatalog: true },
  });
}

/** A file below the working folder is named from there. */
function shownPath(path: string, workingFolder: string): string {
  const below = relative(workingFolder, path);
  return below === "" || below.startsWith("..") ? path : below;
}
