/**
 * What the URIs of a versioned store name: `store://repository/ref/key`, with a selector in place of the ref or, for a time,
 * beside it.
 */

import { encodeSegment, type Selector, type Uri } from "../../base/uri.ts";
import { unsupportedSelector, unusableUri } from "../catalog_base.ts";

export interface Location {
  readonly repository: string;
  /** As it stands in the path; absent where a selector stands in its place. */
  readonly ref?: string;
  readonly at?: Selector;
  /** The parts of the key, the last one not empty. */
  readonly parts: readonly string[];
  /** Whether the URI ends in a slash. */
  readonly isFolder: boolean;
}

/** A location that names a version. */
export type RefLocation = Location & ({ readonly ref: string } | { readonly at: Selector });

/** Parses a URI; of one that names only a store or a repository, ref and repository are missing or empty. */
export function locationOf(uri: Uri): Location {
  const { place, segments, at } = uri;
  if (at?.kind === "version" || at?.kind === "stage") {
    throw unsupportedSelector(uri, "this store has branches, tags, commits and times");
  }
  const inPath = at === undefined || keepsRef(at);
  const [ref, ...rest] = inPath ? segments : ["", ...segments];
  if (place === "" && (segments.length > 0 || at)) throw unusableUri(uri, "it names no repository");
  if (inPath && !ref && (rest.length > 0 || at)) throw unusableUri(uri, "it names no branch, tag or commit");
  const isFolder = rest.at(-1) === "";
  return {
    repository: place,
    ...(inPath && ref ? { ref } : {}),
    ...(at ? { at } : {}),
    parts: isFolder ? rest.slice(0, -1) : rest,
    isFolder,
  };
}

/** Parses a URI that names a version of a repository. */
export function refLocationOf(uri: Uri): RefLocation {
  const location = locationOf(uri);
  if (!isRef(location)) throw unusableUri(uri, "it names no branch, tag or commit");
  return location;
}

/** Returns whether a location names a version. */
export function isRef(location: Location): location is RefLocation {
  return location.ref !== undefined || location.at !== undefined;
}

/** `ts:TIME` reads the ref in the path as it was; `ts:BRANCH@TIME` and every other selector stand in its place. */
function keepsRef({ kind, value }: Selector): boolean {
  return kind === "ts" && !value.includes("@");
}

export function keyOf({ parts }: Location): string {
  return parts.join("/");
}

/** Returns the URI of the same key at a commit. */
export function pinnedUri(uri: Uri, location: Location, commit: string): Uri {
  const { scheme, place } = uri;
  return { scheme, place, segments: [commit, ...location.parts, ...(location.isFolder ? [""] : [])] };
}

/** Which of the parts in the cache is the ref. */
export const VERSION_PART = 1;

/** Returns the parts that name a location at a ref in the cache; a ref is one part, whatever is in it. */
export function cacheParts({ repository, parts }: Location, ref: string): readonly string[] {
  return [repository, encodeSegment(ref), ...parts];
}
