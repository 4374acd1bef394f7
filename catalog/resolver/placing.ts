/**
 * Where a version goes in a physical URI: into `{ref}` or `{version}` of the target, or behind it as `?at=`.
 *
 * A selector that has no place is refused: read without it, the URI would give another version than was asked for.
 */

import { CATALOG_DRIVERS, type CatalogDriverName } from "../../drivers/catalog_store.ts";
import { type Selector, selectorText } from "../../base/uri.ts";
import type { Template } from "./template.ts";

/**
 * How a store's URIs name versions. `path`: as a segment, whatever kind it is (lakeFS). `bucket`: branches as the first folder,
 * and what is fixed as `?at=`. `selector`: all as `?at=` (GitHub, Hugging Face). `none`: it has no versions.
 */
export type VersionsIn = "path" | "bucket" | "selector" | "none";

/** Returns how a driver's URIs name versions. */
export function versionsIn(driver: CatalogDriverName): VersionsIn {
  const { refsInPath, capabilities } = CATALOG_DRIVERS[driver];
  if (refsInPath) return "path";
  if (capabilities.includes("commit")) return "bucket";
  return capabilities.includes("time") ? "selector" : "none";
}

/** What goes where. */
export interface Placement {
  readonly ref?: string;
  readonly version?: string;
  /** What stands in `?at={at}`, or behind a target that has no `?at=`. */
  readonly at?: Selector;
}

export interface PlacingOptions {
  readonly target: Template;
  readonly defaultRef: string | undefined;
  readonly passSelector: boolean;
  readonly versions: VersionsIn;
}

/** Why a selector cannot be used. */
export class PlacingError extends Error {
  override readonly name = "PlacingError";
}

/** Places the selector of a URI, if there is one; a stage was replaced before. Throws {@link PlacingError}. */
export function placeSelector(selector: Selector | undefined, options: PlacingOptions): Placement {
  const placement = placed(selector, options);
  const { target } = options;
  const used = new Set([...target.pathFields, ...target.at?.form === "one" ? target.at.fields : []]);
  if (used.has("ref") && placement.ref === undefined) {
    fail("it names no branch, and its scheme has no default; add ?at=branch:NAME");
  }
  if (used.has("version") && placement.version === undefined) {
    fail("its target needs a version; add ?at=version:VERSION");
  }
  for (const [field, value] of [["ref", placement.ref], ["version", placement.version]] as const) {
    if (target.pathFields.has(field) && value?.includes("/")) {
      fail(`"${value}" holds a "/", and must fit into one segment of ${target.text}`);
    }
  }
  return placement;
}

function placed(selector: Selector | undefined, options: PlacingOptions): Placement {
  switch (selector?.kind) {
    case undefined:
      return placeNothing(options);
    case "branch":
    case "tag":
    case "commit":
      return placeRef(selector, options);
    case "version":
      return placeVersion(selector, options);
    case "ts":
      return placeTime(selector, options);
    case "stage":
      return fail("a stage must point at a version");
  }
}

/** Without a selector the default ref counts; `?at=` says it where the path does not. */
function placeNothing(options: PlacingOptions): Placement {
  const { target, defaultRef: ref } = options;
  const at = defaultAt(options);
  if (target.at?.form === "any" && ref === undefined && !target.pathFields.has("ref")) {
    fail("it names no version, and its scheme has no default; add ?at=branch:NAME");
  }
  return { ref, at };
}

/** A bucket's branch is a folder, and never stands in `?at=`. */
function defaultAt(options: PlacingOptions): Selector | undefined {
  const { target, defaultRef, versions } = options;
  if (!isPassed(options) || versions === "bucket") return undefined;
  if (target.pathFields.has("ref") || defaultRef === undefined) return undefined;
  return { kind: "branch", value: defaultRef };
}

function placeRef(selector: Selector, options: PlacingOptions): Placement {
  const { target, defaultRef, versions } = options;
  if (versions === "bucket" && selector.kind === "tag") fail("a bucket has no tags");
  const isInAt = (versions === "bucket" || versions === "none") && selector.kind !== "branch";
  if (isInAt) return { ref: defaultRef, at: freeAt(selector, target) };
  if (target.pathFields.has("ref")) return { ref: selector.value };
  if (target.at?.form === "one") {
    const { kind, fields } = target.at;
    return kind === selector.kind && fields.has("ref")
      ? { ref: selector.value }
      : refuseTwo(selector, target);
  }
  const isTaken = versions === "selector" || (isPassed(options) && versions !== "bucket");
  return isTaken ? { ref: defaultRef, at: selector } : refuse(selector, target);
}

/** A version keeps the default ref. */
function placeVersion(selector: Selector, options: PlacingOptions): Placement {
  const { target, defaultRef: ref, versions } = options;
  const version = selector.value;
  if (target.pathFields.has("version")) return { ref, version, at: defaultAt(options) };
  if (target.at?.form === "one") {
    const { kind, fields } = target.at;
    return kind === "version" && fields.has("version") ? { ref, version } : refuseTwo(selector, target);
  }
  if (versions === "bucket" || isPassed(options)) return { ref, version, at: selector };
  return refuse(selector, target);
}

/**
 * A time is always passed on. Where no segment says the branch, the time does, if the store reads it there: otherwise the
 * branch that a logical URI names would be lost.
 */
function placeTime(selector: Selector, options: PlacingOptions): Placement {
  const { target, defaultRef: ref, versions } = options;
  if (selector.value.includes("@")) {
    fail('its time holds an "@"; the branch is named in the path, or by a scheme');
  }
  const namesBranch = versions === "selector" || (versions === "path" && isPassed(options));
  const isInTime = namesBranch && ref !== undefined && !target.pathFields.has("ref");
  const at = isInTime ? { kind: "ts" as const, value: `${ref}@${selector.value}` } : selector;
  return { ref, at: freeAt(at, target) };
}

function isPassed({ passSelector, target }: PlacingOptions): boolean {
  return passSelector || target.at?.form === "any";
}

/** Returns a selector that is to stand behind a target, unless that names its own version. */
function freeAt(selector: Selector, target: Template): Selector {
  return target.at?.form === "one" ? refuseTwo(selector, target) : selector;
}

function refuse(selector: Selector, { text }: Template): never {
  fail(
    `"${
      selectorText(selector)
    }" has no place in ${text}; leave it out, or give the scheme a {ref} or pass_selector`,
  );
}

function refuseTwo(selector: Selector, { text }: Template): never {
  fail(`"${selectorText(selector)}" has no place in ${text}, which names its own version`);
}

function fail(why: string): never {
  throw new PlacingError(why);
}
