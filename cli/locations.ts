/** What the URIs on a command line name: a repository, a ref in it, a key under that. */

import { CodedError, type ErrorDetails } from "../base/errors.ts";
import { formatUri, looksLikeUri, parseUri, type Selector } from "../base/uri.ts";
import type { Store } from "../drivers/store.ts";
import type { ParsedArguments } from "./arguments.ts";

export const SCHEME = "lakefs";

/** A parsed `lakefs://REPO/REF/KEY`; what is missing or empty is absent. */
export interface Location {
  /** As the user wrote it. */
  readonly text: string;
  readonly repository?: string;
  readonly ref?: string;
  readonly key?: string;
  readonly at?: Selector;
}

/** A location that names a version of a repository. */
export interface RefLocation extends Location {
  readonly repository: string;
}

/** A location that names an object. */
export interface ObjectLocation extends RefLocation {
  readonly key: string;
}

/** Parses any of our URIs; `form` is the one to show. Fails with `invalid_uri`, `unknown_scheme`. */
export function parseLocation(text: string, form = `${SCHEME}://REPO/REF/KEY`): Location {
  if (!looksLikeUri(text)) refuse(text, `it is no URI; write ${form}`);
  const uri = parseUri(text);
  if (uri.scheme !== SCHEME) {
    throw new CodedError(
      "invalid",
      "unknown_scheme",
      `Cannot use "${text}": there is no store "${uri.scheme}"`,
    );
  }
  const { place, segments, at } = uri;
  if (place === "") {
    if (segments.length > 0 || at) refuse(text, "it names no repository");
    return { text };
  }
  if (at && !keepsRef(at)) return { text, repository: place, at, ...keyOf(segments) };
  const [ref, ...rest] = segments;
  if (ref === "" && rest.length > 0) refuse(text, "its ref is empty");
  if (!ref) return { text, repository: place, ...(at ? { at } : {}) };
  return { text, repository: place, ref, ...(at ? { at } : {}), ...keyOf(rest) };
}

/** `?at=ts:TIME` reads the ref in the path as it was; every other selector stands in place of the ref. */
function keepsRef(at: Selector): boolean {
  return at.kind === "ts" && !at.value.includes("@");
}

function keyOf(segments: readonly string[]): { key?: string } {
  const key = segments.join("/");
  return key === "" ? {} : { key };
}

/** Parses a URI that names a repository and nothing in it. */
export function repositoryLocation(text: string): RefLocation {
  const form = `${SCHEME}://REPO`;
  const location = parseLocation(text, form);
  if (location.repository === undefined) refuse(text, `it names no repository; write ${form}`);
  if (location.ref !== undefined || location.at || location.key !== undefined) {
    refuse(text, `it names more than a repository; write ${form}`);
  }
  return { ...location, repository: location.repository };
}

/** Parses a URI that names a ref, or with `key` an object or folder under it. */
export function refLocation(text: string, options: { key?: "allowed" } = {}): RefLocation {
  const form = `${SCHEME}://REPO/REF${options.key ? "/KEY" : ""}`;
  const location = parseLocation(text, form);
  if (location.repository === undefined) refuse(text, `it names no repository; write ${form}`);
  if (!namesRef(location)) refuse(text, `it names no branch, tag or commit; write ${form}`);
  if (!options.key && location.key !== undefined) {
    refuse(text, `"${location.key}" is one part too many; write ${form}, with "%2F" for a slash in a name`);
  }
  return { ...location, repository: location.repository };
}

/** Parses the URI of an object; `key` is the undecoded key of `--key`. */
export function objectLocation(text: string, key: string | undefined): ObjectLocation {
  const location = keyLocation(text, key);
  if (location.key === undefined) {
    refuse(text, `it names no object; write ${SCHEME}://REPO/REF/KEY`, { is_version: true });
  }
  return { ...location, key: location.key };
}

/** Parses a URI that may name an object or folder; `key` is the undecoded key of `--key`. */
export function keyLocation(text: string, key: string | undefined): RefLocation {
  const location = refLocation(text, { key: "allowed" });
  if (key === undefined) return location;
  if (location.key !== undefined) refuse(text, `the key is given by --key; write ${SCHEME}://REPO/REF`);
  if (key === "") refuse(text, "--key is empty");
  return { ...location, key };
}

/** Parses the other side of a verb on two refs: a ref expression, or a URI of one in the same repository. */
export function otherRef(text: string, location: RefLocation): RefLocation {
  if (!looksLikeUri(text)) return { text, repository: location.repository, ref: text };
  const other = refLocation(text);
  if (other.repository !== location.repository) {
    throw new CodedError(
      "invalid",
      "different_repositories",
      `Cannot use "${text}": it is not in repository "${location.repository}"`,
    );
  }
  return other;
}

/** Returns where a new branch or tag starts: `--from`, `--source`, or the argument after its URI. */
export function sourceOf(given: ParsedArguments, location: RefLocation): RefLocation {
  const sources = [given.positionals[1], given.value("from"), given.value("source")];
  const [source, another] = sources.filter((text) => text !== undefined);
  if (source === undefined || another !== undefined) {
    const problem = source === undefined
      ? "it is not said where it starts"
      : "it is said twice where it starts";
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot create "${location.text}": ${problem}; add --from REF`,
    );
  }
  return otherRef(source, location);
}

/** Returns what a key may stand for: one without a slash at its end is an object or a folder. */
export function objectOrFolder(key: string): readonly string[] {
  return key === "" || key.endsWith("/") ? [key] : [key, `${key}/`];
}

function namesRef(location: Location): boolean {
  return location.ref !== undefined || (location.at !== undefined && !keepsRef(location.at));
}

/** Returns the ref expression of a location, its selector applied. */
export async function refOf(store: Store, location: RefLocation): Promise<string> {
  if (!location.at) return location.ref!;
  return await store.select(location.repository, location.at, location.ref);
}

/** Returns the branch of a location that is written to. Fails with `not_a_branch` when it names a fixed version. */
export async function branchOf(store: Store, location: RefLocation): Promise<string> {
  if (location.at && location.at.kind !== "branch") {
    const { kind, value } = location.at;
    throw new CodedError(
      "invalid",
      "not_a_branch",
      `Cannot change "${location.text}": "${kind}:${value}" names a fixed version, not a branch`,
    );
  }
  return await refOf(store, location);
}

/** Returns the name in a URI of a branch or tag that need not exist yet. */
export function nameOf(location: RefLocation, kind: "branch" | "tag"): string {
  if (!location.at) return location.ref!;
  if (location.at.kind === kind) return location.at.value;
  refuse(location.text, `"${location.at.kind}:" is no name of a ${kind}`);
}

/** Returns the URI of a ref, encoded. */
export function refUri(repository: string, ref: string): string {
  return formatUri({ scheme: SCHEME, place: repository, segments: [ref] });
}

/** Returns the URI of an object, encoded. */
export function objectUri(repository: string, ref: string, key: string): string {
  return formatUri({ scheme: SCHEME, place: repository, segments: [ref, ...key.split("/")] });
}

function refuse(text: string, why: string, details: ErrorDetails = {}): never {
  throw new CodedError("invalid", "invalid_uri", `Cannot use "${text}": ${why}`, {
    details: { uri: text, ...details },
  });
}
