/**
 * Views: the parts of a configuration that one reader sees, put together before any `${…}` is filled in.
 *
 * A tenant's view holds the shared sections and that tenant's part, the admin's view holds every part. What is not in a view
 * is not looked at: not its values, not its variables, not whether it is well-formed.
 */

import { closest } from "../../base/suggestions.ts";
import { CodedError } from "../../base/errors.ts";
import type { Problems } from "./problems.ts";
import { isMap, type Path, pathText, type Plain, type PlainMap, type RawConfig } from "./tree.ts";

/** The sections that map names to something, and that a tenant and the admin may have, too. */
export const PART_SECTIONS = ["stores", "stages", "entries", "cache"] as const;
export const SHARED_SECTIONS = ["stores", "schemes", "stages", "entries", "cache", "hooks"] as const;
export const SECTIONS = [...SHARED_SECTIONS, "tenants", "admin"] as const;

export type NamedSection = "stores" | "schemes" | "stages" | "entries" | "cache";

/** One named thing of a section. */
export interface Item {
  readonly value: Plain;
  /** Where it stands in the whole. */
  readonly path: Path;
  /** Whose part it stands in; absent in the shared and the admin's part. */
  readonly tenant?: string;
}

export type Items = ReadonlyMap<string, Item>;

export interface View {
  readonly raw: RawConfig;
  /** Whose view it is; absent for the admin's. */
  readonly tenant?: string;
  readonly sections: Readonly<Record<NamedSection, Items>>;
  readonly hooks?: Item;
}

/** Letters and digits alone: with a "-", the names of one tenant's stores could end as another's do. */
const TENANT_NAME = /^[a-z0-9]{1,63}$/;

interface Part {
  readonly map: PlainMap;
  readonly path: Path;
  readonly known: readonly string[];
  readonly tenant?: string;
}

/** Cuts a tenant's view, or the admin's, and notes what is wrong with its outline. Fails with `tenant_not_found`. */
export function cutView(raw: RawConfig, tenant: string | undefined, problems: Problems): View {
  const shared: Part = { map: raw.tree, path: [], known: SECTIONS };
  const parts = [
    shared,
    ...tenantParts(raw, tenant, problems),
    ...tenant === undefined ? partAt(raw, ["admin"], problems) : [],
  ];
  const sections = {
    stores: new Map<string, Item>(),
    schemes: new Map<string, Item>(),
    stages: new Map<string, Item>(),
    entries: new Map<string, Item>(),
    cache: new Map<string, Item>(),
  };
  for (const part of parts) {
    for (const [name, value] of Object.entries(part.map)) {
      const path = [...part.path, name];
      if (!part.known.includes(name)) refuseSection(path, part.known, problems);
      else if (Object.hasOwn(sections, name) && !isOthersCache(name, part, tenant)) {
        addItems(sections[name as NamedSection], value, { ...part, path }, problems);
      }
    }
  }
  const hooks = raw.tree["hooks"] ?? null;
  return {
    raw,
    ...(tenant === undefined ? {} : { tenant }),
    sections,
    ...(hooks === null ? {} : { hooks: { value: hooks, path: ["hooks"] } }),
  };
}

/** The admin sees tenants' stores, stages and entries, but keeps a cache of its own. */
function isOthersCache(section: string, part: Part, tenant: string | undefined): boolean {
  return section === "cache" && part.tenant !== undefined && part.tenant !== tenant;
}

/** Returns the names of the tenants, as far as they are read. */
export function tenantNames(raw: RawConfig): readonly string[] {
  const { tenants } = raw.tree;
  return isMap(tenants) ? Object.keys(tenants) : [];
}

function tenantParts(raw: RawConfig, tenant: string | undefined, problems: Problems): Part[] {
  const tenants = raw.tree["tenants"] ?? {};
  if (!isMap(tenants)) {
    problems.add(["tenants"], "it must be names of tenants, each with its part");
    return [];
  }
  if (tenant !== undefined && !Object.hasOwn(tenants, tenant)) throw tenantNotFound(tenant, raw);
  return (tenant === undefined ? Object.keys(tenants) : [tenant]).flatMap((name) => {
    if (!TENANT_NAME.test(name)) {
      problems.add(["tenants", name], "the name of a tenant is 1 to 63 lowercase letters and digits");
    }
    return partAt(raw, ["tenants", name], problems).map((part) => ({ ...part, tenant: name }));
  });
}

function partAt(raw: RawConfig, path: Path, problems: Problems): Part[] {
  let map: Plain | undefined = raw.tree;
  for (const step of path) map = isMap(map) ? map[step] : undefined;
  if (map === undefined || map === null) return [];
  if (isMap(map)) return [{ map, path, known: PART_SECTIONS }];
  problems.add(path, "it must be sections with their values");
  return [];
}

function addItems(items: Map<string, Item>, value: Plain, { path, tenant }: Part, problems: Problems): void {
  if (value === null) return;
  if (!isMap(value)) return problems.add(path, "it must be names with values");
  for (const [name, inner] of Object.entries(value)) {
    const other = items.get(name);
    const item = { value: inner, path: [...path, name], ...(tenant === undefined ? {} : { tenant }) };
    // A cache is set once for all, and by a part for itself.
    if (!other || path.at(-1) === "cache") items.set(name, item);
    else problems.add(item.path, `the same name stands in another part: ${pathText(other.path)}`);
  }
}

function refuseSection(path: Path, known: readonly string[], problems: Problems): void {
  const name = String(path.at(-1));
  const isMisplaced = path.length > 1 && (SECTIONS as readonly string[]).includes(name);
  const why = isMisplaced ? `a part has no "${name}"; it has` : "there is no such section; known are";
  problems.add(path, `${why} ${known.join(", ")}`, isMisplaced ? {} : { suggestion: closest(name, known) });
}

/** Other tenants' names are not told: a reader may not be one who sees them. */
export function tenantNotFound(tenant: string, { origin }: Pick<RawConfig, "origin">): CodedError {
  const where = origin === undefined ? "there is no configuration" : `"${origin}" has no such tenant`;
  return new CodedError("not_found", "tenant_not_found", `Cannot find tenant "${tenant}": ${where}`, {
    details: { tenant },
  });
}
