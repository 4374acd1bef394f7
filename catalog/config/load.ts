/** Loading: from a view as it was written to a configuration whose every value is filled in, checked and of its type. */

import type { CacheConfig, Config, EntryConfig, SchemeConfig, StageConfig } from "./config.ts";
import { loadStores } from "./load_stores.ts";
import { readBoolean, readList, readPath, readSize, readText } from "./options.ts";
import { Problems } from "./problems.ts";
import { type Reader, Reading } from "./reading.ts";
import { checkTenantParts } from "./tenants.ts";
import type { Path, RawConfig } from "./tree.ts";
import { checkUntrusted } from "./untrusted.ts";
import { cutView, type Item, type Items } from "./view.ts";

export interface LoadOptions {
  readonly reader: Reader;
  /** Whose view is loaded; the admin's when absent. */
  readonly tenant?: string;
  readonly isTrusted: boolean;
  /** Takes what is wrong; when absent the first problem is thrown. */
  readonly problems?: Problems;
}

const SCHEME_KEYS = ["parts", "rest", "target", "ref", "pass_selector", "match", "tenant"];
const CACHE_KEYS = ["root", "max_size"];

/**
 * Loads a view. Nothing that is not in the view is read.
 *
 * Fails with `invalid_configuration`, `untrusted_configuration`, `tenant_not_found`.
 */
export function loadConfig(raw: RawConfig, { reader, tenant, isTrusted, ...options }: LoadOptions): Config {
  const problems = options.problems ?? new Problems(raw);
  const view = cutView(raw, tenant, problems);
  checkTenantParts(view, problems);
  if (!isTrusted) checkUntrusted(view);
  const reading = new Reading(problems, reader, raw.folder);
  const { sections, hooks } = view;
  const stores = loadStores(reading, sections.stores);
  const schemes = loaded(sections.schemes, (name, item) => loadScheme(reading, name, item));
  for (const { name, path } of schemes) {
    if (stores.has(name)) problems.add(path, `"${name}" is the name of a store; a scheme needs another one`);
  }
  const config: Config = {
    raw,
    ...given({ tenant }),
    isTrusted,
    stores,
    schemes: new Map(schemes.map((scheme) => [scheme.name, scheme])),
    stages: loaded(sections.stages, (uri, item) => loadStage(reading, uri, item)),
    entries: loaded(sections.entries, (key, item) => loadEntry(reading, key, item)),
    cache: loadCache(reading, sections.cache),
    hooks: hooks ? reading.take(hooks.path, readList(reading.filled(hooks))) ?? [] : [],
  };
  if (!options.problems) problems.throwIfAny();
  return config;
}

function loadScheme(reading: Reading, name: string, item: Item): SchemeConfig | undefined {
  const { path } = item;
  reading.checkSchemeName(name, path);
  const value = reading.map(item, `it must be names with values: ${SCHEME_KEYS.join(", ")}`);
  if (!value) return undefined;
  reading.refuseUnknown(value, path, SCHEME_KEYS);
  const parts = reading.needed(value, "parts", path, readList);
  const target = reading.needed(value, "target", path, readText);
  const passSelector = reading.optional(value, "pass_selector", path, readBoolean) ?? false;
  const match = reading.texts(value["match"] ?? {}, [...path, "match"]);
  const rest = reading.optional(value, "rest", path, readText);
  const ref = reading.optional(value, "ref", path, readText);
  const tenant = reading.optional(value, "tenant", path, readText);
  if (parts === undefined || target === undefined) return undefined;
  return { name, parts, target, passSelector, match, path, ...given({ rest, ref, tenant }) };
}

function loadStage(reading: Reading, uri: string, item: Item): StageConfig | undefined {
  const value = reading.map(item, "it must be names of stages, each with what it points at");
  if (!value) return undefined;
  return { uri, selectors: reading.texts(value, item.path), ...placeOf(item) };
}

function loadEntry(reading: Reading, key: string, item: Item): EntryConfig | undefined {
  const target = reading.take(item.path, readText(reading.filled(item)));
  return target === undefined ? undefined : { key, target, ...placeOf(item) };
}

function loadCache(reading: Reading, items: Items): CacheConfig {
  for (const [name, { path }] of items) {
    if (!CACHE_KEYS.includes(name)) reading.problems.addUnknown(path, CACHE_KEYS);
  }
  const value = (name: string) => {
    const item = items.get(name);
    const filled = item ? reading.filled(item) : null;
    return filled === null ? undefined : { path: item!.path, filled };
  };
  const root = value("root"), size = value("max_size");
  return given({
    root: root && reading.take(root.path, readPath(root.filled, reading.places)),
    maxBytes: size && reading.take(size.path, readSize(size.filled)),
  });
}

function loaded<T>(items: Items, load: (name: string, item: Item) => T | undefined): T[] {
  return [...items].flatMap(([name, item]) => load(name, item) ?? []);
}

function placeOf({ path, tenant }: Item): { path: Path; tenant?: string } {
  return { path, ...given({ tenant }) };
}

/** Returns an object without the values that are `undefined`. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
