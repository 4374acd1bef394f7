/** A configuration in etcd. A tenant's reader asks for the shared keys and that tenant's alone. */

import { CodedError } from "../../base/errors.ts";
import type { Config } from "./config.ts";
import { type EtcdAddress, etcdCredentials, parseEtcdAddress } from "./etcd_address.ts";
import { endOfPrefix, EtcdClient, type EtcdStep, type EtcdValue } from "./etcd_client.ts";
import { ETCD_SECTIONS, type EtcdKeys, isConfigKey, keysOf, listedTenants, treeOf } from "./etcd_layout.ts";
import { loadConfig } from "./load.ts";
import type { Reader } from "./reading.ts";
import type { ConfigSource, SourceOptions } from "./sources.ts";
import type { PlainMap, RawConfig } from "./tree.ts";

/** Others may push at the same time; each time it is begun anew. */
const MOST_ATTEMPTS = 5;

/** Opens the configuration at an address; nothing is asked of etcd yet. */
export function openEtcdConfig(address: string, options: SourceOptions): EtcdConfig {
  const parsed = parseEtcdAddress(address, options.places.workingFolder);
  return new EtcdConfig(
    parsed,
    new EtcdClient(parsed, etcdCredentials(parsed, options.variable)),
    options.tenant,
  );
}

/** What a push wrote and deleted: keys without their prefix. */
export interface Pushed {
  readonly written: readonly string[];
  readonly deleted: readonly string[];
}

export class EtcdConfig implements ConfigSource {
  readonly origin: string;
  readonly isTrusted = true;
  readonly tenant?: string;
  readonly #prefix: string;
  readonly #client: EtcdClient;

  constructor({ shown, prefix }: EtcdAddress, client: EtcdClient, tenant?: string) {
    this.origin = shown;
    this.#prefix = prefix;
    this.#client = client;
    if (tenant !== undefined) this.tenant = tenant;
  }

  /**
   * Returns the configuration as it was pushed, as it was at one moment.
   *
   * Fails with `etcd_unavailable`, `etcd_unauthenticated`, `etcd_forbidden`, `invalid_configuration`.
   */
  async raw(): Promise<RawConfig> {
    return { tree: await this.#tree(), origin: this.origin, positionOf: () => undefined };
  }

  async load(reader: Reader): Promise<Config> {
    return loadConfig(await this.raw(), { reader, tenant: this.tenant, isTrusted: true });
  }

  /**
   * Puts a configuration in place of the one that is there, in one transaction: sections that it has are written, those that
   * it has not are deleted. Keys that are none of a configuration stay.
   *
   * Fails as {@link raw} does, with `etcd_refused` when it is more than the server takes at once, and with `config_changed`.
   */
  async push(tree: PlainMap): Promise<Pushed> {
    const keys = keysOf(tree);
    const from = `${this.#prefix}/`, end = endOfPrefix(from);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const { found, revision } = await this.#client.transaction([{ get: from, end }]);
      const gone = [...this.#keys(found).keys()].filter((key) => isConfigKey(key) && !keys.has(key));
      const steps: EtcdStep[] = [
        ...[...keys].map(([key, value]) => ({ put: `${this.#prefix}${key}`, value })),
        ...gone.map((key) => ({ delete: `${this.#prefix}${key}` })),
      ];
      const { isDone } = await this.#client.transaction(steps, { from, end, since: revision });
      if (isDone) return { written: [...keys.keys()], deleted: gone };
    }
    throw new CodedError(
      "conflict",
      "config_changed",
      `Cannot push to "${this.origin}": others keep pushing to it`,
    );
  }

  async #tree(): Promise<PlainMap> {
    if (this.tenant === undefined) {
      const keys = await this.#read([this.#range("/")]);
      return treeOf(keys, listedTenants(keys, this.origin), this.origin);
    }
    // A name with a slash would ask for keys of another tenant's.
    if (this.tenant.includes("/")) return {};
    const shared = ETCD_SECTIONS.map((section) => ({ get: `${this.#prefix}/${section}` }));
    const keys = await this.#read([...shared, this.#range(`/tenants/${this.tenant}/`)]);
    return treeOf(keys, [this.tenant], this.origin);
  }

  #range(key: string): EtcdStep {
    const from = `${this.#prefix}${key}`;
    return { get: from, end: endOfPrefix(from) };
  }

  async #read(steps: readonly EtcdStep[]): Promise<EtcdKeys> {
    return this.#keys((await this.#client.transaction(steps)).found);
  }

  #keys(found: readonly (readonly EtcdValue[])[]): EtcdKeys {
    return new Map(found.flat().map(({ key, value }) => [key.slice(this.#prefix.length), value]));
  }
}
