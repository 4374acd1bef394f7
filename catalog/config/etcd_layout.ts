/**
 * How a configuration lies in etcd, each value as JSON:
 *
 * ```
 * <prefix>/schemes, /stores, /stages, /entries, /cache     the shared sections
 * <prefix>/tenants                                         the list of tenants' names, for the admin
 * <prefix>/tenants/<name>/name                             the tenant's name: it exists, even with an empty part
 * <prefix>/tenants/<name>/<section>                        a section of a tenant's part
 * <prefix>/admin/<section>                                 a section of the admin's part
 * ```
 *
 * There are no hooks: what runs is named on the machine that runs it.
 */

import { CodedError } from "../../base/errors.ts";
import { FORBIDDEN_NAME, isMap, type Plain, type PlainMap } from "./tree.ts";
import { PART_SECTIONS, SHARED_SECTIONS } from "./view.ts";

export const ETCD_SECTIONS = SHARED_SECTIONS.filter((section) => section !== "hooks");

/** Keys without their prefix, with the JSON that they hold. */
export type EtcdKeys = ReadonlyMap<string, string>;

/** Returns the keys of a configuration; a section without a value is none. */
export function keysOf(tree: PlainMap): EtcdKeys {
  const keys = new Map<string, string>();
  const addSections = (map: PlainMap, sections: readonly string[], under: string) => {
    for (const section of sections) {
      const value = map[section] ?? null;
      if (value !== null) keys.set(`${under}/${section}`, JSON.stringify(value));
    }
  };
  addSections(tree, ETCD_SECTIONS, "");
  const { tenants, admin } = tree;
  if (isMap(tenants)) {
    keys.set("/tenants", JSON.stringify(Object.keys(tenants)));
    for (const [name, part] of Object.entries(tenants)) {
      keys.set(`/tenants/${name}/name`, JSON.stringify(name));
      if (isMap(part)) addSections(part, PART_SECTIONS, `/tenants/${name}`);
    }
  }
  if (isMap(admin)) addSections(admin, PART_SECTIONS, "/admin");
  return keys;
}

const KNOWN = new RegExp(
  `^/(?:(?:${ETCD_SECTIONS.join("|")}|tenants)|tenants/[^/]+/(?:name|${PART_SECTIONS.join("|")})|admin/(?:${
    PART_SECTIONS.join("|")
  }))$`,
);

/** Returns whether a key, without its prefix, is one of a configuration. */
export function isConfigKey(key: string): boolean {
  return KNOWN.test(key);
}

/** Returns the configuration that keys hold; `tenants` are those whose parts were read. Fails with `invalid_configuration`. */
export function treeOf(keys: EtcdKeys, tenants: readonly string[], origin: string): PlainMap {
  const tree: Record<string, Plain> = {};
  const read = (into: Record<string, Plain>, sections: readonly string[], under: string) => {
    for (const section of sections) {
      const value = readJson(keys, `${under}/${section}`, origin);
      if (value !== undefined) into[section] = value;
    }
  };
  read(tree, ETCD_SECTIONS, "");
  const parts: Record<string, Plain> = {};
  for (const name of tenants) {
    const own = readJson(keys, `/tenants/${name}/name`, origin);
    if (own === undefined) continue;
    if (own !== name || name === FORBIDDEN_NAME) {
      throw invalidKey(`/tenants/${name}/name`, origin, "it must hold the tenant's name");
    }
    const part: Record<string, Plain> = {};
    read(part, PART_SECTIONS, `/tenants/${name}`);
    parts[name] = part;
  }
  if (Object.keys(parts).length > 0) tree["tenants"] = parts;
  const admin: Record<string, Plain> = {};
  read(admin, PART_SECTIONS, "/admin");
  if (Object.keys(admin).length > 0) tree["admin"] = admin;
  return tree;
}

/** Returns the tenants that the list names. Fails with `invalid_configuration`. */
export function listedTenants(keys: EtcdKeys, origin: string): readonly string[] {
  const list = readJson(keys, "/tenants", origin) ?? [];
  if (Array.isArray(list) && list.every((name) => typeof name === "string")) return list as string[];
  throw invalidKey("/tenants", origin, "it must be a list of names");
}

function readJson(keys: EtcdKeys, key: string, origin: string): Plain | undefined {
  const text = keys.get(key);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text, (name, value) => {
      if (name === FORBIDDEN_NAME) throw new SyntaxError("such a name is not taken");
      return value;
    }) as Plain;
  } catch (error) {
    throw invalidKey(key, origin, "it is no JSON", error);
  }
}

function invalidKey(key: string, origin: string, why: string, cause?: unknown): CodedError {
  return new CodedError(
    "invalid",
    "invalid_configuration",
    `Cannot use "${origin}": its key "${key}": ${why}`,
    {
      details: { file: origin, key, isCatalog: true },
      cause,
    },
  );
}
