/**
 * Entries: rules for one logical name, or for all names under a prefix. They come before the template of the scheme, and of
 * those that fit the longest one counts.
 */

import { CodedError } from "../../base/errors.ts";
import { closest } from "../../base/suggestions.ts";
import { parseUri, type Uri } from "../../base/uri.ts";
import type { Config, EntryConfig } from "../config/config.ts";
import type { Problems } from "../config/problems.ts";
import { isNameOfTenant } from "../config/tenants.ts";
import { pathText } from "../config/tree.ts";
import { bind, checkParts, type LogicalPath, logicalPath, noted, type Scheme } from "./scheme.ts";
import { parseTemplate, type Template } from "./template.ts";

export interface Entry {
  readonly target: Template;
  readonly isPrefix: boolean;
}

const FIELDS = ["path", "ref"];

/** The entries of a configuration. */
export class Entries {
  readonly #exact = new Map<string, Entry>();
  readonly #prefixes = new Map<string, Entry>();

  /** Notes what is wrong with entries; those that are right can be found. */
  constructor(config: Config, schemes: ReadonlyMap<string, Scheme>, problems: Problems) {
    const places = new Map<string, EntryConfig>();
    for (const entry of config.entries) {
      const key = readKey(entry, schemes, problems);
      const target = key && readTarget(entry, { config, isPrefix: key.isPrefix, problems });
      if (!key || !target) continue;
      const name = keyOf(key.scheme, key.segments);
      const other = places.get(`${name}${key.isPrefix ? "/" : ""}`);
      if (other) problems.add(entry.path, `the same name stands in another place: ${pathText(other.path)}`);
      places.set(`${name}${key.isPrefix ? "/" : ""}`, entry);
      (key.isPrefix ? this.#prefixes : this.#exact).set(name, { target, isPrefix: key.isPrefix });
    }
  }

  /** Returns the entry of a name, and the segments under it where it is a prefix. */
  find(
    scheme: string,
    path: LogicalPath,
  ): { readonly entry: Entry; readonly under: readonly string[] } | undefined {
    const { segments, hasSlash } = path;
    const exact = this.#exact.get(keyOf(scheme, segments));
    const folder = this.#prefixes.get(keyOf(scheme, segments));
    // The folder that a prefix stands for is under it, too; written as a folder it is not the name beside it.
    const whole = hasSlash ? folder ?? exact : exact ?? folder;
    if (whole) return { entry: whole, under: [] };
    for (let length = segments.length - 1; length > 0; length--) {
      const entry = this.#prefixes.get(keyOf(scheme, segments.slice(0, length)));
      if (entry) return { entry, under: [...segments.slice(length), ...hasSlash ? [""] : []] };
    }
    return undefined;
  }
}

function keyOf(scheme: string, segments: readonly string[]): string {
  return `${scheme}://${segments.join("/")}`;
}

interface Key {
  readonly scheme: string;
  readonly segments: readonly string[];
  readonly isPrefix: boolean;
}

/** A key is checked against the parts and patterns of its scheme; a prefix may end before the last part. */
function readKey(
  { key, path, tenant }: EntryConfig,
  schemes: ReadonlyMap<string, Scheme>,
  problems: Problems,
): Key | undefined {
  const name = readName(key, schemes);
  if ("why" in name) {
    problems.add(path, name.why, name);
    return undefined;
  }
  const { scheme, segments, hasSlash: isPrefix } = name;
  const isWhole = segments.length >= scheme.parts.length;
  const problem = !isPrefix
    ? whyOf(bind(scheme, name))
    : isWhole && scheme.rest === undefined
    ? "no name can be under it; leave out the slash at its end"
    : checkParts(scheme, segments);
  const why = problem ?? whyNotTenants(name, tenant);
  if (why === undefined) return { scheme: scheme.name, segments, isPrefix };
  problems.add(path, why);
  return undefined;
}

function readTarget(
  { target: text, path, tenant }: EntryConfig,
  { config, isPrefix, problems }: { config: Config; isPrefix: boolean; problems: Problems },
): Template | undefined {
  const target = noted(problems, path, () => parseTemplate(text, { fields: FIELDS, rest: "path" }));
  if (!target) return undefined;
  const { scheme: store, place } = target.sample;
  const refuse = (why: string, suggestion?: string) => problems.add(path, why, { suggestion });
  if (target.storeFields.length > 0) refuse("the name of its store may hold no field");
  else if (!config.stores.has(store)) {
    refuse(
      `its target names the store "${store}", which does not exist`,
      closest(store, [...config.stores.keys()]),
    );
  } else if (isPrefix !== target.pathFields.has("path")) {
    refuse(
      isPrefix
        ? "the target of a prefix must have {path}"
        : "only a prefix, which ends in a slash, has {path}",
    );
  } else if (tenant !== undefined && !isNameOfTenant(store, tenant)) {
    refuse(`the store of an entry in the part of "${tenant}" must be named …-${tenant}`);
  } else if (tenant !== undefined && (target.placeFields.size > 0 || !isPlaceOf(place, tenant))) {
    refuse(
      `the bucket or repository of an entry in the part of "${tenant}" must be named ${tenant} or ${tenant}-…`,
    );
  } else return target;
  return undefined;
}

/** An access list that grants a tenant what begins with its name and "-" must still hold. */
function isPlaceOf(place: string, tenant: string): boolean {
  return place === tenant || place.startsWith(`${tenant}-`);
}

export interface LogicalName extends LogicalPath {
  readonly scheme: Scheme;
}

/** Reads a logical URI of a configuration, which has no selector. */
export function readName(
  text: string,
  schemes: ReadonlyMap<string, Scheme>,
): LogicalName | { readonly why: string; readonly suggestion?: string } {
  let uri: Uri;
  try {
    uri = parseUri(text);
  } catch (error) {
    if (error instanceof CodedError) return { why: error.message };
    throw error;
  }
  const scheme = schemes.get(uri.scheme);
  if (!scheme) {
    const suggestion = closest(uri.scheme, [...schemes.keys()]);
    return { why: `there is no scheme "${uri.scheme}"`, ...(suggestion === undefined ? {} : { suggestion }) };
  }
  if (uri.at) return { why: "it may have no ?at=" };
  const path = logicalPath(uri.place, uri.segments);
  return "why" in path ? path : { ...path, scheme };
}

/** Returns why a name in a tenant's part may not stand there: it must be one of the tenant's. */
export function whyNotTenants(
  { scheme, segments }: LogicalName,
  tenant: string | undefined,
): string | undefined {
  if (tenant === undefined) return undefined;
  const part = scheme.tenant;
  if (part === undefined) {
    return `the URIs of "${scheme.name}" are nobody's, and this is in the part of "${tenant}"`;
  }
  if (segments[scheme.parts.indexOf(part)] === tenant) return undefined;
  return `its ${part} must be "${tenant}", in whose part it stands`;
}

export function whyOf(result: object): string | undefined {
  return "why" in result ? String(result.why) : undefined;
}
